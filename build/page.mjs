// Bundles the inspector page into dist/inspector: the shell with what several views need, and a file for each view, which
// is fetched when the view is opened.
import { copyFileSync, rmSync } from "node:fs";
import { build as bundle, transform } from "esbuild";
import { build } from "rolldown";
import { inChunks } from "./graph.mjs";

const dir = "dist/inspector";

function chunksOf(graph) {
  const views = [...new Set(graph.late)].map((it) => graph.loadedWith([it]));
  const shell = graph.loadedWith(["ui/main.tsx"]);
  return [
    [
      "app",
      new Set(graph.all.filter((it) => shell.has(it) || views.filter((view) => view.has(it)).length > 2)),
    ],
  ];
}
const { plugin, codeSplitting } = inChunks(chunksOf);

/** A view that imports its styles gets them as text, in its own file: other views do not wait for them. */
const styles = {
  name: "styles",
  transform: {
    filter: { id: /\.css$/ },
    async handler(text) {
      const { code } = await transform(text, { loader: "css", minify: true });
      return { code: `export default ${JSON.stringify(code.trim())};`, moduleType: "js" };
    },
  },
};

rmSync(dir, { recursive: true, force: true });
await build({
  input: { app: "ui/main.tsx" },
  platform: "browser",
  tsconfig: "ui/tsconfig.json",
  preserveEntrySignatures: "allow-extension",
  checks: { ineffectiveDynamicImport: false },
  transform: { target: "es2022" },
  plugins: [plugin, styles],
  output: {
    dir,
    minify: true,
    comments: false,
    entryFileNames: "[name].js",
    chunkFileNames: "app/[name]-[hash].js",
    codeSplitting,
  },
});
// a classic script of its own: the app's page has no module of ours
await bundle({
  entryPoints: { badge: "ui/badge/badge.ts" },
  outdir: dir,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "none",
});
await bundle({ entryPoints: { app: "ui/styles/app.css" }, outdir: dir, bundle: true, minify: true });
copyFileSync("ui/index.html", `${dir}/index.html`);
