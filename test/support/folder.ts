import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeAtEnd } from "./opened.ts";

/** A new empty folder, by the name that a process in it sees; removed after the tests of the file. */
export function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "phx-test-")));
  closeAtEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
