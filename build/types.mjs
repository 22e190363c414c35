// Writes the declarations of the public entries into dist, with the types of every package that they need.
import { execFileSync } from "node:child_process";
import { copyFileSync, readdirSync, rmSync } from "node:fs";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";

const declarations = "dist/declarations";
execFileSync(
  process.execPath,
  ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", declarations],
  { stdio: "inherit" },
);

const skins = readdirSync("src/testing").filter((it) => /^(jest|playwright|vitest)[\w-]*\.ts$/.test(it));
const entries = ["index", "plan", ...skins.map((it) => `testing/${it.replace(/\.ts$/, "")}`)];
const bundle = await rollup({
  input: Object.fromEntries(entries.map((it) => [it, `${declarations}/${it}.d.ts`])),
  external: [/^node:/, "vitest", "@playwright/test", "@jest/globals"],
  // Names that only other declarations need are no public exports.
  onLog(level, log, report) {
    if (!/no public re-export/.test(log.message)) report(level, log);
  },
  plugins: [dts({ includeExternal: ["zod", "ajv", "jsonc-parser"] })],
});
await bundle.write({ dir: "dist", chunkFileNames: "types/[name].ts" });
copyFileSync("src/testing/jest.d.cts", "dist/testing/jest.d.cts");
rmSync(declarations, { recursive: true });
