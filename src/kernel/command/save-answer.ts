import { statSync } from "node:fs";
import { Readable } from "node:stream";
import { writeWhole } from "../base/whole-file.ts";
import { type Address, RefusedCall } from "./ask-sim.ts";
import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";
import { reasonOf } from "./system-reason.ts";

/** For a large answer, ms. */
const transferMs = 600_000;

/**
 * Writes the answer of GET `path` below /__sim unchanged to a file, which appears whole or not at all.
 * @returns its size in bytes
 * @throws Failure
 */
export async function saveAnswer({ url, token }: Address, path: string, file: string): Promise<number> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/__sim/${path}`, { headers, signal: AbortSignal.timeout(transferMs) });
  if (!response.ok || !response.body) throw new RefusedCall(response.status, await response.json());
  try {
    await writeWhole(file, Readable.from(response.body));
    return statSync(file).size;
  } catch (error) {
    throw new Failure("failed", `${clean(file)} cannot be written: ${reasonOf(error)}`, error);
  }
}
