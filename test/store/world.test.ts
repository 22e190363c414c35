import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/kernel/json.ts";
import { syntaxErrorAt } from "../../src/kernel/json-syntax.ts";
import { emptyWorld, type Project, type World } from "../../src/model/world.ts";
import { DataFolderError } from "../../src/store/data-folder.ts";
import { type Migration, migrate, migrations } from "../../src/store/migrations.ts";
import { openWorld, type WorldOptions, type WorldStore } from "../../src/store/world.ts";
import { pathText, readWorldFile } from "../../src/store/world-file.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "phx-world-"));
const fileOf = (folder: string): string => join(folder, "world.json");

const project = (id: number, name: string): Project => ({
  id,
  organization: "o",
  name,
  api_key: `phc_${name}`,
  secret_api_key: `phs_${name}`,
  remote_config: {},
  adopted: false,
});
const seedWorld = (): World => ({ ...emptyWorld(), projects: [project(1, "one"), project(2, "two")] });

const opened: WorldStore[] = [];
async function open(options: Partial<WorldOptions> = {}): Promise<WorldStore> {
  const worlds = await openWorld({ seedWorld, ...options });
  opened.push(worlds);
  return worlds;
}
afterEach(() => {
  vi.useRealTimers();
  for (const worlds of opened.splice(0)) worlds.close();
});

/** A folder whose world.json is as given. */
function folderWith(text: string): string {
  const folder = newFolder();
  writeFileSync(fileOf(folder), text);
  return folder;
}

const read = (folder: string): JsonObject => JSON.parse(readFileSync(fileOf(folder), "utf8")) as JsonObject;

describe.each([
  ["in memory", () => ({})],
  ["in a folder", () => ({ folder: newFolder() })],
])("a world %s", (_name, options) => {
  test("starts as the seed", async () => {
    const worlds = await open(options());
    expect(worlds.current).toEqual(seedWorld());
    expect(worlds.projectByKey("phc_two")?.id).toBe(2);
    expect(worlds.projectById(1)?.name).toBe("one");
    expect(worlds.projectByKey("phc_none")).toBeUndefined();
    expect(worlds.projectById(3)).toBeUndefined();
  });

  test("change edits the document, returns what the edit returns, and look-ups follow", async () => {
    const worlds = await open(options());
    const length = worlds.change((world) => {
      const first = world.projects[0];
      if (first) first.api_key = "phc_new";
      return world.projects.push(project(3, "three"));
    });
    expect(length).toBe(3);
    expect(worlds.projectByKey("phc_new")?.id).toBe(1);
    expect(worlds.projectByKey("phc_one")).toBeUndefined();
    expect(worlds.projectById(3)?.name).toBe("three");
  });

  test("replace puts another document in its place", async () => {
    const worlds = await open(options());
    worlds.replace({ ...emptyWorld(), projects: [project(9, "nine")] });
    expect(worlds.current.projects).toHaveLength(1);
    expect([worlds.projectById(1), worlds.projectByKey("phc_nine")?.id]).toEqual([undefined, 9]);
  });

  test.each([
    [
      "api_key",
      { ...project(3, "three"), api_key: "phc_one" },
      'projects "one" (1) and "three" (3) have the same api_key "phc_one"',
    ],
    ["id", { ...project(1, "three") }, 'projects "one" (1) and "three" (1) have the same id 1'],
  ])("two projects with the same %s are refused, and nothing changes", async (_what, other, message) => {
    const worlds = await open(options());
    expect(() => worlds.replace({ ...seedWorld(), projects: [project(1, "one"), other] })).toThrow(message);
    expect(() => worlds.change((world) => world.projects.push(other))).toThrow(message);
    expect(() =>
      worlds.change((world) => {
        for (const it of world.projects) it.api_key = "phc_same";
      }),
    ).toThrow('have the same api_key "phc_same"');
    expect(worlds.current).toEqual(seedWorld());
    expect(worlds.projectByKey("phc_one")?.id).toBe(1);
  });
});

describe("world.json", () => {
  test("is pretty JSON with the seal as its last key", async () => {
    const folder = newFolder();
    (await open({ folder })).close();
    const { seal, ...rest } = read(folder);
    expect(rest).toEqual(seedWorld());
    expect(Object.keys(read(folder)).at(-1)).toBe("seal");
    expect(seal).toBe(createHash("sha256").update(JSON.stringify(rest)).digest("hex"));
    expect(readFileSync(fileOf(folder), "utf8")).toContain('\n  "version": 1,\n');
    expect(readdirSync(folder)).toEqual(["world.json"]);
  });

  test("is read again instead of the seed", async () => {
    const folder = newFolder();
    const worlds = await open({ folder });
    worlds.change((world) => world.projects.push(project(3, "three")));
    const before = structuredClone(worlds.current);
    worlds.close();
    const again = await open({ folder, seedWorld: emptyWorld });
    expect(again.current).toEqual(before);
    expect(again.projectById(3)?.name).toBe("three");
  });

  test("changes within 50 ms are written together, without being asked", async () => {
    const folder = newFolder();
    vi.useFakeTimers();
    const worlds = await open({ folder });
    worlds.change((world) => world.projects.push(project(3, "three")));
    vi.advanceTimersByTime(49);
    expect(existsSync(fileOf(folder))).toBe(false);
    worlds.change((world) => world.projects.push(project(4, "four")));
    vi.advanceTimersByTime(1);
    expect(read(folder).projects).toHaveLength(4);
  });

  test("flush writes at once, and only when something changed", async () => {
    const folder = newFolder();
    const worlds = await open({ folder });
    worlds.change((world) => world.projects.pop());
    worlds.flush();
    const written = statSync(fileOf(folder), { bigint: true }).ino;
    expect(read(folder).projects).toHaveLength(1);
    worlds.flush();
    expect(statSync(fileOf(folder), { bigint: true }).ino).toBe(written);
  });

  test("nobody waits for the document of a new folder: it can be made again", async () => {
    const folder = newFolder();
    const worlds = await open({ folder });
    worlds.flush();
    expect(existsSync(fileOf(folder))).toBe(false);
    worlds.close();
    expect(read(folder).projects).toHaveLength(2);
  });

  test("what cannot be written waits, and is told when nobody asked for it", async () => {
    const folder = newFolder();
    const notices: string[] = [];
    vi.useFakeTimers();
    const worlds = await open({ folder, onNotice: (text) => notices.push(text) });
    mkdirSync(`${fileOf(folder)}.tmp`);
    worlds.change((world) => world.surveys.push({ project: 1 }));
    vi.advanceTimersByTime(50);
    expect(notices).toEqual([expect.stringMatching(/^world\.json could not be written: /)]);
    expect(() => worlds.flush()).toThrow();
    rmSync(`${fileOf(folder)}.tmp`, { recursive: true });
    worlds.flush();
    expect(read(folder).projects).toHaveLength(2);
  });

  test("a sealed file is not checked again", async () => {
    const odd = { ...seedWorld(), surveys: "sealed, so nobody looks" };
    const seal = createHash("sha256").update(JSON.stringify(odd)).digest("hex");
    const worlds = await open({ folder: folderWith(JSON.stringify({ ...odd, seal })) });
    expect(worlds.current).toMatchObject({ surveys: "sealed, so nobody looks" });
  });

  test("another layout is not an edit", () => {
    const folder = newFolder();
    const seal = createHash("sha256").update(JSON.stringify(seedWorld())).digest("hex");
    writeFileSync(
      fileOf(folder),
      JSON.stringify({ ...seedWorld(), seal }, null, "\t").replaceAll("\n", "\r\n"),
    );
    expect(readWorldFile(fileOf(folder))?.isSealed).toBe(true);
  });

  test.each([
    ["without a seal", (text: string) => text.replace(/,\s*"seal": "\w+"/, "")],
    ["with a stale seal", (text: string) => text.replace('"name": "one"', '"name": "edited"')],
    [
      "with a byte order mark",
      (text: string) => `\ufeff${text.replace('"name": "one"', '"name": "edited"')}`,
    ],
  ])("a file edited by hand, %s, is checked, taken over and sealed anew", async (_name, edit) => {
    const folder = newFolder();
    (await open({ folder })).close();
    writeFileSync(fileOf(folder), edit(readFileSync(fileOf(folder), "utf8")));
    const worlds = await open({ folder });
    expect(worlds.projectById(1)?.name).toMatch(/one|edited/);
    worlds.close();
    expect(readWorldFile(fileOf(folder))?.isSealed).toBe(true);
    expect(worlds.current).toMatchObject({ projects: [{ id: 1 }, { id: 2 }] });
  });

  const world = (change: JsonObject): string => JSON.stringify({ ...seedWorld(), ...change }, null, 2);
  const damages: [name: string, text: string, message: string | RegExp, line?: number][] = [
    ["empty", "", "world.json:1:1 is not JSON", 1],
    ["cut off", '{\n  "version": 1,\n  "pro', "world.json:3:3 is not JSON", 3],
    ["with a comma too many", '{\n  "version": 1,\n}', "world.json:3:1 is not JSON", 3],
    ["a list", "[]", "world.json does not hold a JSON object"],
    ["without a version", "{}", 'world.json: "version" must be a whole number from 1 to 1'],
    ["with an odd version", world({ version: "1" }), '"version" must be a whole number from 1 to 1'],
    ["of a newer version", world({ version: 2 }), "it has version 2, this phx-sim knows versions up to 1"],
    ["with a wrong type", world({ projects: 7 }), /world\.json: projects: .*expected array/],
    [
      "with a wrong type deep inside",
      world({ projects: [{ ...project(1, "one"), id: "1" }] }),
      /world\.json: projects\[0\]\.id: .*expected number/,
    ],
    ["with several faults", world({ projects: 7, surveys: 7 }), /\(and 1 more\)$/],
    [
      "with a key twice",
      world({ projects: [project(1, "one"), { ...project(2, "two"), api_key: "phc_one" }] }),
      'world.json: projects "one" (1) and "two" (2) have the same api_key "phc_one"',
    ],
  ];
  test.each(damages)("%s: one line with the place and what to do", async (_name, text, message, line) => {
    const folder = folderWith(text);
    const error: unknown = await open({ folder }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DataFolderError);
    expect(error).toMatchObject({ file: fileOf(folder), line, hint: expect.stringMatching(/\w/) });
    expect(String(error)).toMatch(typeof message === "string" ? new RegExp(escaped(message)) : message);
    expect(String(error)).not.toContain("\n");
    expect(readFileSync(fileOf(folder), "utf8")).toBe(text);
  });

  test("a directory in the place of the file", async () => {
    const folder = newFolder();
    mkdirSync(fileOf(folder));
    await expect(open({ folder })).rejects.toThrow("world.json cannot be opened: it is a directory");
  });
});

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

describe("migrations", () => {
  const steps: Migration[] = [
    ({ title, ...rest }) => ({ ...rest, name: title ?? null }),
    (old) => ({ ...old, tags: [] }),
  ];

  test.each([
    [1, { version: 1, title: "t" }, { version: 3, name: "t", tags: [] }],
    [2, { version: 2, name: "n" }, { version: 3, name: "n", tags: [] }],
    [3, { version: 3, name: "n" }, { version: 3, name: "n" }],
  ])("from version %i", (_version, old, expected) => {
    expect(migrate(old, steps)).toEqual(expected);
  });

  test.each([[0], [4], [1.5], ["2"], [null], [undefined]])("version %j is refused", (version) => {
    expect(() => migrate({ ...(version !== undefined && { version }) }, steps)).toThrow(/version/);
  });

  test("there is one for each version but the newest", () => {
    expect(migrations).toHaveLength(emptyWorld().version - 1);
  });

  test("a migrated file is checked, whatever its seal says", () => {
    const old = { version: 1, title: "t" };
    const seal = createHash("sha256").update(JSON.stringify(old)).digest("hex");
    const folder = folderWith(JSON.stringify({ ...old, seal }));
    expect(readWorldFile(fileOf(folder), steps)).toEqual({
      document: { version: 3, name: "t", tags: [] },
      isSealed: false,
    });
  });
});

describe("the place of a syntax error", () => {
  test.each([
    ["", 1, 1],
    ["   ", 1, 4],
    ["{", 1, 2],
    ["[1, 2", 1, 6],
    ['{"a": 1,}', 1, 9],
    ["[1,]", 1, 4],
    ['{"a" 1}', 1, 6],
    ['{"a": x}', 1, 7],
    ["{a: 1}", 1, 2],
    ["{'a': 1}", 1, 2],
    ['{"a": 1 "b": 2}', 1, 9],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
    ['{"a": [1, {"b": }]}', 1, 17],
    ['{"a": "line\nbreak"}', 1, 7],
    ['{"a": "\\x"}', 1, 7],
    ["[01]", 1, 3],
    ["[1.]", 1, 3],
    ["[+1]", 1, 2],
    ["[-]", 1, 2],
    ["[nul]", 1, 2],
    ["[true false]", 1, 7],
    ["[}", 1, 2],
    ["{]", 1, 2],
    ["1 2", 1, 3],
    ["{} // comment", 1, 4],
    ["[\u00a01]", 1, 2],
  ])("%j: line %i, column %i", (text, line, column) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(syntaxErrorAt(text)).toEqual({ line, column });
  });

  test.each([
    "null",
    "0",
    " [ ] ",
    "{}",
    '{"a":{"b":[1,-2.5e+3,"\\u00e9\\n",true,false,null,{}]},"":[[]]}',
    '\t\r\n"x"',
  ])("%j has none", (text) => {
    expect(() => JSON.parse(text)).not.toThrow();
    expect(syntaxErrorAt(text)).toBeUndefined();
  });
});

test.each([
  [[], "the document"],
  [["projects"], "projects"],
  [["projects", 0, "api_key"], "projects[0].api_key"],
])("path %j", (path, text) => expect(pathText(path)).toBe(text));
