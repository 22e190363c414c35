// Writes the declarations of the public entries into dist, with the types of every package that they need.
import { execFileSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { peers, skins } from "./entries.mjs";

const declarations = "dist/declarations";
execFileSync(
  process.execPath,
  ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", declarations],
  { stdio: "inherit" },
);

const entries = ["index", "plan", ...skins.map((it) => `testing/${it.replace(/\.ts$/, "")}`)];
const bundle = await rollup({
  input: Object.fromEntries(entries.map((it) => [it, `${declarations}/${it}.d.ts`])),
  external: [/^node:/, ...peers],
  // Names that only other declarations need are no public exports.
  onLog(level, log, report) {
    if (!/no public re-export/.test(log.message)) report(level, log);
  },
  plugins: [dts({ includeExternal: ["zod", "ajv", "jsonc-parser"] })],
});
await bundle.write({ dir: "dist", chunkFileNames: "types/[name].ts" });
copyFileSync("src/testing/jest.d.cts", "dist/testing/jest.d.cts");
rmSync(declarations, { recursive: true });
