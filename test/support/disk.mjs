// Loaded into a sim before it starts: a disk that fails on demand. DISK=kill:12 ends the process at its 12th change of a
// file, DISK=refuse:ENOSPC refuses each write. SIGUSR2 turns it on and off, and then reports the number of changes.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [fault, argument = ""] = (process.env.DISK ?? "").split(":");
const changing =
  "openSync writeSync writeFileSync renameSync rmSync mkdirSync unlinkSync linkSync ftruncateSync fsyncSync fdatasyncSync";
const growing = "writeSync writeFileSync mkdirSync";

let isOn = false;
let left = Number(argument);

let changes = 0;
const faults = {
  kill() {
    changes++;
    if (--left === 0) process.kill(process.pid, "SIGKILL");
  },
  refuse(name) {
    throw Object.assign(new Error(`${argument}: refused, ${name}`), { code: argument, syscall: name });
  },
};

const names = fault === "refuse" ? growing : changing;
for (const name of names.split(" ")) {
  const real = fs[name];
  fs[name] = (...given) => {
    // Numbers 0 to 2 are the streams of the process.
    if (isOn && !(given[0] >= 0 && given[0] <= 2)) faults[fault]?.(name);
    return real(...given);
  };
}
syncBuiltinESMExports();

process.on("SIGUSR2", () => {
  isOn = !isOn;
  process.stderr.write(isOn ? "disk: on\n" : `disk: off after ${changes} changes\n`);
});
