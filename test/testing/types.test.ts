import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../support/folder.ts";

const root = join(import.meta.dirname, "../..");

/** What a compiler prints; "" if the program compiles. */
const compile = (compiler: string, project: string): Promise<string> =>
  new Promise((resolve) => {
    const tsc = join(root, "node_modules", compiler, "bin/tsc");
    execFile(process.execPath, [tsc, "-p", project], (error, out) => resolve(out || (error?.message ?? "")));
  });

/** As a user's compiler sees the package: its `exports`, its built declarations, by `import` and by `require`. */
test("the types of the runners hold, and refuse what is wrong", async () => {
  expect(await compile("typescript", join(import.meta.dirname, "types"))).toBe("");
});

const compilerOptions = {
  ...{ target: "es2022", lib: ["es2022", "esnext.disposable", "dom"], strict: true },
  ...{ module: "commonjs", moduleResolution: "node", esModuleInterop: true, types: ["node"] },
  ...{ skipLibCheck: true, noEmit: true, typeRoots: [join(root, "node_modules/@types")] },
};

const consumer = (subpaths: readonly string[]): string => `
import { startSim, type Project } from "phx-sim";
${subpaths.map((it, i) => `import * as part${i} from "phx-sim/${it}";\nexport const keys${i} = Object.keys(part${i});`).join("\n")}
import { project } from "phx-sim/jest";
export const url: Promise<string> = startSim().then((it) => it.url);
export const made: Promise<Project> = project({ flags: { beta: true } });
// @ts-expect-error the types are known
startSim(1);
// @ts-expect-error the types are known
project(1);
`;

/** A folder of a user with this package, others beside it, and these files. */
function userFolder(files: Readonly<Record<string, string>>, others = ["vitest", "@playwright", "@jest", "@types"]) {
  const folder = newFolder();
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  symlinkSync(root, join(modules, "phx-sim"), "junction");
  for (const name of others) symlinkSync(join(root, "node_modules", name), join(modules, name), "junction");
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const compilers = ["typescript", "typescript-5"];
const modules = ["node16", "nodenext"];

/** A file without `"type": "module"` is CommonJS. */
const commonFiles = {
  "own.cts": `import { startSim, StartError, type Sim } from "phx-sim";
import { definePlan } from "phx-sim/plan";
export const open = async (): Promise<Sim> => { const sim = await startSim(); sim.guard().close(); return sim; };
export const known = [StartError, definePlan];
// @ts-expect-error the types are known
startSim(1);
`,
  "own.mts": `import { startSim } from "phx-sim";
export const url = startSim().then((it) => it.url);
`,
  "runners.cts": `import { test as ofVitest } from "phx-sim/vitest";
import { test as ofPlaywright } from "phx-sim/playwright";
import { project } from "phx-sim/jest";
import "phx-sim/vitest/matchers";
ofVitest("a", async ({ ph }) => { ph.apiKey satisfies string; });
ofPlaywright("a", async ({ ph }) => { ph.apiKey satisfies string; });
export const made = project();
`,
};

test.each(compilers.flatMap((it) => modules.map((module) => [it, module])))(
  "%s, module %s: CommonJS files import every entry, without a library for Disposable",
  async (compiler, module) => {
    const common = { target: "es2022", module, strict: true, noEmit: true, types: ["node"] };
    const own = { ...common, lib: ["es2022", "dom"], types: [] };
    const runners = { ...common, lib: ["es2022", "dom"], skipLibCheck: true };
    const folder = userFolder({
      ...commonFiles,
      "own.json": JSON.stringify({ compilerOptions: own, files: ["own.cts", "own.mts"] }),
      "runners.json": JSON.stringify({ compilerOptions: runners, files: ["runners.cts"] }),
    });
    for (const project of ["own.json", "runners.json"]) expect(await compile(compiler, join(folder, project))).toBe("");
  },
);

test("CommonJS requires what ES modules import", async () => {
  const script = `
    const names = (it) => Object.keys(it).filter((name) => name !== "__esModule" && name !== "module.exports").sort().join();
    const pairs = ["phx-sim", "phx-sim/plan", "phx-sim/playwright"];
    Promise.all(pairs.map(async (it) => names(require(it)) === names(await import(it)) && names(require(it)).length > 3))
      .then((same) => console.log(same.join()));`;
  const folder = userFolder({ "required.cjs": script });
  const out = await new Promise((resolve) =>
    execFile(process.execPath, [join(folder, "required.cjs")], (_, text, error) => resolve(text + error)),
  );
  expect(out).toBe("true,true,true\n");
});

/** TypeScript 7 has no `moduleResolution: node`, which does not read `exports`. */
test("a compiler without exports finds the types of every subpath", async () => {
  const manifest: { exports: object } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const subpaths = Object.keys(manifest.exports)
    .filter((it) => it !== "." && !it.endsWith(".json"))
    .map((it) => it.slice(2));
  const tsconfig = JSON.stringify({ compilerOptions, files: ["consumer.ts"] });
  const folder = userFolder({ "consumer.ts": consumer(subpaths), "tsconfig.json": tsconfig }, []);
  expect(subpaths).toContain("vitest/matchers");
  expect(await compile("typescript-5", folder)).toBe("");
});
