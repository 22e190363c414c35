import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { arrowsOf, circlesOf, exceptions, floors, placeOf, readHouse } from "../build/house.mjs";

/** package → its one home. */
const homes: Readonly<Record<string, string>> = {
  "@peculiar/x509": "sim/server",
  mockttp: "sim/server",
  ws: "sim/server",
  lowdb: "state/documents",
  chokidar: "lab/scenario",
  yaml: "lab/scenario",
  "jsonc-parser": "kernel/base",
  yargs: "kernel/command",
  "yargs-parser": "kernel/command",
  "find-my-way": "kernel/http",
  "mmdb-lib": "service/capture",
  ajv: "lab/plan",
  "ajv-formats": "lab/plan",
  vitest: "testing",
  "@playwright/test": "testing",
  "@jest/globals": "testing",
  "hyparquet-writer": "service/batch-exports",
  "lz-string": "lab/tapes",
  rregex: "service/flags",
  "@babel/parser": "tools/call-coverage",
  "@jridgewell/trace-mapping": "lab/exceptions",
  "@modelcontextprotocol/sdk": "tools/mcp",
};

const source = join(import.meta.dirname, "../src");
const house = readHouse(source);
const { files } = house;
const packages = house.imports.filter(({ isLocal, target }) => !isLocal && !target.startsWith("node:"));

describe("the structure of src", () => {
  test("the source was found", () => {
    expect(files.length).toBeGreaterThan(20);
    expect(house.imports.length).toBeGreaterThan(files.length);
  });

  test("every file stands in a slice of a room", () => {
    expect(files.filter((file) => !floors.includes(placeOf(file)))).toEqual([]);
    const used = new Set(files.map(placeOf));
    expect(floors.filter((it) => !used.has(it))).toEqual([]);
  });

  test("imports go down, but for the listed exceptions", () => {
    const upward = arrowsOf(house).upward.map(({ file, target }) => `${file} → ${target}`);
    expect([...new Set(upward)].sort()).toEqual(exceptions.map(({ from, to }) => `${from} → ${to}`).sort());
    expect(exceptions.length).toBeLessThanOrEqual(10);
  });

  test("no file imports itself through others, types and dynamic imports included", () => {
    expect(circlesOf(house)).toEqual([]);
  });

  test("a test lies where the slice that it tests lies in src", () => {
    const rooms = new Set(floors.map((it) => it.replace(/\/.*/, "")));
    const folders = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
      .map((file) => file.replaceAll("\\", "/"))
      .filter((file) => /^[^/]+\/[^/]+\/.*\.test\.ts$/.test(file) && rooms.has(file.split("/")[0] ?? ""))
      .map((file) => file.split("/").slice(0, 2).join("/"));
    expect(folders.length).toBeGreaterThan(20);
    expect([...new Set(folders)].filter((it) => !existsSync(join(source, it)))).toEqual([]);
  });

  test("every path in ARCHITECTURE.md exists", () => {
    const text = readFileSync(join(source, "../ARCHITECTURE.md"), "utf8");
    const paths = [...text.matchAll(/`((?:[\w-]+\/)+[\w.-]+)`/g)].map(([, path = ""]) => path);
    const missing = paths.filter((it) => !existsSync(join(source, it)) && !existsSync(join(source, "..", it)));
    expect(paths.length).toBeGreaterThan(30);
    expect(missing).toEqual([]);
  });

  test("every package is used in one slice", () => {
    const name = (target: string) =>
      target
        .split("/")
        .slice(0, target.startsWith("@") ? 2 : 1)
        .join("/");
    const wrong = packages
      .filter(({ target }) => name(target) !== "zod")
      .filter(({ file, target }) => homes[name(target)] !== placeOf(file));
    expect(wrong).toEqual([]);
  });

  test("built-in modules are imported by name or as a whole, as build/code.mjs reads them", () => {
    const namespaces = files.filter((file) =>
      /^import \* as \w+ from "node:/m.test(readFileSync(join(source, file), "utf8")),
    );
    expect(namespaces).toEqual([]);
  });

  test("no file or folder is called utils, helpers or common", () => {
    expect(files.filter((file) => /(^|\/)(utils?|helpers?|common|misc)(\.ts|\/)/.test(file))).toEqual([]);
  });

  test("the name of an exported type has one meaning", () => {
    // What `require` of phx-sim/jest gives repeats the names of the module.
    const named = files
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) => {
        const code = readFileSync(join(source, file), "utf8");
        const names = code.matchAll(/^export (?:abstract )?(?:interface|type|class) (\w+)/gm);
        return [...names].map(([, name = ""]) => ({ name, file }));
      });
    const twice = named.filter(({ name }, i) => named.findIndex((it) => it.name === name) !== i);
    expect(twice).toEqual([]);
  });

  test("vitest hoists nothing in what is built: it would rewrite the module, and lose exports", () => {
    // `regexpHoistable` of @vitest/mocker
    const hoisted = /\b(?:vi|vitest)\s*\.\s*(?:mock|unmock|hoisted|doMock|doUnmock)\s*\(/;
    const built = readdirSync(join(source, "../dist"), { recursive: true, encoding: "utf8" }).filter((it) =>
      /\.[cm]?js$/.test(it),
    );
    const wrong = built.filter((it) => hoisted.test(readFileSync(join(source, "../dist", it), "utf8")));
    expect(built).toContain(join("testing", "vitest.js"));
    expect(wrong).toEqual([]);
  });
});
