import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";

/** Static, dynamic and type imports alike: `from "x"`, `import "x"`, `import("x")`. */
const importPattern = /(?:^(?:import|export)\b[^"';]*?\bfrom\s*|^import\s*|\bimport\(\s*)"([^"]+)"/gm;

const withoutComments = (code: string): string => code.replace(/^\s*(\/\/|\*|\/\*).*$/gm, "");

/** folder of the page → the folders that it may import. Each view is a folder of its own. */
const allowedImports: Record<string, readonly string[]> = {
  api: [],
  copy: [],
  parts: ["copy"],
  feed: ["api"],
  app: ["api", "feed", "parts"],
  view: ["api", "app", "copy", "feed", "parts"],
  main: ["app", "feed", "styles"],
  // the page of a run, which has no sim behind it, and that of a shared dashboard
  report: ["parts"],
  shared: ["parts"],
};

/** Slices of src whose pure code the page runs. Of other slices it imports types only. */
const shared = [
  ...["kernel/base", "kernel/http", "state/documents", "state/journal", "service/flags"],
  ...["lab/egress", "lab/sessions"],
];

describe("the structure of the page", () => {
  const root = join(import.meta.dirname, "../../ui");
  const all = readdirSync(root, { recursive: true, encoding: "utf8" }).map((it) => it.replaceAll("\\", "/"));
  const code = all.filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"));
  const styles = all.filter((file) => file.endsWith(".css"));
  const textOf = (file: string) => readFileSync(join(root, file), "utf8");
  /** `view/events` for files of a view, the name of the first folder for others. */
  const folderOf = (file: string) => {
    const [first = "", second = ""] = file.split("/");
    return first === "views" ? `view/${second}` : first.replace(/\.tsx?$/, "");
  };
  const kind = (folder: string) => folder.replace(/\/.*/, "");
  const pageImports = code.flatMap((file) =>
    [...withoutComments(textOf(file)).matchAll(importPattern)].map(([how, target = ""]) => ({
      file,
      target,
      isType: /^(?:import|export) type\b/.test(how),
    })),
  );
  const inside = pageImports
    .filter(({ target }) => target.startsWith("."))
    .map(({ file, target, isType }) => ({ file, isType, to: posix.join(posix.dirname(file), target) }));

  test("the source was found", () => {
    expect(code.length).toBeGreaterThan(20);
    expect(inside.length).toBeGreaterThan(20);
    expect(styles.length).toBeGreaterThan(3);
  });

  test("a folder imports only the listed ones, and a view no other view", () => {
    const wrong = inside
      .filter(({ to }) => !to.startsWith("../"))
      .map(({ file, to }) => ({ file, from: folderOf(file), to: folderOf(to) }))
      // app/views.ts lists all views
      .filter(({ file, from, to }) => from !== to && !(file === "app/views.ts" && kind(to) === "view"))
      .filter(({ from, to }) => !allowedImports[kind(from)]?.includes(to));
    expect(wrong).toEqual([]);
  });

  test("no file imports itself through others, types included", () => {
    const graph = new Map<string, string[]>();
    for (const { file, to } of inside) graph.set(file, [...(graph.get(file) ?? []), to]);
    const done = new Set<string>();
    const cycles: string[] = [];
    function visit(file: string, path: readonly string[]): void {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(" → "));
      if (path.includes(file) || done.has(file)) return;
      for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
      done.add(file);
    }
    for (const file of code) visit(file, []);
    expect(cycles).toEqual([]);
  });

  test("the page imports only pure code of src, and nothing of Node", () => {
    const outside = inside.filter(({ to }) => to.startsWith("../"));
    expect(outside.length).toBeGreaterThan(0);
    const sliceOf = (path: string) => /^\.\.\/src\/(\w+\/[\w-]+)\//.exec(path)?.[1] ?? "";
    const isAllowed = ({ to, isType }: (typeof outside)[number]) => isType || shared.includes(sliceOf(to));
    expect(outside.filter((it) => !isAllowed(it))).toEqual([]);
  });

  test("Preact is the only package in the bundle, and marked in that of dashboards", async () => {
    const { metafile } = await build({
      entryPoints: [join(root, "main.tsx")],
      absWorkingDir: join(root, ".."),
      outdir: "dist/inspector",
      bundle: true,
      write: false,
      metafile: true,
      format: "esm",
      jsx: "automatic",
      jsxImportSource: "preact",
      logLevel: "error",
    });
    const parts = Object.keys(metafile.inputs).map((it) => /^(?:node_modules\/(?:@\w+\/)?\w+|\w+)/.exec(it)?.[0]);
    const packages = ["node_modules/@preact/signals", "node_modules/marked", "node_modules/preact"];
    expect([...new Set(parts)].sort()).toEqual([...packages, "src", "ui"]);
  });

  test("strings never become markup or code", () => {
    const way =
      /dangerouslySetInnerHTML|(?:inner|outer)HTML|insertAdjacentHTML|document\.write|srcdoc|\beval\(|new Function/i;
    expect(code.filter((file) => way.test(withoutComments(textOf(file))))).toEqual([]);
  });

  test("only tokens.css defines colours and font sizes", () => {
    const bare = styles
      .filter((file) => file !== "styles/tokens.css")
      .flatMap((file) =>
        textOf(file)
          .replace(/\/\*[\s\S]*?\*\//g, "")
          .split("\n")
          .filter((line) =>
            /#[0-9a-f]{3,8}\b(?!.*\{)|\b(?:rgb|hsl|oklch|lab)a?\(|font(?:-size)?:[^;]*\d(?:px|rem|pt)|gradient\(/i.test(
              line,
            ),
          )
          .map((line) => `${file}: ${line.trim()}`),
      );
    expect(bare).toEqual([]);
    const inline = /(?:color|background|fill|stroke)\w*[=:]\s*\{?["'](?!var\(|none|currentcolor)[^"']*["']|fontSize/i;
    expect(code.filter((file) => file.endsWith(".tsx") && inline.test(textOf(file)))).toEqual([]);
  });
});
