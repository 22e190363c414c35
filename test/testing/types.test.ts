import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
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

/** `moduleResolution: node` does not read `exports`. */
test("a compiler without exports finds the types of every subpath", () => {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports: Record<string, unknown>;
    typesVersions: { "*": Record<string, string[]> };
  };
  const subpaths = Object.keys(manifest.exports).filter((it) => it !== "." && it !== "./package.json");
  const found = manifest.typesVersions["*"];
  expect(Object.keys(found).map((it) => `./${it}`)).toEqual(subpaths);
  for (const [file] of Object.values(found)) expect(existsSync(join(root, file ?? ""))).toBe(true);
});
