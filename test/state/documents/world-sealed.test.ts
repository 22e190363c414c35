import { readFileSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Damage } from "../../../src/kernel/store/damage.ts";
import { type Migration, migrations } from "../../../src/state/documents/store/migrations.ts";
import { readWorldFile, writeWorldFile } from "../../../src/state/documents/store/world-file.ts";
import type { User, World } from "../../../src/state/documents/world.ts";
import { rewriteLine } from "../../support/rewrite-line.ts";
import { dashboard, fileOf, isSealed, newFolder, open, openedStores, read, seedWorld, user } from "./world-fixture.ts";

afterEach(() => {
  vi.useRealTimers();
  for (const worlds of openedStores()) worlds.close();
});

describe("a sealed world.json", () => {
  /** A sealed world whose user has an id that no check would accept. */
  function unchecked(): World {
    const odd: object = { ...user(1), id: "one" };
    return { ...seedWorld(), users: [odd as User] };
  }

  test("is not checked", async () => {
    const folder = newFolder();
    writeWorldFile(fileOf(folder), unchecked());
    expect((await open({ folder })).current.users).toMatchObject([{ id: "one" }]);
    writeFileSync(fileOf(folder), readFileSync(fileOf(folder), "utf8").replace("phc_two", "phc_2"));
    await expect(open({ folder })).rejects.toThrow("world.json: users[0].id: ");
  });

  test("of an earlier version of phx-sim, with sections in its seal, is not checked either", async () => {
    const folder = newFolder();
    writeWorldFile(fileOf(folder), unchecked());
    const text = readFileSync(fileOf(folder), "utf8");
    writeFileSync(fileOf(folder), text.replace(/"sha256":"\w+"/, '$&,"sections":{"version":[14,15]}'));
    expect(isSealed(folder)).toBe(true);
    expect((await open({ folder })).current.users).toMatchObject([{ id: "one" }]);
  });

  test("what was read is written as it was", async () => {
    const folder = newFolder();
    const dashboards = [dashboard(1, [1, 2]), dashboard(2), dashboard(3, [], 'a "quoted" {name},\n\u2028☃\ud800')];
    (await open({ folder, seedWorld: () => ({ ...seedWorld(), dashboards }) })).close();
    const text = () => readFileSync(fileOf(folder), "utf8").replace(/"sealed": .*/, "");
    const before = text();
    const worlds = await open({ folder });
    expect(worlds.current.dashboards).toEqual(dashboards);
    worlds.change((draft) => draft.put("dashboards", dashboard(2, [4])));
    worlds.change((draft) => draft.put("dashboards", dashboard(2)));
    worlds.close();
    const grown = '"sequences": {"dashboards":2,"tiles":4,"texts":40},';
    expect(text()).toBe(before.replace('"sequences": {},', grown));
  });

  async function largeFolder(): Promise<string> {
    const folder = newFolder();
    const dashboards = Array.from({ length: 300 }, (_, i) => dashboard(i + 1, [i + 1], "x".repeat(1_000)));
    (await open({ folder, seedWorld: () => ({ ...seedWorld(), dashboards }) })).close();
    return folder;
  }

  test("an edit after the opening does not change what was opened", async () => {
    const folder = await largeFolder();
    const worlds = await open({ folder });
    writeFileSync(fileOf(folder), "edited");
    expect(worlds.current.dashboards).toHaveLength(300);
    worlds.change((draft) => draft.put("users", user(1)));
    worlds.close();
    expect(read(folder)).toMatchObject({ users: [user(1)] });
  });

  describe("that was damaged", () => {
    const line = (folder: string, part: string) =>
      readFileSync(fileOf(folder), "utf8")
        .split("\n")
        .findIndex((it) => it.includes(part)) + 1;

    test.each([
      ["not JSON", '"id":7,', '"id"?7,', /^\d+ this line is damaged: the document that it held is lost$/],
      ["not a document", '"pinned":false', '"pinned":"yes"', /^null dashboards\[6\]\.pinned: .*expected boolean/],
      ["a copy of another", '"id":7,', '"id":8,', /^null dashboards: a second document with the id or key 8 is lost/],
    ])("%s: a line costs its document, a copy of the file is kept", async (_name, from, to, message) => {
      const folder = await largeFolder();
      rewriteLine(fileOf(folder), line(folder, '"id":7,"project"'), (text) => text.replace(from, to));
      const before = readFileSync(fileOf(folder));
      const found: string[] = [];
      const onDamage = (it: Damage) => found.push(`${it.line} ${it.detail}`);
      const worlds = await open({ folder, onDamage });
      expect(found).toEqual([expect.stringMatching(message)]);
      expect(worlds.current.dashboards).toHaveLength(299);
      expect(worlds.current.projects).toHaveLength(2);
      worlds.close();
      expect(readFileSync(`${fileOf(folder)}.damaged`)).toEqual(before);
      expect(isSealed(folder)).toBe(true);
    });

    test("the first line of a list costs nothing else", async () => {
      const folder = await largeFolder();
      rewriteLine(fileOf(folder), line(folder, '"dashboards": ['), () => '  "dashbo\u0000');
      const found: unknown[] = [];
      const worlds = await open({ folder, onDamage: ({ line: at }) => found.push(at) });
      expect(found).toHaveLength(1);
      expect(worlds.current.dashboards).toHaveLength(300);
    });
  });

  test("of another version is not taken as it is", () => {
    const folder = newFolder();
    writeWorldFile(fileOf(folder), unchecked());
    const isKept = (steps: readonly Migration[]) => readWorldFile(fileOf(folder), steps)?.isSealed;
    expect(isKept(migrations)).toBe(true);
    expect(isKept([...migrations, (old) => old])).toBe(false);
  });
});
