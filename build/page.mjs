// Bundles the inspector page into dist/inspector. Each view is a file of its own, fetched when it is opened; what
// several of them need lies in one file with the shell. esbuild would make a file of every set of views that share
// modules, so each view imports all that is shared: it is loaded by then in any case.
import { copyFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { build } from "esbuild";
import { loadedWith } from "./loaded-with.mjs";

const page = "ui/main.tsx";
const folder = "dist/inspector";

const settings = {
  entryPoints: { app: page },
  outdir: folder,
  chunkNames: "app/[name]-[hash]",
  bundle: true,
  splitting: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
  // modules that are imported for their company have no side effects, and need none
  logOverride: { "ignored-bare-import": "silent" },
};

/** The page, and what more than one of its parts needs. */
function sharedIn(inputs) {
  const late = Object.values(inputs).flatMap(({ imports }) =>
    imports.filter(({ kind }) => kind === "dynamic-import").map(({ path }) => path),
  );
  const parts = [...new Set(late)].map((path) => loadedWith(inputs, path));
  const isShared = (path) => parts.filter((it) => it.has(path)).length > 2;
  return [page, ...Object.keys(inputs).filter(isShared)];
}

/** Has the page and each of its parts import all that is shared. */
const withShared = (shared) => ({
  name: "with-shared",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ kind, path, resolveDir }) => {
      if (kind !== "dynamic-import" && kind !== "entry-point") return;
      return { path: resolve(resolveDir, path), namespace: "with-shared" };
    });
    onLoad({ filter: /./, namespace: "with-shared" }, ({ path }) => ({
      contents: [
        ...shared.map((it) => `import ${JSON.stringify(resolve(it))};`),
        `export * from ${JSON.stringify(path)};`,
      ].join("\n"),
      resolveDir: process.cwd(),
    }));
  },
});

rmSync(folder, { recursive: true, force: true });
const { inputs } = (await build({ ...settings, write: false })).metafile;
await build({ ...settings, plugins: [withShared(sharedIn(inputs))] });
await build({ entryPoints: { app: "ui/styles/app.css" }, outdir: folder, bundle: true, minify: true });
copyFileSync("ui/index.html", `${folder}/index.html`);
