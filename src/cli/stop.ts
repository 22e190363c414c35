import { setTimeout as pause } from "node:timers/promises";
import type { JsonObject } from "../kernel/base/json.ts";
import { askReady, callSim } from "../kernel/command/ask-sim.ts";
import { clean } from "../kernel/command/clean-text.ts";
import { command, type Shell } from "../kernel/command/command.ts";
import { Failure } from "../kernel/command/failure.ts";
import { findRunning, locate, type Running, whereOptions } from "../kernel/command/running-sim.ts";
import type { Settings } from "../kernel/command/settings.ts";
import { print } from "../kernel/command/thin-command.ts";

const options = {
  ...whereOptions,
  timeout: { kind: "duration", describe: "Fail if it still runs after this time", default: "10s" },
  json: { kind: "switch", describe: "Print what was stopped as JSON" },
} as const;

export const stop = command({
  name: "stop",
  describe: "Stop the running sim, and wait until it has ended",
  options,
  examples: [
    ["phx-sim stop", "the sim of this folder; exit code 5 when none runs"],
    ["phx-sim stop --url http://127.0.0.1:7490", "the sim at an address"],
  ],
  confirms: true,
  run,
});

async function run(settings: Settings<typeof options>, shell: Shell) {
  const { json, timeout } = settings.values;
  const running = await findRunning(settings, shell);
  await callSim(running, "POST", "stop");
  await untilGone(running, timeout);
  const { version, pid, data } = running.info;
  const stopped = { url: running.url, version, pid, data };
  return print(shell, json, stopped, [stoppedLine(running)]);
}

const text = (value: JsonObject[string] | undefined): string => clean(String(value ?? ""));

const stoppedLine = ({ url, info: { version, pid, data } }: Running): string =>
  `stopped phx-sim ${text(version)} at ${clean(url)} (pid ${text(pid)}, ${typeof data === "string" ? `data in ${text(data)}` : "in memory"})`;

const pollMs = 25;
const askMs = 2000;

/** Waits until no sim answers there and the data folder is free. @throws Failure failed */
async function untilGone({ url, info }: Running, timeoutMs: number): Promise<void> {
  const end = performance.now() + timeoutMs;
  const isRunning = async () =>
    (typeof info.data === "string" && locate(info.data)?.pid === info.pid) || (await askReady(url, askMs));
  while (await isRunning()) {
    if (performance.now() >= end) {
      const after = `${timeoutMs / 1000} s`;
      throw new Failure("failed", `the sim at ${clean(url)} (pid ${text(info.pid)}) still runs after ${after}`);
    }
    await pause(pollMs);
  }
}
