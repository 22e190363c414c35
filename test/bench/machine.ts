import { spawnSync } from "node:child_process";
import { availableParallelism, cpus, totalmem } from "node:os";

/** `taskset` is there and two cores are, so that server and load generator do not take turns on one. */
const canPin = availableParallelism() > 1 && spawnSync("taskset", ["-c", "0,1", "true"]).status === 0;

const cores = { server: ["-c", "0"], load: ["-c", "1"], anywhere: undefined } as const;

/** Program and arguments that run `args` on the core of that role, with this process's Node or another program. */
export function command(
  role: keyof typeof cores,
  args: readonly string[],
  program = process.execPath,
): [file: string, args: string[]] {
  const core = cores[role];
  return core && canPin ? ["taskset", [...core, program, ...args]] : [program, [...args]];
}

/** What the figures were measured on. */
export function machineFacts(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  const pinning = canPin
    ? "server on core 0, load on core 1"
    : "no taskset or one core: server and load are NOT pinned, expect noise";
  return `${cpus().length} cores, ${memory} GB, ${process.platform}-${process.arch}, node ${process.version}; ${pinning}`;
}
