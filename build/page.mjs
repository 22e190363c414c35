// Bundles the inspector page into dist/inspector: the shell with what several views need, and a file for each view, which
// is fetched when the view is opened.
import { copyFileSync, rmSync } from "node:fs";
import { build as buildStyles } from "esbuild";
import { build } from "rolldown";
import { inChunks } from "./graph.mjs";

const dir = "dist/inspector";

function chunksOf(graph) {
  // kinds of events are loaded after the view that shows them: what they share with it need not be in the shell
  const isView = (it) => !it.startsWith("ui/views/event/kinds/");
  const views = [...new Set(graph.late)].filter(isView).map((it) => graph.loadedWith([it]));
  const shell = graph.loadedWith(["ui/main.tsx"]);
  return [
    [
      "app",
      new Set(graph.all.filter((it) => shell.has(it) || views.filter((view) => view.has(it)).length > 2)),
    ],
  ];
}
const { plugin, codeSplitting } = inChunks(chunksOf);

rmSync(dir, { recursive: true, force: true });
await build({
  input: { app: "ui/main.tsx" },
  platform: "browser",
  tsconfig: "ui/tsconfig.json",
  preserveEntrySignatures: "allow-extension",
  checks: { ineffectiveDynamicImport: false },
  transform: { target: "es2022" },
  plugins: [plugin],
  output: {
    dir,
    minify: true,
    comments: false,
    entryFileNames: "[name].js",
    chunkFileNames: "app/[name]-[hash].js",
    codeSplitting,
  },
});
await buildStyles({ entryPoints: { app: "ui/styles/app.css" }, outdir: dir, bundle: true, minify: true });
copyFileSync("ui/index.html", `${dir}/index.html`);
