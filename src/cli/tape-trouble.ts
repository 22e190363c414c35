import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";
import { systemCode, systemReason } from "./system-reason.ts";

/** What the tape room throws for users: a message, mostly with a hint. */
const isTold = (error: unknown): error is Error & { hint?: unknown } =>
  error instanceof Error && (error.name === "TapeError" || error.name === "HarError");

/** Nobody has looked at a file that is not there: no verdict, but a mistake in what was asked. */
const isMissing = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes(systemCode(error)) ||
  (error instanceof Error && error.cause !== undefined && isMissing(error.cause));

/** Runs work on a file; what goes wrong with the file is a failure of one line that names it and says what to do. */
export async function onFile<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const kind = isMissing(error) ? "usage" : "failed";
    if (isTold(error)) throw new Failure(kind, sentence(file, error), error);
    const reason = systemReason(error);
    if (reason === undefined) throw error;
    throw new Failure(kind, `${clean(file)}: ${reason}`, error);
  }
}

function sentence(file: string, error: Error & { hint?: unknown }): string {
  const message = error.name === "HarError" ? `${file}: ${error.message}` : error.message;
  const hint = typeof error.hint === "string" ? `; ${error.hint}` : "";
  return clean(`${message}${hint}`, 1000);
}
