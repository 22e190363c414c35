import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";

/** A new folder with files in it, removed when the tests of the file are over. */
export function folderOf(files: Readonly<Record<string, string>> = {}): {
  readonly path: string;
  file(name: string): string;
  write(name: string, text: string): string;
} {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "phx-scenario-")));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  const file = (name: string) => join(path, name);
  const write = (name: string, text: string) => {
    mkdirSync(dirname(file(name)), { recursive: true });
    writeFileSync(file(name), text);
    return file(name);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { path, file, write };
}
