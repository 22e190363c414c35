import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
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
  scenario: ["kernel", "model", "store", "tape"],
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
  testing: ["kernel", "model", "match", "plan", "client", "index"],
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
  "jsonc-parser": ["scenario", "plan"],
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
