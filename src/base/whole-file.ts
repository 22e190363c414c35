import { renameSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";

/**
 * Writes a file so that it appears whole or not at all. `writeFile` has opened and closed the
 * draft when it rejects; a write stream may still create it after the error.
 * @throws the system's error, or the one of `content`
 */
export async function writeWhole(
  file: string,
  content: Iterable<string> | AsyncIterable<string | Uint8Array>,
  mode = 0o600,
): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(draft, content, { mode, flush: true });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
