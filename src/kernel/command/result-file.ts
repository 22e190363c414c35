import { statSync } from "node:fs";
import { Readable } from "node:stream";
import { writeWhole } from "../base/whole-file.ts";
import { type Address, headersOf, RefusedCall } from "./ask-sim.ts";
import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";
import { reasonOf } from "./system-reason.ts";

/** Writes a file whole, or not at all. @param name Of the file in the message. @throws Failure failed */
export async function written<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Failure("failed", `${name} cannot be written: ${reasonOf(error)}`, error);
  }
}

/** @param what Names it in the message. @throws Failure failed */
export const writeResult = (file: string, text: string, what: string): Promise<void> =>
  written(`${what} ${clean(file)}`, () => writeWhole(file, [text], 0o666));

/** For a large answer, ms. */
const transferMs = 600_000;

/** Writes the answer of GET `path` below /__sim to a file, whole or not at all. @returns its size @throws Failure */
export async function saveAnswer({ url, token }: Address, path: string, file: string): Promise<number> {
  const init = { headers: headersOf(token), signal: AbortSignal.timeout(transferMs) };
  const response = await fetch(`${url}/__sim/${path}`, init);
  const { body } = response;
  if (!response.ok || !body) throw new RefusedCall(response.status, await response.json());
  await written(clean(file), () => writeWhole(file, Readable.from(body)));
  return statSync(file).size;
}
