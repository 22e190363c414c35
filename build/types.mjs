// Writes the declarations of the public entries into dist, with the types of every package that they need.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

/** What a module adds to the record of a call is the sim's own; a bundle cannot name the module it is added to. */
const withoutAdditions = {
  name: "without-additions",
  transform: (text) => text.replace(/^declare module "\.[\s\S]*?^}$/gm, ""),
};
const bundle = await rollup({
  input: Object.fromEntries(entries.map((it) => [it, `${declarations}/${it}.d.ts`])),
  external: [/^node:/, ...peers],
  // Names that only other declarations need are no public exports.
  onLog(level, log, report) {
    if (!/no public re-export/.test(log.message)) report(level, log);
  },
  plugins: [withoutAdditions, dts({ includeExternal: ["zod", "ajv", "jsonc-parser"] })],
});
await bundle.write({ dir: "dist", chunkFileNames: "types/[name].ts" });

/** Declarations that name `Disposable` bring its library: a program may be compiled without it. */
const withLibrary = (text) =>
  /\b(?:Async)?Disposable\b/.test(text) ? `/// <reference lib="esnext.disposable" />\n${text}` : text;

// CommonJS programs get declarations of their own: with `module: node16` they must not import those of ES modules.
for (const file of readdirSync("dist", { recursive: true }).filter((it) => it.endsWith(".d.ts"))) {
  const text = withLibrary(readFileSync(`dist/${file}`, "utf8"));
  writeFileSync(`dist/${file}`, text);
  const required = text.replace(/(['"])(\.\.?\/[^'"]+)\.js\1/g, "$1$2.cjs$1");
  writeFileSync(`dist/${file.replace(/ts$/, "cts")}`, required);
}
rmSync(declarations, { recursive: true });
