import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";

/** What the tape room throws for users: a message, mostly with a hint. */
const isTold = (error: unknown): error is Error & { hint?: unknown } =>
  error instanceof Error && (error.name === "TapeError" || error.name === "HarError");

const systemReasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is not a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
};

const systemReason = (error: unknown): string | undefined => {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return Object.hasOwn(systemReasons, code) ? systemReasons[code] : undefined;
};

/** Runs work on a file; what goes wrong with the file is a failure of one line that names it and says what to do. */
export async function onFile<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isTold(error)) throw new Failure("failed", sentence(file, error), error);
    const reason = systemReason(error);
    if (reason === undefined) throw error;
    throw new Failure("failed", `${clean(file)}: ${reason}`, error);
  }
}

function sentence(file: string, error: Error & { hint?: unknown }): string {
  const message = error.name === "HarError" ? `${file}: ${error.message}` : error.message;
  const hint = typeof error.hint === "string" ? `; ${error.hint}` : "";
  return clean(`${message}${hint}`, 1000);
}
