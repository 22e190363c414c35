import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Damage } from "../../../src/kernel/store/damage.ts";
import { unsealed } from "../../../src/kernel/store/lines.ts";
import { ChangesFile, changeLine } from "../../../src/state/documents/store/changes-file.ts";
import { type Dashboard, emptyWorld, type User, type World } from "../../../src/state/documents/world.ts";
import type { WorldStore } from "../../../src/state/documents/world-store.ts";
import { flush, putInPlace } from "../../kernel/store/changing.ts";
import { fc } from "../../support/chance.ts";
import {
  changesIn,
  changesOf,
  contentOf,
  dashboard,
  fileOf,
  newFolder,
  open,
  openedStores,
  project,
  read,
  seedWorld,
  user,
} from "./world-fixture.ts";

// Nothing is written but by flush, unless a test lets time pass: then a store can be left as a kill would leave it.
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  for (const worlds of openedStores()) worlds.close();
});

/** Forgets what was opened: no one closes it any more. */
const kill = (): void => void openedStores();

/** A folder that holds the seed, as a clean end leaves it. */
async function seededFolder(seed: () => World = seedWorld): Promise<string> {
  const folder = newFolder();
  (await open({ folder, seedWorld: seed })).close();
  return folder;
}

const addUser = (worlds: WorldStore, id: number): User => worlds.change((draft) => draft.put("users", user(id)));

describe("the changes file", () => {
  test("has a line for each change, and is gone after a clean end", async () => {
    const folder = await seededFolder();
    const worlds = await open({ folder });
    addUser(worlds, 1);
    worlds.change((draft) => {
      draft.put("users", user(draft.nextId("users")));
      draft.remove("users", 1);
    });
    worlds.change(() => "nothing");
    worlds.change((draft) => draft.nextId("users"));
    expect(existsSync(changesOf(folder))).toBe(false);
    flush(worlds);
    flush(worlds);
    expect(changesIn(folder).map((line) => JSON.parse(unsealed(Buffer.from(line)) ?? ""))).toEqual([
      { steps: [{ put: "users", document: user(1) }], sequences: { users: 1 } },
      {
        steps: [
          { put: "users", document: user(2) },
          { remove: "users", id: 1 },
        ],
        sequences: { users: 2 },
      },
      { steps: [], sequences: { users: 3 } },
    ]);
    expect(statSync(changesOf(folder)).mode & 0o777).toBe(0o600);
    expect(read(folder).users).toEqual([]);
    worlds.close();
    expect(existsSync(changesOf(folder))).toBe(false);
    expect(read(folder).users).toEqual([user(2)]);
  });

  test("a failed change leaves no line", async () => {
    const folder = await seededFolder();
    const worlds = await open({ folder });
    expect(() =>
      worlds.change((draft) => {
        draft.put("users", user(1));
        throw new Error("no");
      }),
    ).toThrow("no");
    flush(worlds);
    expect(existsSync(changesOf(folder))).toBe(false);
  });

  test("a document that JSON cannot hold fails its change", async () => {
    const folder = await seededFolder();
    const worlds = await open({ folder });
    const settings: Record<string, never> = {};
    Object.assign(settings, { itself: settings });
    expect(() =>
      worlds.change((draft) => [
        draft.put("users", user(1)),
        draft.put("projects", { ...project(3, "three"), settings }),
      ]),
    ).toThrow(/circular/);
    expect(worlds.current).toMatchObject({ users: [], projects: seedWorld().projects });
    flush(worlds);
    expect(existsSync(changesOf(folder))).toBe(false);
  });

  test("is applied to world.json after a kill, and emptied in time", async () => {
    const folder = await seededFolder();
    const worlds = await open({ folder });
    addUser(worlds, 1);
    flush(worlds);
    const before = contentOf(worlds);
    kill();
    const again = await open({ folder });
    expect(again.current).toEqual(before);
    expect(changesIn(folder)).toHaveLength(1);
    vi.advanceTimersByTime(50);
    vi.useRealTimers();
    await vi.waitFor(() => expect(changesIn(folder)).toEqual([]), 15_000);
    expect(read(folder).users).toEqual([user(1)]);
  });

  test("a change that is made while world.json is written is kept", async () => {
    const folder = await seededFolder();
    const worlds = await open({ folder });
    addUser(worlds, 1);
    flush(worlds);
    vi.advanceTimersByTime(50);
    // The draft waits for the disk now.
    addUser(worlds, 2);
    flush(worlds);
    await vi.waitFor(() => expect(read(folder).users).toEqual([user(1)]), { interval: 1, timeout: 60_000 });
    kill();
    expect(changesIn(folder).at(-1)).toContain(user(2).uuid);
    expect((await open({ folder })).current.users).toEqual([user(1), user(2)]);
  });

  describe("while a large world.json is written in pieces", () => {
    /** A store whose world.json is being written: the first piece is in the draft, the rest is not. */
    async function writing(): Promise<{ folder: string; worlds: WorldStore }> {
      const large = Array.from({ length: 1_000 }, (_, i) => dashboard(i + 1, [], "x".repeat(1_000)));
      const folder = await seededFolder(() => ({ ...seedWorld(), dashboards: large }));
      const worlds = await open({ folder });
      addUser(worlds, 1);
      flush(worlds);
      vi.advanceTimersByTime(50);
      vi.useRealTimers();
      expect(statSync(`${fileOf(folder)}.tmp`).size).toBeLessThan(600_000);
      return { folder, worlds };
    }
    const written = (folder: string) =>
      vi.waitFor(() => expect(read(folder).users).toEqual([user(1)]), { interval: 1, timeout: 60_000 });

    test("a change is in the changes file only", async () => {
      const { folder, worlds } = await writing();
      worlds.change((draft) => [draft.put("users", user(2)), draft.remove("dashboards", 1_000)]);
      flush(worlds);
      await written(folder);
      expect(read(folder).dashboards).toHaveLength(1_000);
      kill();
      const { users, dashboards } = (await open({ folder })).current;
      expect([users, dashboards.length]).toEqual([[user(1), user(2)], 999]);
    });

    test("a kill leaves the old file", async () => {
      const { folder } = await writing();
      const copy = newFolder();
      cpSync(folder, copy, { recursive: true });
      expect(read(copy).users).toEqual([]);
      expect((await open({ folder: copy })).current).toMatchObject({ users: [user(1)] });
      await written(folder);
    });

    test.each([
      [
        "close",
        ({ worlds }: { worlds: WorldStore }) => {
          worlds.change((draft) => draft.remove("dashboards", 1));
          worlds.close();
        },
        [user(1)],
      ],
      [
        "a switch",
        ({ worlds, folder }: { worlds: WorldStore; folder: string }) =>
          putInPlace(worlds.replacing({ ...seedWorld(), users: [user(9)] }), folder),
        [user(9)],
      ],
    ])("%s discards the rest", async (_name, act, users) => {
      const started = await writing();
      act(started);
      const after = readFileSync(fileOf(started.folder));
      // A discarded write goes on for one turn.
      await setImmediate();
      await setImmediate();
      expect(readFileSync(fileOf(started.folder)).equals(after)).toBe(true);
      expect(read(started.folder).users).toEqual(users);
      started.worlds.close();
      expect((await open({ folder: started.folder })).current.users).toEqual(users);
    });
  });

  test("lines are let go from the front", () => {
    const path = join(newFolder(), "lines");
    const changes = new ChangesFile(path);
    changes.dropBefore(0);
    changes.append("one\n");
    const end = changes.size;
    changes.append("two\n");
    changes.dropBefore(end);
    changes.append("three\n");
    expect(readFileSync(path, "utf8")).toBe("two\nthree\n");
    changes.dropBefore(changes.size);
    expect([readFileSync(path, "utf8"), changes.size]).toEqual(["", 0]);
    changes.remove();
    expect(existsSync(path)).toBe(false);
  });

  test("a write that fails is tried again with the next", async () => {
    const folder = await seededFolder();
    const worlds = await open({ folder });
    mkdirSync(changesOf(folder));
    addUser(worlds, 1);
    expect(() => flush(worlds)).toThrow("EISDIR");
    addUser(worlds, 2);
    expect(() => flush(worlds)).toThrow("EISDIR");
    rmSync(changesOf(folder), { recursive: true });
    flush(worlds);
    kill();
    expect((await open({ folder })).current.users).toEqual([user(1), user(2)]);
  });

  test("what the disk refused is taken back, in memory and in the file", async () => {
    const folder = await seededFolder();
    const worlds = await open({ folder });
    addUser(worlds, 1);
    flush(worlds);
    const seen = () => {
      // Numbers that a refused change took stay used.
      const { sequences: _, ...documents } = contentOf(worlds);
      return [documents, readFileSync(changesOf(folder), "utf8")];
    };
    const before = seen();
    worlds.change((draft) => {
      draft.put("users", user(1, "Ann"));
      draft.put("users", user(2));
      draft.remove("projects", 1);
    });
    worlds.change((draft) => draft.remove("users", 1));
    worlds.unit.write();
    worlds.unit.rollBack();
    expect(seen()).toEqual(before);
    expect(worlds.projectByKey("phc_one")?.id).toBe(1);
    addUser(worlds, 3);
    flush(worlds);
    kill();
    expect((await open({ folder })).current.users).toEqual([user(1), user(3)]);
  });

  test("a new folder's first line holds the world, whatever the seed is next time", async () => {
    const folder = newFolder();
    const worlds = await open({ folder });
    addUser(worlds, 1);
    flush(worlds);
    addUser(worlds, 2);
    flush(worlds);
    const before = contentOf(worlds);
    kill();
    expect(changesIn(folder)).toHaveLength(2);
    expect(existsSync(fileOf(folder))).toBe(false);
    expect((await open({ folder, seedWorld: emptyWorld })).current).toEqual(before);
  });

  test("without world.json it is applied to the seed, and that is reported", async () => {
    const folder = await seededFolder();
    addUser(await open({ folder }), 1);
    for (const worlds of openedStores()) flush(worlds);
    rmSync(fileOf(folder));
    const notices: string[] = [];
    const worlds = await open({ folder, onNotice: (text) => notices.push(text) });
    expect(worlds.current).toEqual({ ...seedWorld(), sequences: { users: 1 }, users: [user(1)] });
    expect(notices).toEqual([expect.stringContaining("world.json is missing")]);
    worlds.close();
    expect(read(folder).users).toEqual([user(1)]);
  });

  test("a kill between the new world.json and the emptied changes file does no harm", async () => {
    const folder = await seededFolder(() => ({ ...seedWorld(), users: [user(1), user(2)] }));
    const worlds = await open({ folder });
    worlds.change((draft) => draft.remove("users", 1));
    worlds.change((draft) => draft.put("users", user(3)));
    worlds.change((draft) => draft.remove("users", 3));
    worlds.change((draft) => draft.put("users", user(2, "Ann")));
    flush(worlds);
    const lines = readFileSync(changesOf(folder));
    worlds.close();
    const before = contentOf(worlds);
    writeFileSync(changesOf(folder), lines);
    expect((await open({ folder })).current).toEqual(before);
  });

  test("an edit by hand and lines that were left behind come together", async () => {
    const folder = await seededFolder();
    addUser(await open({ folder }), 1);
    for (const worlds of openedStores()) flush(worlds);
    const text = readFileSync(fileOf(folder), "utf8");
    writeFileSync(fileOf(folder), text.replace('"name":"two"', '"name":"by hand"'));
    const worlds = await open({ folder });
    expect(worlds.projectById(2)?.name).toBe("by hand");
    expect(worlds.current.users).toEqual([user(1)]);
  });

  test("a kill at every byte leaves the state after the last whole line", async () => {
    const origin = await seededFolder();
    const worlds = await open({ folder: origin });
    const states = [contentOf(worlds)];
    const acts: (() => unknown)[] = [
      () => addUser(worlds, 1),
      () => worlds.change((draft) => draft.put("users", user(2, "é ☃ \u2028 \ud800"))),
      () => worlds.change((draft) => [draft.remove("users", 1), draft.put("users", user(draft.nextId("users")))]),
      () => worlds.change((draft) => draft.remove("projects", 1)),
      () => worlds.change((draft) => draft.put("projects", { ...project(3, "three"), api_key: "phc_other" })),
    ];
    for (const act of acts) {
      act();
      flush(worlds);
      states.push(contentOf(worlds));
    }
    const lines = readFileSync(changesOf(origin));
    kill();
    const folder = newFolder();
    for (let length = 0; length <= lines.length; length++) {
      cpSync(fileOf(origin), fileOf(folder));
      const left = lines.subarray(0, length);
      writeFileSync(changesOf(folder), left);
      const notices: string[] = [];
      const again = await open({ folder, onNotice: (text) => notices.push(text) });
      const whole = left.toString("latin1").split("\n").length - 1;
      expect([length, contentOf(again)]).toEqual([length, states[whole]]);
      const isTorn = length > 0 && left.at(-1) !== 0x0a;
      expect(notices.map((it) => it.replace(/^.*: (cut off).*/, "$1"))).toEqual(isTorn ? ["cut off"] : []);
      kill();
    }
  });

  const lineOf = (document: User) => changeLine([{ put: "users", document }], () => ({}));
  const good = lineOf(user(1));
  test.each([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["an unknown line", "{}"],
    ["an unknown collection", '{"steps":[{"put":"nothing","document":{"id":1}}],"sequences":{}}'],
    ["a name of the language", '{"steps":[{"put":"constructor","document":{"id":1}}],"sequences":{}}'],
    ["a document without an id", '{"steps":[{"put":"users","document":{}}],"sequences":{}}'],
    ["a removal of no one", '{"steps":[{"remove":"users"}],"sequences":{}}'],
    ["odd sequences", '{"steps":[],"sequences":{"users":"1"}}'],
    ["no sequences", '{"steps":[]}'],
    ["another version's world", '{"replace":{"version":1}}'],
    ["a part of a world", '{"replace":{"version":2}}'],
    ["worlds that clash", JSON.stringify({ replace: { ...seedWorld(), users: [user(1), user(1)] } })],
    ["a wrong checksum", good.trimEnd().replace('"id":1', '"id":7')],
  ])("%s in the middle costs its change and is reported", async (_name, line) => {
    const folder = await seededFolder();
    const other = lineOf(user(2));
    writeFileSync(changesOf(folder), `${good}\n${line}\n${other}`);
    const found: Damage[] = [];
    const worlds = await open({ folder, onDamage: (it) => found.push(it) });
    expect(found).toEqual([
      { file: changesOf(folder), line: 3, detail: expect.stringMatching(/^this line is damaged \(.+\): the change/) },
    ]);
    expect(worlds.current.users).toEqual([user(1), user(2)]);
  });

  test("a file of something else is refused, and left as it is", async () => {
    const folder = await seededFolder();
    const text = '{"kind":"clear","project":1}\n';
    writeFileSync(changesOf(folder), text);
    await expect(open({ folder })).rejects.toThrow("world.changes.ndjson:1: it is not a changes file of phx-sim");
    expect(readFileSync(changesOf(folder), "utf8")).toBe(text);
  });

  test("a directory in its place", async () => {
    const folder = await seededFolder();
    mkdirSync(changesOf(folder));
    await expect(open({ folder })).rejects.toThrow("world.changes.ndjson cannot be opened: it is a directory");
  });
});

type Step =
  | { kind: "user"; id: number; name: string }
  | { kind: "new"; tiles: number }
  | { kind: "dashboard"; id: number; tiles: number[] }
  | { kind: "remove"; from: "users" | "dashboards"; id: number };
type Act =
  | { kind: "change"; steps: Step[]; fails: boolean }
  | { kind: "flush" | "close" | "kill" | "replace" | "look" };

const id = fc.integer({ min: 1, max: 12 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("user" as const), id, name: fc.string() }),
  fc.record({ kind: fc.constant("new" as const), tiles: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ kind: fc.constant("dashboard" as const), id, tiles: fc.array(id, { maxLength: 2 }) }),
  fc.record({ kind: fc.constant("remove" as const), from: fc.constantFrom("users", "dashboards"), id }),
);
const change = fc.record({
  kind: fc.constant("change" as const),
  steps: fc.array(step, { maxLength: 5 }),
  fails: fc.integer({ max: 4, min: 0 }).map((it) => it === 0),
});
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: change },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Act>(
      ...(["flush", "flush", "flush", "close", "kill", "replace", "look", "look"] as const).map((kind) => ({ kind })),
    ),
  },
);

/** The same world kept in the plainest way, and every number that was ever given out or seen. */
interface Model {
  users: User[];
  dashboards: Dashboard[];
}

function put<T extends { id: number }>(list: readonly T[], document: T): T[] {
  return list.some((it) => it.id === document.id)
    ? list.map((it) => (it.id === document.id ? document : it))
    : [...list, document];
}

const without = <T extends { id: number }>(list: readonly T[], gone: number): T[] =>
  list.filter((it) => it.id !== gone);

test("two thousand random acts: the store says what a plain model says", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 100, maxLength: 100 }), async (acts) => {
      const folder = newFolder();
      const seed = (): World => ({ ...seedWorld(), users: [user(2)], dashboards: [dashboard(5, [4])] });
      let worlds = await open({ folder, seedWorld: seed });
      let model: Model = { users: seed().users, dashboards: seed().dashboards };
      /** What a kill leaves. */
      let onDisk = model;
      /** Numbers that were given out or seen: ever, by changes that succeeded, and by those that are on disk. */
      let given = new Set<string>();
      let done = new Set<string>();
      let kept = new Set<string>();
      let highest = 0;

      function take(sequence: "dashboards" | "tiles", number: number): number {
        expect([given.has(`${sequence}:${number}`), number > 0]).toEqual([false, true]);
        given.add(`${sequence}:${number}`);
        return number;
      }

      function applied(steps: Step[], fails: boolean): Model {
        let next = model;
        worlds.change((draft) => {
          for (const it of steps) {
            if (it.kind === "user") {
              next = { ...next, users: put(next.users, draft.put("users", user(it.id, it.name))) };
            } else if (it.kind === "remove") {
              draft.remove(it.from, it.id);
              next = { ...next, [it.from]: without<User | Dashboard>(next[it.from], it.id) };
            } else {
              const isNew = it.kind === "new";
              const number = isNew ? take("dashboards", draft.nextId("dashboards")) : it.id;
              const tiles = isNew
                ? Array.from({ length: it.tiles }, () => take("tiles", draft.nextId("tiles")))
                : it.tiles;
              for (const tile of tiles) given.add(`tiles:${tile}`);
              given.add(`dashboards:${number}`);
              next = { ...next, dashboards: put(next.dashboards, draft.put("dashboards", dashboard(number, tiles))) };
            }
            expect(worlds.current).toMatchObject(next);
          }
          if (fails) throw new Error("as asked");
        });
        done = new Set(given);
        return next;
      }

      for (const it of acts) {
        if (it.kind === "change") {
          try {
            model = applied(it.steps, it.fails);
          } catch (error) {
            expect(error).toEqual(new Error("as asked"));
          }
        } else if (it.kind === "flush") {
          flush(worlds);
          onDisk = model;
          kept = new Set(done);
        } else if (it.kind === "replace") {
          highest++;
          model = { users: [user(highest)], dashboards: [] };
          putInPlace(worlds.replacing({ ...seedWorld(), users: model.users }), folder);
          for (const numbers of [given, done, kept]) numbers.clear();
          onDisk = model;
        } else if (it.kind === "close" || it.kind === "kill") {
          if (it.kind === "close") {
            worlds.close();
            onDisk = model;
            kept = done;
          } else kill();
          model = onDisk;
          // The numbers of changes that failed, or never reached the disk, are free again.
          given = new Set(kept);
          done = new Set(kept);
          worlds = await open({ folder, seedWorld: seed });
        }
        // Not after each act: reading parses, and what was not read has to work as well.
        if (it.kind === "look") {
          const { users, dashboards } = contentOf(worlds);
          expect({ users, dashboards }).toEqual(model);
          for (let n = 1; n <= 12; n++) {
            expect(worlds.get("users", n)).toEqual(model.users.find((one) => one.id === n));
          }
        }
      }
      const { users, dashboards } = contentOf(worlds);
      expect({ users, dashboards }).toEqual(model);
      worlds.close();
      // A change that failed may have used numbers up; no one has to know that after a restart.
      const { sequences: _, ...before } = contentOf(worlds);
      expect((await open({ folder })).current).toMatchObject(before);
      kill();
    }),
    { numRuns: 20 },
  );
});
