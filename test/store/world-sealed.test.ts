import { readFileSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { emptyWorld } from "../../src/model/world.ts";
import type { Damage } from "../../src/store/damage.ts";
import { createDocument } from "../../src/store/world/document.ts";
import { sealedText } from "../../src/store/world/layout.ts";
import { openSealed } from "../../src/store/world-file.ts";
import { rewriteLine } from "../support/rewrite-line.ts";
import { dashboard, fileOf, newFolder, open, openedStores, read, seedWorld, user } from "./world-fixture.ts";

afterEach(() => {
  vi.useRealTimers();
  for (const worlds of openedStores()) worlds.close();
});

const isSealed = (folder: string): boolean => openSealed(fileOf(folder), emptyWorld().version) !== undefined;

describe("a sealed world.json", () => {
  /** Sealed, with this text in the place of the dashboards. */
  function folderHolding(dashboards: string): string {
    const sections = createDocument({ ...seedWorld(), users: [user(1)] })
      .sections()
      .map(([key, value]) => [key, key === "dashboards" ? [Buffer.from(dashboards)] : value] as const);
    const folder = newFolder();
    writeFileSync(fileOf(folder), Buffer.concat(sealedText(sections)));
    return folder;
  }

  test("is not checked, and each collection is parsed when it is first read", async () => {
    const worlds = await open({ folder: folderHolding("sealed, so nobody looks") });
    worlds.change((draft) => draft.put("users", user(draft.nextId("users"))));
    expect(worlds.current.projects).toHaveLength(2);
    expect(worlds.get("users", 2)).toEqual(user(2));
    expect(() => worlds.current.dashboards).toThrow(SyntaxError);
  });

  test("what was not read is copied when it is written again", async () => {
    const folder = folderHolding("[\n    odd\n  ]");
    const worlds = await open({ folder });
    worlds.change((draft) => draft.remove("users", 1));
    worlds.close();
    expect(readFileSync(fileOf(folder), "utf8")).toContain('"dashboards": [\n    odd\n  ],');
    expect(isSealed(folder)).toBe(true);
  });

  test("what was read is written as it was", async () => {
    const folder = newFolder();
    const dashboards = [
      dashboard(1, [1, 2]),
      dashboard(2),
      dashboard(3, [], 'a "quoted" {name},\n\u2028☃\ud800'),
    ];
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

  test("what was not asked for is not parsed", async () => {
    const folder = await largeFolder();
    const sealed = openSealed(fileOf(folder), emptyWorld().version);
    if (!sealed) throw new Error("it is sealed");
    const document = createDocument(sealed);
    expect(document.view.projects).toEqual(seedWorld().projects);
    document.put("users", user(1));
    document.replay({ put: "dashboards", document: dashboard(1) });
    document.replay({ remove: "dashboards", id: 2 });
    expect(document.isParsed("dashboards")).toBe(false);
    expect(document.get("dashboards", 1)).toEqual(dashboard(1));
    expect(document.list("dashboards")).toHaveLength(299);
  });

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
      [
        "not a document",
        '"pinned":false',
        '"pinned":"yes"',
        /^null dashboards\[6\]\.pinned: .*expected boolean/,
      ],
      [
        "a copy of another",
        '"id":7,',
        '"id":8,',
        /^null dashboards: a second document with the id or key 8 is lost/,
      ],
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

  test("of another version is read as a whole", async () => {
    const folder = folderHolding("[]");
    expect(openSealed(fileOf(folder), emptyWorld().version)).toBeDefined();
    expect(openSealed(fileOf(folder), emptyWorld().version + 1)).toBeUndefined();
  });
});
