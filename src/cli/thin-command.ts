import { callSim } from "./ask-sim.ts";
import type { Shell } from "./command.ts";
import { findRunning, type whereOptions } from "./running-sim.ts";
import type { Settings } from "./settings.ts";

/** Makes one control call to the running sim. @throws Failure */
export async function ask<T>(
  settings: Settings<typeof whereOptions>,
  shell: Pick<Shell, "cwd">,
  method: string,
  path: string,
  body?: unknown,
  timeoutMs?: number,
): Promise<T> {
  return callSim<T>(await findRunning(settings, shell.cwd), method, path, body, timeoutMs);
}

/** Prints a result as JSON (`--json`) or in lines. */
export function print(
  shell: Pick<Shell, "out">,
  asJson: boolean,
  result: unknown,
  lines: readonly string[],
): "ok" {
  shell.out.say(...(asJson ? [JSON.stringify(result, null, 2)] : lines));
  return "ok";
}
