import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "../kernel/json.ts";

/** What the locator file of a running sim tells. */
export interface Located {
  readonly file: string;
  readonly url: string;
  readonly pid: number;
  /** Set where the control API requires one. */
  readonly token: string | undefined;
}

const locatorName = "run.json";

/** The running sim that the folder's locator names; undefined when there is none or its process is gone. */
export function locate(folder: string): Located | undefined {
  const file = join(folder, locatorName);
  const found = readJson(file);
  if (!isObject(found) || typeof found.url !== "string" || typeof found.pid !== "number") return undefined;
  // The public address may lead nowhere on this machine.
  const url = typeof found.local_url === "string" ? found.local_url : found.url;
  const token = typeof found.control_token === "string" ? found.control_token : undefined;
  return isAlive(found.pid) ? { file, url, pid: found.pid, token } : undefined;
}

/** The same for the nearest data folder of this name at or above `folder`. */
export function locateAbove(folder: string, name: string): Located | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = locate(join(at, name));
    if (found || dirname(at) === at) return found;
  }
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // No locator, or one that is being written: nobody to be found.
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
