import { existsSync, readFileSync, realpathSync } from "node:fs";
import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { DataFolderError, lockPath, readLocator } from "../../kernel/store/data-folder.ts";

/** Limit of one question, ms. */
const askMs = 2000;
const mostPorts = 5;

/**
 * A lock that cannot be read may be one of a running sim, which another program damaged: the ports in its text and the usual ones are
 * asked.
 * @throws DataFolderError if a sim with this folder responds
 */
export async function mustBeFree(folder: string, usual: readonly number[]): Promise<void> {
  const file = lockPath(folder);
  if (!existsSync(file) || readLocator(folder)) return;
  const named = portsIn(file);
  const ports = new Set([...named, ...usual].filter((it) => it > 0 && it < 65_536));
  for (const port of [...ports].slice(0, mostPorts)) {
    const url = `http://127.0.0.1:${port}`;
    const info = await askInfo(url);
    // without its token a sim does not show its folder
    const isLocked = info?.code === "control_token_required" && named.includes(port);
    const isHolder = typeof info?.data === "string" && isSameFolder(info.data, folder);
    if (!isLocked && !isHolder) continue;
    const holder = isHolder ? `pid ${info.pid} at ${url}` : `the phx-sim at ${url}`;
    throw new DataFolderError(`data folder ${folder} is in use by ${holder}`, {
      file,
      hint: "stop it, or use --data or --memory",
    });
  }
}

function portsIn(file: string): number[] {
  try {
    return [...readFileSync(file, "latin1").matchAll(/:(\d{2,5})\b/g)].map(([, port]) => Number(port));
  } catch {
    // opening the folder reports it
    return [];
  }
}

async function askInfo(url: string): Promise<JsonObject | undefined> {
  try {
    const answer = await fetch(`${url}/__sim/info`, { signal: AbortSignal.timeout(askMs), redirect: "error" });
    const info = (await answer.json()) as Json;
    return isObject(info) ? info : undefined;
  } catch {
    return undefined;
  }
}

function isSameFolder(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}
