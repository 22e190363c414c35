import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FileBytes } from "../../../src/kernel/store/bytes.ts";
import { FolderGuard } from "../../../src/kernel/store/folder-guard.ts";
import { newFolder } from "../../support/folder.ts";

const folder = newFolder();

test("a file that is replaced again while it is repaired is watched as before", () => {
  const path = join(folder, "log.ndjson");
  const replace = () => {
    rmSync(path);
    mkdirSync(path);
  };
  let isFast = true;
  class Replaced extends FileBytes {
    override restore(withContent: boolean) {
      const aside = super.restore(withContent);
      if (isFast) replace();
      isFast = false;
      return aside;
    }
  }
  const bytes = new Replaced(path);
  bytes.append(Buffer.from("a line\n"));
  const guard = new FolderGuard({ report: () => {}, mustHold: () => {} });
  guard.watch({ name: "log.ndjson", bytes: () => bytes, isHot: false, reread: () => {} });
  for (let change = 0; change < 2; change++) {
    replace();
    expect(guard.look(true)).toBe(true);
    expect(statSync(path).isFile()).toBe(true);
  }
  expect(existsSync(`${path}.replaced-3`)).toBe(true);
  guard.close();
  bytes.close();
});
