import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, vi } from "vitest";
import { DataFolderError } from "../../../src/kernel/store/data-folder.ts";
import { placeText } from "../../../src/state/documents/store/world-file.ts";
import { type Draft, emptyWorld } from "../../../src/state/documents/world.ts";
import { flush } from "../../kernel/store/changing.ts";
import { test } from "../../support/sim.ts";
import {
  changesIn,
  changesOf,
  contentOf,
  dashboard,
  fileOf,
  folderWith,
  isSealed,
  newFolder,
  open,
  openedStores,
  project,
  read,
  seedWorld,
  user,
} from "./world-fixture.ts";

afterEach(() => {
  vi.useRealTimers();
  for (const worlds of openedStores()) worlds.close();
});

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

  test("change edits documents, returns what the edit returns, and look-ups follow", async () => {
    const worlds = await open(options());
    const added = worlds.change((draft) => {
      draft.put("projects", { ...project(1, "one"), api_key: "phc_new" });
      return draft.put("projects", project(3, "three"));
    });
    expect(added).toEqual(project(3, "three"));
    expect(worlds.projectByKey("phc_new")?.id).toBe(1);
    expect(worlds.projectByKey("phc_one")).toBeUndefined();
    expect(worlds.projectById(3)?.name).toBe("three");
    expect(worlds.get("projects", 3)).toBe(added);
    expect(worlds.current.projects.map((it) => it.id)).toEqual([1, 2, 3]);
  });

  test("an edit sees what it did, and lists that were read before stay as they were", async () => {
    const worlds = await open(options());
    const before = worlds.current.users;
    worlds.change((draft) => {
      draft.put("users", user(1));
      expect(worlds.get("users", 1)).toEqual(user(1));
      draft.put("users", user(2));
      draft.remove("users", 1);
      draft.remove("users", 7);
      expect(worlds.current.users).toEqual([user(2)]);
      draft.put("users", user(1));
      draft.put("users", user(2, "Ann"));
    });
    expect(worlds.current.users).toEqual([user(2, "Ann"), user(1)]);
    expect(before).toEqual([]);
  });

  test("versions grow with each change of the collection", async () => {
    const worlds = await open(options());
    const versions = () => [worlds.versionOf("users"), worlds.versionOf("projects")];
    const seen = [versions()];
    worlds.change((draft) => draft.put("users", user(1)));
    seen.push(versions());
    worlds.change((draft) => draft.remove("users", 1));
    seen.push(versions());
    worlds.replacing(seedWorld()).take();
    seen.push(versions());
    const [start, put, removed, replaced] = seen.map(([users, projects]) => ({ users, projects }));
    expect(put?.users).toBeGreaterThan(Number(start?.users));
    expect(removed?.users).toBeGreaterThan(Number(put?.users));
    expect(removed?.projects).toBe(start?.projects);
    expect(replaced?.projects).toBeGreaterThan(Number(removed?.projects));
  });

  test("replace puts another document in its place", async () => {
    const worlds = await open(options());
    worlds.replacing({ ...emptyWorld(), projects: [project(9, "nine")] }).take();
    expect(worlds.current.projects).toHaveLength(1);
    expect([worlds.projectById(1), worlds.projectByKey("phc_nine")?.id]).toEqual([undefined, 9]);
    worlds.change((draft) => draft.put("projects", project(1, "one")));
    expect(worlds.current.projects.map((it) => it.id)).toEqual([9, 1]);
  });

  const other = project(3, "three");
  const sameKey = { ...other, api_key: "phc_one" };
  test.each([
    ["api_key", sameKey, 'projects "one" (1) and "three" (3) have the same api_key "phc_one"'],
    ["id", project(1, "three"), 'projects "one" (1) and "three" (1) have the same id 1'],
  ])("a world with the same %s in two projects is refused, and nothing changes", async (_what, it, message) => {
    const worlds = await open(options());
    expect(() => worlds.replacing({ ...seedWorld(), projects: [project(1, "one"), it] })).toThrow(message);
    expect(worlds.current).toEqual(seedWorld());
    expect(worlds.projectByKey("phc_one")?.id).toBe(1);
  });

  test("a world with the same id twice in a collection is refused", async () => {
    const worlds = await open(options());
    const twice = { ...seedWorld(), users: [user(1), user(2), user(1)] };
    expect(() => worlds.replacing(twice)).toThrow('two documents of "users" have the same id 1');
    await expect(open({ seedWorld: () => twice })).rejects.toThrow("the same id 1");
  });

  const clashes: [name: string, edit: (draft: Draft) => void][] = [
    ["a new project with a known key", (draft) => draft.put("projects", sameKey)],
    [
      "all projects with one key",
      (draft) => {
        for (const it of seedWorld().projects) draft.put("projects", { ...it, api_key: "phc_same" });
      },
    ],
    [
      "a key that is taken twice, then let go once",
      (draft) => {
        draft.put("projects", sameKey);
        draft.put("projects", { ...project(4, "four"), api_key: "phc_one" });
        draft.put("projects", other);
      },
    ],
  ];
  test.each(clashes)("%s: refused, and nothing changes", async (_name, edit) => {
    const worlds = await open(options());
    expect(() => worlds.change(edit)).toThrow(/^projects ".*" \(\d\) have the same api_key "phc_(one|same)"$/);
    expect(worlds.current).toMatchObject({ projects: seedWorld().projects });
    expect(["phc_one", "phc_two", "phc_same"].map((key) => worlds.projectByKey(key)?.id)).toEqual([1, 2, undefined]);
    worlds.change((draft) => draft.put("projects", other));
    expect(worlds.projectByKey("phc_three")?.id).toBe(3);
  });

  test("keys may change hands within a change", async () => {
    const worlds = await open(options());
    worlds.change((draft) => {
      draft.put("projects", { ...project(1, "one"), api_key: "phc_two" });
      draft.put("projects", { ...project(2, "two"), api_key: "phc_one" });
    });
    worlds.change((draft) => {
      draft.put("projects", { ...other, api_key: "phc_one" });
      draft.remove("projects", 2);
      draft.put("projects", { ...project(4, "four"), api_key: "phc_two" });
      draft.put("projects", project(4, "four"));
    });
    const owners = ["phc_one", "phc_two", "phc_four"].map((key) => worlds.projectByKey(key)?.id);
    expect(owners).toEqual([3, 1, 4]);
  });

  const fails =
    (edit: (draft: Draft) => void): ((draft: Draft) => void) =>
    (draft) => {
      edit(draft);
      throw new Error("no");
    };
  const failures: [name: string, edit: (draft: Draft) => void][] = [
    ["nothing", () => {}],
    ["a new document", (draft) => draft.put("users", user(9))],
    ["a replaced document", (draft) => draft.put("users", user(2, "Ann"))],
    ["a removed document", (draft) => draft.remove("users", 2)],
    [
      "all of it, again and again",
      (draft) => {
        draft.put("users", user(9));
        draft.put("users", user(1, "Ann"));
        draft.remove("users", 2);
        draft.put("users", user(2, "back"));
        draft.remove("users", 9);
        draft.put("users", user(10));
        draft.remove("users", 1);
        draft.put("projects", project(7, "seven"));
        draft.remove("projects", 1);
        draft.put("dashboards", dashboard(1));
      },
    ],
  ];
  test.each(failures)("a change that fails after %s leaves no trace", async (_name, edit) => {
    const worlds = await open({
      ...options(),
      seedWorld: () => ({ ...seedWorld(), users: [user(1), user(2), user(3)] }),
    });
    const { sequences: _, ...before } = contentOf(worlds);
    expect(() => worlds.change(fails(edit))).toThrow("no");
    expect(worlds.current).toMatchObject(before);
    expect(worlds.current.users).toEqual(before.users);
    expect(worlds.current.projects).toEqual(before.projects);
    expect([9, 10].map((id) => worlds.get("users", id))).toEqual([undefined, undefined]);
    expect(worlds.get("users", 2)).toEqual(user(2));
    expect([worlds.projectByKey("phc_one")?.id, worlds.projectByKey("phc_seven")]).toEqual([1, undefined]);
  });

  test("a draft is of use only within its change, and changes do not nest", async () => {
    const worlds = await open(options());
    const draft = worlds.change((it) => it);
    expect(() => draft.put("users", user(1))).toThrow("a draft is of use only while `change` runs");
    expect(() => draft.nextId("users")).toThrow("a draft is of use only while `change` runs");
    expect(() => worlds.change(() => worlds.change(() => 1))).toThrow("a change within a change");
    expect(worlds.change(() => 2)).toBe(2);
  });

  test("numbers are never used again", async () => {
    const worlds = await open({
      ...options(),
      seedWorld: () => ({
        ...seedWorld(),
        sequences: { cohorts: 40 },
        dashboards: [dashboard(3, [8, 5]), dashboard(2)],
      }),
    });
    const next = (name: Parameters<Draft["nextId"]>[0]) => worlds.change((draft) => draft.nextId(name));
    expect([next("dashboards"), next("dashboards"), next("users"), next("projects")]).toEqual([4, 5, 1, 3]);
    expect([next("tiles"), next("texts"), next("cohorts")]).toEqual([9, 81, 41]);
    worlds.change((draft) => draft.put("dashboards", dashboard(3, [20])));
    worlds.change((draft) => draft.remove("dashboards", 3));
    worlds.change((draft) => draft.put("users", user(12)));
    worlds.change((draft) => draft.remove("users", 12));
    expect([next("tiles"), next("texts"), next("dashboards"), next("users")]).toEqual([21, 201, 6, 13]);
    expect(() =>
      worlds.change((draft) => {
        draft.put("users", user(draft.nextId("users")));
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(next("users")).toBeGreaterThan(13);
  });

  test("numbers of documents that went before anyone asked are not used, either", async () => {
    const seeded = { ...seedWorld(), dashboards: [dashboard(3, [8]), dashboard(2)] };
    const worlds = await open({ ...options(), seedWorld: () => seeded });
    worlds.change((draft) => draft.put("dashboards", dashboard(3)));
    worlds.change((draft) => draft.remove("dashboards", 3));
    const numbers = worlds.change((draft) => (["dashboards", "tiles", "texts"] as const).map(draft.nextId));
    expect(numbers).toEqual([4, 9, 81]);
  });
});

describe("world.json", () => {
  test("has a document a line, and the seal as its last key", async ({ folder }) => {
    (await open({ folder })).close();
    const { sealed, ...rest } = read(folder);
    expect(rest).toEqual(seedWorld());
    expect(Object.keys(read(folder)).at(-1)).toBe("sealed");
    expect(sealed).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const lines = readFileSync(fileOf(folder), "utf8").split("\n");
    expect(lines.slice(0, 3)).toEqual(["{", '  "version": 3,', '  "sequences": {},']);
    expect(lines).toContain(`    ${JSON.stringify(project(2, "two"))}`);
    expect(readdirSync(folder)).toEqual(["world.json"]);
    expect(statSync(fileOf(folder)).mode & 0o777).toBe(0o600);
  });

  test("is read again instead of the seed", async ({ folder }) => {
    const worlds = await open({ folder });
    worlds.change((draft) => draft.put("projects", project(3, "three")));
    const before = contentOf(worlds);
    worlds.close();
    const again = await open({ folder, seedWorld: emptyWorld });
    expect(again.current).toEqual(before);
    expect(again.projectById(3)?.name).toBe("three");
  });

  test("numbers outlive a restart and what they were given to", async ({ folder }) => {
    const worlds = await open({ folder });
    const id = worlds.change((draft) => draft.put("users", user(draft.nextId("users"))).id);
    worlds.change((draft) => draft.remove("users", id));
    worlds.close();
    const again = await open({ folder });
    expect(again.change((draft) => draft.nextId("users"))).toBe(id + 1);
  });

  test("changes within 50 ms are written together, without being asked", async ({ folder }) => {
    vi.useFakeTimers();
    const worlds = await open({ folder });
    worlds.change((draft) => draft.put("projects", project(3, "three")));
    vi.advanceTimersByTime(49);
    expect(readdirSync(folder)).toEqual([]);
    worlds.change((draft) => draft.put("projects", project(4, "four")));
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    await vi.waitFor(() => expect(read(folder).projects).toHaveLength(4), 15_000);
    expect(isSealed(folder)).toBe(true);
  });

  test("no one waits for the document of a new folder: it can be made again", async ({ folder }) => {
    const worlds = await open({ folder });
    flush(worlds);
    expect(readdirSync(folder)).toEqual([]);
    worlds.close();
    expect(read(folder).projects).toHaveLength(2);
  });

  test("what cannot be written waits, and is reported when no one asked for it", async ({ folder }) => {
    const notices: string[] = [];
    vi.useFakeTimers();
    const worlds = await open({ folder, onNotice: (text) => notices.push(text) });
    mkdirSync(`${fileOf(folder)}.tmp`);
    mkdirSync(changesOf(folder));
    worlds.change((draft) => draft.put("users", user(1)));
    await vi.advanceTimersByTimeAsync(50);
    expect(notices).toEqual([expect.stringMatching(/^world\.json could not be written: /)]);
    expect(() => flush(worlds)).toThrow("EISDIR");
    expect(() => worlds.close()).toThrow("EISDIR");
    rmSync(changesOf(folder), { recursive: true });
    flush(worlds);
    expect(changesIn(folder)).toHaveLength(1);
    rmSync(`${fileOf(folder)}.tmp`, { recursive: true });
    worlds.close();
    expect(read(folder).users).toEqual([user(1)]);
    expect(readdirSync(folder)).toEqual(["world.json"]);
  });

  test("nothing is written after the end", async ({ folder }) => {
    vi.useFakeTimers();
    const worlds = await open({ folder });
    worlds.close();
    const text = readFileSync(fileOf(folder), "utf8");
    worlds.change((draft) => draft.put("users", user(1)));
    vi.runAllTimers();
    worlds.close();
    expect(readFileSync(fileOf(folder), "utf8")).toBe(text);
    expect(readdirSync(folder)).toEqual(["world.json"]);
  });

  test("another layout is not an edit that matters", async () => {
    const folder = folderWith(JSON.stringify(seedWorld(), null, "\t").replaceAll("\n", "\r\n"));
    expect((await open({ folder })).current).toEqual(seedWorld());
  });

  test.each([
    ["without a seal", (text: string) => text.replace(/,\s*"sealed": .*/, "")],
    ["with a stale seal", (text: string) => text.replace('"name":"one"', '"name":"edited"')],
    ["with a stale seal and the same size", (text: string) => text.replace('"name":"one"', '"name":"two"')],
    ["with something behind the seal", (text: string) => `${text}\n`],
    ["with an old seal", (text: string) => text.replace(/"sealed": .*/, '"seal": "abc"')],
    ["with a senseless seal", (text: string) => text.replace(/"sealed": .*/, '"sealed": {"sections": 7}')],
    ["with a byte order mark", (text: string) => `\ufeff${text.replace('"name":"one"', '"name":"edited"')}`],
  ])("a file edited by hand, %s, is checked, taken over and sealed anew", async (_name, edit) => {
    const folder = newFolder();
    (await open({ folder })).close();
    writeFileSync(fileOf(folder), edit(readFileSync(fileOf(folder), "utf8")));
    expect(isSealed(folder)).toBe(false);
    const worlds = await open({ folder });
    expect(worlds.projectById(1)?.name).toMatch(/one|edited|two/);
    worlds.close();
    expect(isSealed(folder)).toBe(true);
    expect(worlds.current).toMatchObject({ projects: [{ id: 1 }, { id: 2 }] });
  });

  test("numbers that a hand used are not given out again", async () => {
    const folder = folderWith(JSON.stringify({ ...seedWorld(), sequences: { users: 3 }, users: [user(7)] }));
    const worlds = await open({ folder });
    expect(worlds.change((draft) => draft.nextId("users"))).toBe(8);
  });

  const world = (change: object): string => JSON.stringify({ ...seedWorld(), ...change }, null, 2);
  const damages: [name: string, text: string, message: string | RegExp, line?: number][] = [
    ["empty", "", "world.json:1:1 is not JSON", 1],
    ["cut off", '{\n  "version": 2,\n  "pro', "world.json:3:3 is not JSON", 3],
    ["with a comma too many", '{\n  "version": 2,\n}', "world.json:3:1 is not JSON", 3],
    ["a list", "[]", "world.json does not hold a JSON object"],
    ["without a version", "{}", 'world.json: "version" must be a whole number from 1 to 3'],
    ["with an odd version", world({ version: "1" }), '"version" must be a whole number from 1 to 3'],
    ["of a newer version", world({ version: 4 }), "it has version 4, this phx-sim knows versions up to 3"],
    ["with a wrong type", world({ projects: 7 }), /world\.json: projects: .*expected array/],
    [
      "with a wrong type deep inside",
      world({ projects: [{ ...project(1, "one"), id: "1" }] }),
      /world\.json: projects\[0\]\.id: .*expected number/,
    ],
    ["with several faults", world({ projects: 7, resources: 7 }), /\(and 1 more\)$/],
    [
      "with a key twice",
      world({ projects: [project(1, "one"), { ...project(2, "two"), api_key: "phc_one" }] }),
      'world.json: projects "one" (1) and "two" (2) have the same api_key "phc_one"',
    ],
    [
      "with an id twice",
      world({ users: [user(1), user(1)] }),
      'world.json: two documents of "users" have the same id 1',
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

  test("a directory instead of the file", async ({ folder }) => {
    mkdirSync(fileOf(folder));
    await expect(open({ folder })).rejects.toThrow("world.json cannot be opened: it is a directory");
  });
});

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

test.each([
  [[], "the document"],
  [["projects"], "projects"],
  [["projects", 0, "api_key"], "projects[0].api_key"],
])("path %j", (path, text) => expect(placeText(path)).toBe(text));
