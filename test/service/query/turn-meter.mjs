// Loaded into the process of a sim: reports the longest turn of its event loop since the last report, in ms of the main
// thread's processor time (of the process where the system does not report it), because other programs on the machine
// make turns longer.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

const file = process.env.TURN_METER;
if (file) {
  // processes that the sim starts are not measured
  delete process.env.TURN_METER;
  const ofThread = "/proc/self/schedstat";
  const used = existsSync(ofThread)
    ? () => Number(readFileSync(ofThread, "utf8").split(" ")[0]) / 1e6
    : () => (process.cpuUsage().user + process.cpuUsage().system) / 1000;
  let [longest, before] = [0, used()];
  setInterval(() => {
    const now = used();
    longest = Math.max(longest, now - before);
    before = now;
  }, 1).unref();
  const server = createServer((_, response) => {
    response.end(String(longest));
    longest = 0;
  });
  server.listen(0, "127.0.0.1", () => writeFileSync(file, String(server.address().port)));
  server.unref();
}
