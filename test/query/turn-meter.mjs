// Loaded into the process of a sim: reports the longest turn of its event loop since the last report, in ms.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";

const file = process.env.TURN_METER;
if (file) {
  // processes that the sim starts are not measured
  delete process.env.TURN_METER;
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const server = createServer((_, response) => {
    const longest = delays.max / 1e6;
    delays.reset();
    response.end(String(longest));
  });
  server.listen(0, "127.0.0.1", () => writeFileSync(file, String(server.address().port)));
  server.unref();
}
