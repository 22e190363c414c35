import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

/** As a user's compiler sees the package: its `exports`, its built declarations, by `import` and by `require`. */
test("the types of the runners hold, and refuse what is wrong", async () => {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const project = join(import.meta.dirname, "types");
  const { code, out } = await new Promise<{ code: number; out: string }>((resolve) => {
    execFile(process.execPath, [tsc, "-p", project], (error, out) =>
      resolve({ code: error === null ? 0 : 1, out }),
    );
  });
  expect(out).toBe("");
  expect(code).toBe(0);
});
