import { systemCode } from "../../../kernel/base/errors.ts";
import { clean } from "../../../kernel/command/clean-text.ts";
import { Failure } from "../../../kernel/command/failure.ts";
import { systemReason } from "../../../kernel/command/system-reason.ts";

const isForUsers = (error: unknown): error is Error & { hint?: unknown } =>
  error instanceof Error && (error.name === "TapeError" || error.name === "HarError");

/** A missing file is a usage error, not a failed check. */
const isMissing = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes(systemCode(error)) ||
  (error instanceof Error && error.cause !== undefined && isMissing(error.cause));

/** Runs work on a file; what goes wrong with the file becomes a failure of one line with a hint. */
export async function onFile<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const kind = isMissing(error) ? "usage" : "failed";
    if (isForUsers(error)) throw new Failure(kind, sentence(file, error), error);
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
