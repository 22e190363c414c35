// Bundles the inspector page into dist/inspector: the shell with what several views need, and a file for each view, which
// is fetched when the view is opened.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build as bundle } from "esbuild";
import { build } from "rolldown";
import { inChunks } from "./graph.mjs";

const dir = "dist/inspector";

function chunksOf(graph) {
  // what only parts of a view share, such as the first tabs of events, stays out of the first visit
  const views = graph.lateIn("ui/app/views.ts").map((it) => graph.loadedWith([it]));
  const shell = graph.loadedWith(["ui/main.tsx"]);
  const first = graph.loadedWith(["ui/views/start/start.tsx", "ui/views/events/events.tsx"]);
  const shared = graph.all.filter((it) => views.filter((view) => view.has(it)).length > 2);
  return [
    ["app", new Set([...shell, ...shared.filter((it) => first.has(it))])],
    ["shared", new Set(shared)],
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
// One file of its own, loaded when a recording is opened.
await build({
  input: { player: "ui/views/sessions/player/player.ts" },
  platform: "browser",
  tsconfig: "ui/tsconfig.json",
  transform: { target: "es2022" },
  output: { dir, minify: true, comments: false, entryFileNames: "[name].js", codeSplitting: false },
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
// the shell's styles, and those of each view, which are loaded with it
const views = readdirSync("ui/views").map((it) => [`styles/${it}`, `ui/views/${it}/${it}.css`]);
await bundle({
  entryPoints: { app: "ui/styles/app.css", ...Object.fromEntries(views) },
  outdir: dir,
  bundle: true,
  minify: true,
});
copyFileSync("ui/index.html", `${dir}/index.html`);
copyFileSync("ui/views/sessions/player/player.html", `${dir}/player.html`);

// Pages of one file, into which data are put: the report of `exec`, and shared dashboards.
const whole = { bundle: true, minify: true, write: false, legalComments: "none", target: "es2022" };
const outputOf = async (options) => (await bundle({ ...whole, ...options })).outputFiles[0].text.trim();
const hashOf = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const pageOfOneFile = async (name, ...more) => {
  const code = await outputOf({
    entryPoints: [`ui/${name}/main.tsx`],
    tsconfig: "ui/tsconfig.json",
    format: "iife",
    // nothing in it may end its element
    supported: { "inline-script": false },
  });
  const styles = await outputOf({ entryPoints: [`ui/${name}/${name}.css`] });
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(code)}`,
    `style-src ${hashOf(styles)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    ...more,
  ].join("; ");
  const parts = { policy, styles, code };
  const template = readFileSync(`ui/${name}/${name}.html`, "utf8");
  const page = template.replace(/\/\* (policy|styles|code) \*\//g, (_, part) => parts[part]);
  mkdirSync(`dist/${name}`, { recursive: true });
  writeFileSync(`dist/${name}/${name}.html`, page);
};
await pageOfOneFile("report");
await pageOfOneFile("shared", "connect-src 'self'");
