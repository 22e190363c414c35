// Bundles src, with every package that it uses, into the files of dist. A start loads few of them, and each imports only
// those that stand before it in the list of chunks.
import { copyFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { build } from "rolldown";
import { peers, skins } from "./entries.mjs";
import { inChunks, packageOf } from "./graph.mjs";
import { writeLicences } from "./licences.mjs";
import { loadedInParts, partsSource, sourceOf } from "./parts.mjs";

/** Files of dist that users import, or that run as processes and workers. */
const entries = [
  ...["index.ts", "plan.ts", "cli/main.ts", "tools/exec/child-watch.ts", "sim/server/proxy/worker.ts"],
  ...skins.map((it) => `testing/${it}`),
];

/** What a start loads a moment after the port is open. */
const afterStart = ["sim/public-slices.ts", "service/flags/rulesets.ts", "service/batch-exports/open-exports.ts"];

/** [name, its modules]: a module goes to the first chunk that has it; those of `null` stay with their entry. */
function chunksOf(graph) {
  const loaded = (paths) => graph.loadedWith(paths.map((it) => `src/${it}`));
  const late = (folder) => graph.late.filter((it) => it.startsWith(`src/${folder}/`));
  const perSkin = skins.map((it) => loaded([`testing/${it}`]));
  const inSkins = (it) => perSkin.filter((set) => set.has(it)).length;
  const atStart = loaded(["sim/sim.ts"]);
  const atCommand = loaded(["cli/main.ts"]);
  const inSeveral = (it) => inSkins(it) + atStart.has(it) + atCommand.has(it) > 1;
  const packages = graph.packages().map(([name, roots]) => [name, graph.loadedWith(roots)]);
  const [scenario, management] = [graph.loadedWith(late("lab/scenario")), loaded(["service/management/rows.ts"])];
  const withoutSim = (it) => !graph.loadedWith([it]).has("src/sim/sim.ts");
  return [
    [null, new Set(entries.map((it) => `src/${it}`))],
    ["shared", new Set(graph.all.filter((it) => inSeveral(it) && (atStart.has(it) || atCommand.has(it))))],
    ["start", atStart],
    ["command-line", atCommand],
    ["client", new Set([...loaded(["sim/client/client.ts"]), ...graph.all.filter((it) => inSkins(it) > 1)])],
    ["client-builtins", new Set(graph.all.filter((it) => inSkins(it) && it.startsWith("\0")))],
    [null, new Set(graph.all.filter(inSkins))],
    ["tracking-plan", loaded(["plan.ts"])],
    ["library", loaded(["index.ts"])],
    ["after-start", loaded(afterStart)],
    ...packages.map(([name, set]) => [name === "find-my-way" ? "after-start" : `packages/${name}`, set]),
    ["assertions", loaded(["sim/assertion-slices.ts", "lab/assert/open-assertions.ts"])],
    ["request-log", graph.loadedWith([...late("state/journal/commands"), ...late("lab/tapes/redact")])],
    ["commands", loaded(["cli/commands.ts"])],
    ["help", loaded(["kernel/command/help.ts"])],
    ["tape-commands", graph.loadedWith(late("lab/tapes/commands").filter(withoutSim))],
    ["otel", graph.loadedWith(late("service/capture/otel"))],
    ["documents", new Set([...scenario].filter((it) => management.has(it)))],
    ["scenario", scenario],
    ["control", loaded(["sim/control-slices.ts"])],
    ["management", management],
    ["tapes", graph.loadedWith(late("lab/tapes").filter(withoutSim))],
    ["proxy", graph.loadedWith([...late("sim/server/proxy"), "src/sim/server/proxy/worker.ts"])],
    ["check", new Set(graph.all.filter((it) => it.startsWith("src/tools/check/")))],
    ["queries", graph.loadedWith(late("service/query"))],
    ["mcp", new Set(graph.all.filter((it) => it.startsWith("src/tools/mcp/")))],
    ["late", new Set(graph.all)],
  ];
}
const { plugin, codeSplitting } = inChunks(chunksOf);

/**
 * `import` of a built-in module reads all its exports, and with them loads what few programs use: undici for `node:http`
 * (60 ms on Node 24), WebCrypto for `node:crypto`. This reads the imported names only; what only newer versions of Node
 * have must be read from the default export.
 */
const builtins = {
  name: "builtins",
  resolveId: {
    filter: { id: /^[\w:/]+$/ },
    // Not shared between packages: what a CommonJS package requires becomes CommonJS with all that it imports.
    handler: (name, importer, { kind }) =>
      isBuiltin(name) && kind === "import-statement" && !importer.startsWith("\0")
        ? { id: `\0${packageOf(importer) ?? "phx-sim"}:${name}`, moduleSideEffects: false }
        : null,
  },
  load: {
    filter: { id: /^\0/ },
    handler(id) {
      const name = /:((?:node:)?[^:]+)$/.exec(id)?.[1] ?? "";
      if (!isBuiltin(name)) return null;
      const names = Object.keys(process.getBuiltinModule(name)).filter((it) => it !== "default");
      return [
        `const module = /* @__PURE__ */ process.getBuiltinModule("${name}");`,
        ...names.map((it) => `export const ${it} = module.${it};`),
        "export default module;",
      ].join("\n");
    },
  },
};

/**
 * Parts of libraries that phx-sim never calls, 3 MB: zstd for machines without WebAssembly; mockttp's control over GraphQL, and
 * its proxies that are chosen by a script (PAC), which bring a second JavaScript engine.
 */
const uncalled = [
  /\/zstd-codec-binding\.js$/,
  /\/mockttp\/dist\/(?:admin|client|pluggable-admin-api)\/[\w-]+\.js$/,
  /\/pac-proxy-agent\/dist\/index\.js$/,
];
const trimmed = {
  name: "without-uncalled",
  load: (id) => (uncalled.some((it) => it.test(id)) ? "module.exports = {};" : null),
};

/** Names of functions stay, for stack traces. */
const minify = { compress: true, mangle: { toplevel: false, keepNames: true }, codegen: { removeWhitespace: true } };

/** Bundles src/FILE into dist/FILE for each of these files; returns the chunks. */
const bundle = (files, output, plugins = []) =>
  bundleOf(Object.fromEntries(files.map((it) => [it.replace(/\.ts$/, ""), `src/${it}`])), output, plugins);

async function bundleOf(input, output, plugins) {
  const chunks = await build({
    input,
    platform: "node",
    // jsonc-parser's main file requires by computed names
    resolve: { mainFields: ["module", "main"] },
    external: peers,
    preserveEntrySignatures: "allow-extension",
    treeshake: { propertyReadSideEffects: false },
    checks: { ineffectiveDynamicImport: false },
    plugins,
    output: { dir: "dist", comments: false, minify, ...output },
  });
  return chunks.output.filter((it) => it.type === "chunk");
}

const cjs = { format: "cjs", entryFileNames: "[name].cjs", codeSplitting: false, dynamicImportInCjs: false };
const commands = ["command-line.js", "commands.js", "client.js", "library.js"];
const parts = [plugin, builtins, trimmed, loadedInParts];
const chunks = await bundle(entries, { chunkFileNames: "[name].js", codeSplitting }, parts);
const loader = sourceOf("parts", partsSource(chunks, "start.js", commands));
const others = [
  ...(await bundleOf({ parts: "parts" }, {}, [loader, builtins])),
  // alone: it starts with the first query, and loads nothing else
  ...(await bundle(["service/query/worker/main.ts"], { codeSplitting: false }, [builtins])),
  ...(await bundle(["testing/jest.ts"], cjs)),
  ...(await bundle(["lab/egress/preload.ts"], cjs)),
  // it imports the app's own copy of an SDK
  ...(await bundle(["lab/egress/exit-preload.ts"], { ...cjs, dynamicImportInCjs: true })),
];

// CommonJS programs get these; the test of jest above is a whole one, as jest cannot require ES modules.
for (const file of ["index", "plan", "testing/vitest", "testing/vitest-matchers", "testing/playwright"])
  writeFileSync(`dist/${file}.cjs`, `module.exports = require("./${file.split("/").at(-1)}.js");\n`);

// Patterns are compiled synchronously, which import() cannot do; its WebAssembly lies beside it.
copyFileSync("node_modules/rregex/lib/commonjs.cjs", "dist/packages/rregex.cjs");
copyFileSync("node_modules/rregex/lib/rregex.wasm", "dist/packages/rregex.wasm");

// the pages (build/page.mjs)
const pages = ["@posthog/rrweb/", "@preact/signals/", "@preact/signals-core/", "marked/", "preact/"];
writeLicences(
  [
    ...[...chunks, ...others].flatMap((it) => it.moduleIds),
    "node_modules/rregex/lib/commonjs.cjs",
    "node_modules/rregex/lib/rregex.wasm",
    ...pages.map((it) => `node_modules/${it}`),
  ],
  "THIRD_PARTY_LICENSES",
);
