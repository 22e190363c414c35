// Bundles src, with every package that it uses, into the files of dist. A start loads few of them, and each imports only
// those that stand before it in the list of chunks.
import { copyFileSync, readdirSync } from "node:fs";
import { build } from "rolldown";
import { minify } from "rolldown/utils";
import { inChunks } from "./graph.mjs";
import { writeLicences } from "./licences.mjs";

const skins = readdirSync("src/testing").filter((it) => /^(jest|playwright|vitest)[\w-]*\.ts$/.test(it));

/** Files of dist that users import, or that run as processes and workers. */
const entries = [
  ...["index.ts", "plan.ts", "cli/main.ts", "cli/exec/child-watch.ts", "server/proxy/worker.ts"],
  ...skins.map((it) => `testing/${it}`),
];

/** What every start loads: some of it late, so that the port is open before. */
const start = ["index.ts", "ingest/endpoint/public-rows.ts", "flags/flag-book.ts", "exports/open-exports.ts"];

/** [name, its modules]: a module goes to the first chunk that has it; those of `null` stay with their entry. */
function chunksOf(graph) {
  const loaded = (paths) => graph.loadedWith(paths.map((it) => `src/${it}`));
  const late = (folder) => graph.late.filter((it) => it.startsWith(`src/${folder}/`));
  const perSkin = skins.map((it) => loaded([`testing/${it}`]));
  const inSkins = (it) => perSkin.filter((set) => set.has(it)).length;
  const atStart = loaded(start);
  const atCommand = loaded(["cli/main.ts", "cli/commands.ts"]);
  const packages = graph.packages().map(([name, roots]) => [name, graph.loadedWith(roots)]);
  const withoutSim = (it) => !graph.loadedWith([it]).has("src/sim.ts");
  return [
    [null, new Set(entries.map((it) => `src/${it}`))],
    ["client", new Set(graph.all.filter((it) => inSkins(it) > 1 || (inSkins(it) > 0 && atStart.has(it))))],
    [null, new Set(graph.all.filter(inSkins))],
    ["shared", new Set([...atStart].filter((it) => atCommand.has(it)))],
    ["start", atStart],
    ["command-line", loaded(["cli/main.ts"])],
    ["commands", atCommand],
    ...packages.map(([name, set]) => [name === "find-my-way" ? "start" : `packages/${name}`, set]),
    ["help", loaded(["cli/help.ts"])],
    ["tape-commands", graph.loadedWith(late("tapes/commands").filter(withoutSim))],
    ["scenario", graph.loadedWith(late("scenario"))],
    ["control", loaded(["sim/control-rows.ts"])],
    ["management", loaded(["management/rows.ts"])],
    ["tapes", graph.loadedWith(late("tapes").filter(withoutSim))],
    ["proxy", graph.loadedWith([...late("server/proxy"), "src/server/proxy/worker.ts"])],
    ["late", new Set(graph.all)],
  ];
}
const { plugin, codeSplitting } = inChunks(chunksOf);

/** Shorter names make packages a third smaller. Our own code stays readable in stack traces. */
const smallPackages = {
  name: "small-packages",
  async renderChunk(code, { fileName }) {
    return fileName.startsWith("packages/") ? (await minify(fileName, code, { module: true })).code : null;
  },
};

/** For machines without WebAssembly, 1.3 MB. */
const withoutAsm = {
  name: "without-asm",
  load: (id) => (id.endsWith("/zstd-codec-binding.js") ? "module.exports = undefined;" : null),
};

/** Bundles src/FILE into dist/FILE for each of these files; returns the modules that went in. */
async function bundle(files, output, plugins = []) {
  const chunks = await build({
    input: Object.fromEntries(files.map((it) => [it.replace(/\.ts$/, ""), `src/${it}`])),
    platform: "node",
    // jsonc-parser's main file requires by computed names
    resolve: { mainFields: ["module", "main"] },
    external: ["vitest", "@playwright/test", "@jest/globals"],
    preserveEntrySignatures: "allow-extension",
    checks: { ineffectiveDynamicImport: false },
    plugins,
    output: { dir: "dist", comments: false, ...output },
  });
  return chunks.output.flatMap((it) => it.moduleIds);
}

const cjs = { format: "cjs", entryFileNames: "[name].cjs", codeSplitting: false, dynamicImportInCjs: false };
const modules = [
  ...(await bundle(entries, { chunkFileNames: "[name].js", codeSplitting }, [
    plugin,
    withoutAsm,
    smallPackages,
  ])),
  ...(await bundle(["testing/jest.ts"], cjs)),
  ...(await bundle(["egress/preload.ts"], cjs)),
];

// Patterns are compiled synchronously, which import() cannot do; its WebAssembly lies beside it.
copyFileSync("node_modules/rregex/lib/commonjs.cjs", "dist/packages/rregex.cjs");
copyFileSync("node_modules/rregex/lib/rregex.wasm", "dist/packages/rregex.wasm");

writeLicences([...modules, "node_modules/rregex/lib/commonjs.cjs"], "THIRD_PARTY_LICENSES");
