import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";

/** Every slice may import these, and each of these the ones before it. */
const foundation = ["base", "codec", "http", "store", "world", "journal"];

/** slice → the other slices that it imports, with the reason. An import that is not listed fails. */
const imports: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  people: {
    ingest: "replays the events of a person to explain its properties",
  },
  assert: { client: "the keys of options, as every part of the client declares them" },
  ingest: { people: "captures create and change persons and groups" },
  flags: {
    ingest: "decodes bodies and finds the project of a request as capture does",
    people: "evaluates against stored persons and groups",
    management: "the frame of the management API, for /feature_flags",
  },
  management: {
    people: "the persons endpoints",
    ingest: "events of a person's deletion",
    flags: "the rows of /feature_flags",
    exports: "the rows of /batch_exports",
    query: "the rows of /query, and the results of insights",
  },
  query: {
    people: "the persons and groups of events",
    flags: "time zones, dates, texts of values, regular expressions, and the members of cohorts",
    management: "the frame of the management API, for /query, and the actions of a project",
  },
  exports: {
    management: "the frame of the management API, for /batch_exports",
    ingest: "the time and project of exported events",
    people: "exports of persons",
    flags: "regular expressions of property filters",
  },
  journeys: {
    people: "the person of a journey, and the order of its events",
    flags: "the decisions about flags in force",
  },
  baseline: { flags: "the flags that a request names", tapes: "the forms of secrets, which names may hold" },
  lint: {
    ingest: "the times and limits of captures",
    sessions: "the texts of recordings",
  },
  tapes: {
    cli: "registers its section of the config file",
    faults: "the same replies as scripted answers",
  },
  projects: {
    people: "stores and removes the persons and groups of a project",
    flags: "overrides are part of a test project",
    egress: "the variables that point an app at a project",
  },
  scenario: {
    management: "the fields of resources, which scenarios have in the form of the API",
    people: "seeds persons and groups",
    flags: "checks the flags of a file",
    plan: "definitions of planned events and properties",
    query: "the names of kinds of queries",
    faults: "the faults of a file",
    projects: "resets one project",
    clock: "the clock in the facts of the sim",
    tapes: "scenarios made from a tape",
    traffic: "checks the traffic of a file",
  },
  traffic: {
    flags: "time zones, and the hash that decides a flag",
    people: "the number of group types",
  },
  server: { tapes: "requests that are passed on" },
  coverage: {
    flags: "how often flags were served and used",
    verdict: "its section of a verdict",
  },
  matrix: {
    flags: "the values that rules of version 2 can give",
    scenario: "the flags of a scenario and their values",
    verdict: "the verdicts of its runs",
  },
  twin: {
    tapes: "the upstream, its transport, and the redactor",
    scenario: "the shapes of scenarios, and the fields that they have of the service's documents",
    management: "the fields of resources",
    baseline: "what tests sent, for the impact of its changes",
    people: "the number of group types",
  },
  verdict: {
    flags: "the flags that were read",
    lint: "findings of the linter are part of a verdict",
  },
};

/** These wire, or are used by people: they may import every slice. Commands and clients of slices count as theirs. */
const outer = ["sim", "start-sim", "client", "cli", "testing", "check", "mcp", "index"];

/** package → its one home. */
const homes: Readonly<Record<string, string>> = {
  "@peculiar/x509": "server",
  mockttp: "server",
  ws: "server",
  lowdb: "world",
  chokidar: "scenario",
  yaml: "scenario",
  "jsonc-parser": "base",
  yargs: "cli",
  "yargs-parser": "cli",
  "find-my-way": "http",
  "mmdb-lib": "ingest",
  ajv: "plan",
  "ajv-formats": "plan",
  vitest: "testing",
  "@playwright/test": "testing",
  "@jest/globals": "testing",
  "hyparquet-writer": "exports",
  "lz-string": "tapes",
  rregex: "flags",
  "@babel/parser": "coverage",
  "@jridgewell/trace-mapping": "exceptions",
  "@modelcontextprotocol/sdk": "mcp",
};

const commands = /\/commands\/|\/(command(-[\w-]+)?|[\w-]+-command|options)\.ts$/;
const client = /\/(client|[\w-]+-client|client-(assertions|judged|pattern))\.ts$/;

/** `cli` for commands, `client` for parts of the client, else the slice, which is the first folder. */
function partOf(path: string): string {
  const [slice = ""] = path.replace(/\.ts$/, "").split("/");
  if (outer.includes(slice)) return slice;
  if (commands.test(path)) return "cli";
  return client.test(path) ? "client" : slice;
}

const source = join(import.meta.dirname, "../src");
const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => /\.c?ts$/.test(file));

const sliceOf = (file: string): string =>
  file.includes("/") ? (file.split("/")[0] ?? "") : file.replace(/\.ts$/, "");

/** Static, dynamic and type imports alike: `from "x"`, `import "x"`, `import("x")`. */
const importPattern = /(?:^(?:import|export)\b[^"';]*?\bfrom\s*|^import\s*|\bimport\(\s*)"([^"]+)"/gm;

const withoutComments = (code: string): string => code.replace(/^\s*(\/\/|\*|\/\*).*$/gm, "");

const all = files.flatMap((file) =>
  [...withoutComments(readFileSync(join(source, file), "utf8")).matchAll(importPattern)].map(
    ([how, target = ""]) => ({
      file,
      target: target.startsWith(".") ? posix.join(posix.dirname(file), target) : target,
      isLocal: target.startsWith("."),
      isLate: how.startsWith("import("),
    }),
  ),
);
const local = all.filter((it) => it.isLocal);
const packages = all.filter(({ isLocal, target }) => !isLocal && !target.startsWith("node:"));

function isAllowed(from: string, to: string): boolean {
  if (from === to || outer.includes(from)) return true;
  const place = foundation.indexOf(to);
  if (place >= 0 && (foundation.indexOf(from) < 0 || place < foundation.indexOf(from))) return true;
  return imports[from]?.[to] !== undefined;
}

describe("the structure of src", () => {
  test("the source was found", () => {
    expect(files.length).toBeGreaterThan(20);
    expect(local.length).toBeGreaterThan(20);
  });

  test("a slice imports the foundation and what is listed", () => {
    const wrong = local
      .filter(({ file, target }) => !isAllowed(partOf(file), partOf(target)))
      .map(({ file, target }) => `${file} → ${target}`);
    expect(wrong).toEqual([]);
  });

  test("every listed import exists", () => {
    const used = new Set(local.map(({ file, target }) => `${partOf(file)} → ${partOf(target)}`));
    const listed = Object.entries(imports).flatMap(([from, to]) =>
      Object.keys(to).map((it) => `${from} → ${it}`),
    );
    expect(listed.filter((it) => !used.has(it))).toEqual([]);
  });

  test("no file imports itself through others, types included", () => {
    const graph = new Map<string, string[]>();
    for (const { file, target, isLate } of local) {
      if (!isLate) graph.set(file, [...(graph.get(file) ?? []), target]);
    }
    const done = new Set<string>();
    const path: string[] = [];
    const cycles: string[] = [];
    function visit(file: string): void {
      const at = path.indexOf(file);
      if (at >= 0) cycles.push([...path.slice(at), file].join(" → "));
      if (at >= 0 || done.has(file)) return;
      path.push(file);
      for (const next of graph.get(file) ?? []) visit(next);
      path.pop();
      done.add(file);
    }
    for (const file of files) visit(file);
    expect(cycles).toEqual([]);
  });

  test("every package is used in one slice", () => {
    const name = (target: string) =>
      target
        .split("/")
        .slice(0, target.startsWith("@") ? 2 : 1)
        .join("/");
    const wrong = packages
      .filter(({ target }) => name(target) !== "zod")
      .filter(({ file, target }) => homes[name(target)] !== sliceOf(file));
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
