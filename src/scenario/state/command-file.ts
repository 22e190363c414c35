import { createWriteStream, readFileSync, renameSync, rmSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Address, callSim, RefusedCall } from "../../cli/ask-sim.ts";
import { clean } from "../../cli/clean-text.ts";
import { Failure } from "../../cli/failure.ts";
import { reasonOf } from "../../cli/system-reason.ts";
import type { ImportedState } from "../../index.ts";

/** For a large state, ms. */
const transferMs = 600_000;

/**
 * Writes the sim's state, or another answer of its control API, unchanged to a file, which appears whole or not at all.
 * @returns its size in bytes
 * @throws Failure
 */
export async function exportTo(file: string, { url, token }: Address, path = "state"): Promise<number> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/__sim/${path}`, { headers, signal: AbortSignal.timeout(transferMs) });
  if (!response.ok || !response.body) throw new RefusedCall(response.status, await response.json());
  const draft = `${file}.${process.pid}.tmp`;
  try {
    // it contains keys
    const written = createWriteStream(draft, { mode: 0o600, flush: true });
    await pipeline(Readable.fromWeb(response.body), written);
    renameSync(draft, file);
    return written.bytesWritten;
  } catch (error) {
    rmSync(draft, { force: true });
    throw new Failure("failed", `${clean(file)} cannot be written: ${reasonOf(error)}`, error);
  }
}

/** Imports the state of a file. @throws Failure */
export async function importFrom(file: string, sim: Address): Promise<ImportedState> {
  try {
    return await callSim<ImportedState>(sim, "PUT", "state", readWhole(file), transferMs);
  } catch (error) {
    // an error in the file has a pointer, and gets the option's name elsewhere
    if (!(error instanceof RefusedCall) || error.refusal.pointer) throw error;
    throw new Failure(error.kind, `${clean(file)}: ${error.message}`, error);
  }
}

function readWhole(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Failure("usage", `${clean(file)} cannot be read: ${reasonOf(error)}`, error);
  }
}
