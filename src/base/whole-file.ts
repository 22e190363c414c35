import { existsSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";

/**
 * Writes a file so that it appears whole or not at all. `writeFile` has opened and closed the
 * draft when it rejects; a write stream may still create it after the error. A link stays a link; a device or a pipe
 * is written to.
 * @throws the system's error, or the one of `content`
 */
export async function writeWhole(
  given: string,
  content: Iterable<string> | AsyncIterable<string | Uint8Array>,
  mode = 0o600,
): Promise<void> {
  const file = existsSync(given) ? realpathSync(given) : given;
  const isOther = statSync(file, { throwIfNoEntry: false })?.isFile() === false;
  if (isOther) return writeFile(given, content);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    rmSync(draft, { force: true });
    // exclusive, as in openDraft
    await writeFile(draft, content, { mode, flush: true, flag: "wx" });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
