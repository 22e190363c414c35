// Bundles src into dist. What a start loads is to lie in few files: each costs a quarter of a millisecond. But esbuild
// makes a file of every set of entries that share modules, and every import() is such an entry. So what is imported
// late also imports whatever is loaded by then in any case: it costs nothing, and keeps those modules together.
import { dirname, relative, resolve } from "node:path";
import { build } from "esbuild";
import { loadedWith } from "./loaded-with.mjs";
import { partOf } from "./parts.mjs";

const library = "src/index.ts";
const commandLine = "src/cli/main.ts";
const worker = "src/server/proxy/worker.ts";
const childWatch = "src/cli/exec/child-watch.ts";
const runners = [
  "jest",
  "jest-global",
  "jest-teardown",
  "playwright",
  "vitest",
  "vitest-global",
  "vitest-matchers",
];

const settings = {
  entryPoints: [
    library,
    commandLine,
    worker,
    childWatch,
    "src/plan.ts",
    ...runners.map((it) => `src/testing/${it}.ts`),
  ],
  outdir: "dist",
  outbase: "src",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  external: [
    ...[
      "ajv",
      "ajv-formats",
      "chokidar",
      "find-my-way",
      "hyparquet-writer",
      "jsonc-parser",
      "lz-string",
      "mmdb-lib",
    ],
    ...["mockttp", "rregex", "ws", "yaml", "yargs", "zod", "@jest/globals", "@playwright/test", "vitest"],
  ],
  metafile: true,
  logLevel: "warning",
  // modules that are imported for their company have no side effects, and need none
  logOverride: { "ignored-bare-import": "silent" },
};

/** What the commands that start no sim need of the library; they do not load all of it. */
function sharedByCommands(inputs) {
  const lateOnes = Object.keys(inputs)
    .filter((path) => partOf(path.replace(/^src\//, "")) === "cli")
    .flatMap((path) => inputs[path].imports.filter(({ kind }) => kind === "dynamic-import"))
    .map(({ path }) => loadedWith(inputs, path))
    .filter((modules) => !modules.has(library));
  return [...loadedWith(inputs, library)].filter((path) => lateOnes.some((modules) => modules.has(path)));
}

/** @param companyOf What is loaded already when a part of src imports late. */
const inCompany = (companyOf) => ({
  name: "in-company",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\./ }, ({ kind, path, importer, resolveDir }) => {
      const part = partOf(relative("src", importer).replaceAll("\\", "/"));
      const late = resolve(resolveDir, path);
      const company = companyOf(part);
      if (kind !== "dynamic-import" || late === resolve(library) || company.length === 0) return;
      return { path: late, suffix: `?after=${company[0]}`, namespace: "in-company", pluginData: company };
    });
    onLoad({ filter: /./, namespace: "in-company" }, ({ path, pluginData: company }) => ({
      contents: [
        ...company.map((it) => `import ${JSON.stringify(resolve(it))};`),
        `export * from ${JSON.stringify(path)};`,
      ].join("\n"),
      resolveDir: dirname(path),
    }));
  },
});

const { inputs } = (await build({ ...settings, write: false })).metafile;
const companies = {
  cli: [commandLine, ...sharedByCommands(inputs)],
  // they are to stay light: in the processes of a test runner there need be no sim
  client: [],
  testing: [],
};
await build({ ...settings, plugins: [inCompany((part) => companies[part] ?? [library])] });
