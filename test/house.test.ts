import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";

/** room → the rooms it may import. A room or an arrow that is missing here fails the build. */
const house: Record<string, readonly string[]> = {
  kernel: [],
  model: ["kernel"],
  flags: ["kernel", "model"],
  match: ["kernel", "model"],
  store: ["kernel", "model"],
  geo: ["kernel", "model"],
  faults: ["kernel", "model"],
  answers: ["kernel", "model"],
  http: ["kernel"],
  filter: ["kernel", "model"],
  feed: ["kernel", "model", "filter"],
  tape: ["kernel"],
  ingest: ["kernel", "model"],
  exports: ["kernel", "model", "store"],
  replay: ["kernel", "model", "tape"],
  scenario: ["kernel", "model", "flags", "store", "tape"],
  resources: ["kernel", "model", "http", "store"],
  ingestion: ["kernel", "model", "http", "ingest", "flags"],
  control: [
    "kernel",
    "model",
    "flags",
    "match",
    "store",
    "http",
    "tape",
    "ingest",
    "exports",
    "scenario",
    "faults",
    "answers",
    "lint",
    "filter",
    "feed",
  ],
  door: ["kernel", "http", "tape"],
  plan: ["kernel"],
  lint: ["kernel", "model"],
  guard: ["kernel"],
  testing: ["kernel", "model", "match", "plan", "client", "guard", "index"],
  cli: ["kernel", "filter", "match", "plan", "guard", "tape", "index"],
  client: ["kernel", "model", "match", "control", "guard", "tape"],
  index: ["sim", "client", "kernel", "model", "match", "guard", "scenario"],
  sim: [
    "client",
    "kernel",
    "model",
    "flags",
    "match",
    "store",
    "geo",
    "faults",
    "answers",
    "http",
    "tape",
    "ingest",
    "exports",
    "scenario",
    "replay",
    "resources",
    "ingestion",
    "control",
    "lint",
    "filter",
    "feed",
    "door",
  ],
};

/** package → its one home. Everything else from npm must be listed here, too. */
const homes: Record<string, readonly string[]> = {
  mockttp: ["door"],
  ws: ["door"],
  lowdb: ["store"],
  chokidar: ["scenario"],
  yaml: ["scenario"],
  "jsonc-parser": ["kernel"],
  yargs: ["cli"],
  "find-my-way": ["http"],
  "mmdb-lib": ["geo"],
  ajv: ["plan"],
  "ajv-formats": ["plan"],
  vitest: ["testing"],
  "@playwright/test": ["testing"],
  "@jest/globals": ["testing"],
  "hyparquet-writer": ["exports"],
  zod: ["model", "scenario", "resources", "control"],
};

const source = join(import.meta.dirname, "../src");
const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".ts"));

const roomOf = (file: string): string =>
  file.includes("/") ? (file.split("/")[0] ?? "") : file.replace(/\.ts$/, "");

/** Static, dynamic and type imports alike: `from "x"`, `import "x"`, `import("x")`. */
const importPattern = /(?:^(?:import|export)\b[^"';]*?\bfrom\s*|^import\s*|\bimport\(\s*)"([^"]+)"/gm;

const withoutComments = (code: string): string => code.replace(/^\s*(\/\/|\*|\/\*).*$/gm, "");

const imports = files.flatMap((file) =>
  [...withoutComments(readFileSync(join(source, file), "utf8")).matchAll(importPattern)].map((found) => ({
    file,
    target: found[1] ?? "",
  })),
);
const arrows = imports
  .filter(({ target }) => target.startsWith("."))
  .map(({ file, target }) => ({ file, to: roomOf(posix.join(posix.dirname(file), target)) }))
  .filter(({ file, to }) => roomOf(file) !== to);
const packages = imports.filter(({ target }) => !target.startsWith(".") && !target.startsWith("node:"));

describe("the house", () => {
  test("the source was found", () => {
    expect(files.length).toBeGreaterThan(20);
    expect(arrows.length).toBeGreaterThan(20);
  });

  test("every room is known", () => {
    expect([...new Set(files.map(roomOf))].filter((room) => !(room in house))).toEqual([]);
  });

  test("every arrow is allowed", () => {
    expect(arrows.filter(({ file, to }) => !house[roomOf(file)]?.includes(to))).toEqual([]);
  });

  test("every package is used in its home only", () => {
    const name = (target: string) =>
      target
        .split("/")
        .slice(0, target.startsWith("@") ? 2 : 1)
        .join("/");
    expect(packages.filter(({ file, target }) => !homes[name(target)]?.includes(roomOf(file)))).toEqual([]);
  });

  test("no room is called utils, helpers or common", () => {
    expect(files.filter((file) => /(^|\/)(utils?|helpers?|common|misc)(\.ts|\/)/.test(file))).toEqual([]);
  });
});

/** room of the page → the rooms of it that it may import. Views are rooms each. */
const pageHouse: Record<string, readonly string[]> = {
  api: [],
  copy: [],
  parts: ["copy"],
  feed: ["api"],
  app: ["api", "feed", "parts"],
  view: ["api", "app", "copy", "feed", "parts"],
  main: ["app", "feed", "styles"],
};

/** Rooms of src that are pure: the page may share what they know. Of `control` it may know the shapes of answers. */
const shared = ["kernel", "model", "filter", "feed", "flags"];
const shapesOnly = ["control"];

describe("the page's house", () => {
  const root = join(import.meta.dirname, "../ui");
  const all = readdirSync(root, { recursive: true, encoding: "utf8" }).map((it) => it.replaceAll("\\", "/"));
  const code = all.filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"));
  const styles = all.filter((file) => file.endsWith(".css"));
  const textOf = (file: string) => readFileSync(join(root, file), "utf8");
  /** `view/events` for a view's files, the first folder's name for others. */
  const pageRoom = (file: string) => {
    const [first = "", second = ""] = file.split("/");
    return first === "views" ? `view/${second}` : first.replace(/\.tsx?$/, "");
  };
  const kind = (room: string) => room.replace(/\/.*/, "");
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

  test("every arrow is allowed; a view knows no other", () => {
    const wrong = inside
      .filter(({ to }) => !to.startsWith("../"))
      .map(({ file, to }) => ({ file, from: pageRoom(file), to: pageRoom(to) }))
      // the list of views is the one place that knows them
      .filter(({ file, from, to }) => from !== to && !(file === "app/views.ts" && kind(to) === "view"))
      .filter(({ from, to }) => !pageHouse[kind(from)]?.includes(to));
    expect(wrong).toEqual([]);
  });

  test("of src only what is pure, and nothing of Node", () => {
    const outside = inside.filter(({ to }) => to.startsWith("../"));
    expect(outside.length).toBeGreaterThan(0);
    const roomIn = (path: string) => /^\.\.\/src\/(\w+)\//.exec(path)?.[1] ?? "";
    const isAllowed = ({ to, isType }: (typeof outside)[number]) =>
      shared.includes(roomIn(to)) || (isType && shapesOnly.includes(roomIn(to)));
    expect(outside.filter((it) => !isAllowed(it))).toEqual([]);
  });

  test("of packages only Preact is in it", async () => {
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
    const parts = Object.keys(metafile.inputs).map(
      (it) => /^(?:node_modules\/(?:@\w+\/)?\w+|\w+)/.exec(it)?.[0],
    );
    const packages = ["node_modules/@preact/signals", "node_modules/preact"];
    expect([...new Set(parts)].sort()).toEqual([...packages, "src", "ui"]);
  });

  test("no text becomes markup or code", () => {
    const way =
      /dangerouslySetInnerHTML|(?:inner|outer)HTML|insertAdjacentHTML|document\.write|srcdoc|\beval\(|new Function/i;
    expect(code.filter((file) => way.test(withoutComments(textOf(file))))).toEqual([]);
  });

  test("colours and type sizes are the tokens'", () => {
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
    const inline =
      /(?:color|background|fill|stroke)\w*[=:]\s*\{?["'](?!var\(|none|currentcolor)[^"']*["']|fontSize/i;
    expect(code.filter((file) => file.endsWith(".tsx") && inline.test(textOf(file)))).toEqual([]);
  });
});
