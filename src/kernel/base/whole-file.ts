import { accessSync, constants, readlinkSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { systemCode } from "./errors.ts";

const readOnly = (file: string): Error => Object.assign(new Error(`EACCES: ${file}`), { code: "EACCES", path: file });

/** Where the file is, or would be. @throws the system's error */
function behindLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    const target = linkIn(file);
    if (target === undefined) return file;
    if (systemCode(error) !== "ENOENT") throw error;
    return resolve(dirname(file), target);
  }
}

function linkIn(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
}

/**
 * Writes a file so that it appears whole or not at all. `writeFile` has opened and closed the
 * draft when it rejects; a write stream may still create it after the error. A link stays a link; a device or a pipe
 * is written to, and a read-only file is refused.
 * @throws the system's error, or the one of `content`
 */
export async function writeWhole(
  given: string,
  content: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
  mode = 0o600,
): Promise<void> {
  const file = behindLinks(given);
  const found = statSync(file, { throwIfNoEntry: false });
  // not only by the system, which lets root write
  if (found?.isFile() && (found.mode & 0o222) === 0) throw readOnly(file);
  if (found) accessSync(file, constants.W_OK);
  if (found?.isFile() === false) return writeFile(given, content);
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
