// Loaded into the process of a sim: reports the longest turn of its event loop since the last report, in ms of its own
// processor time, because other programs on the machine make turns longer.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";

const file = process.env.TURN_METER;
if (file) {
  // processes that the sim starts are not measured
  delete process.env.TURN_METER;
  let [longest, before] = [0, process.cpuUsage()];
  setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.cpuUsage();
  }, 1).unref();
  const server = createServer((_, response) => {
    response.end(String(longest));
    longest = 0;
  });
  server.listen(0, "127.0.0.1", () => writeFileSync(file, String(server.address().port)));
  server.unref();
}
