import { appendFileSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { emptyWorld } from "../../src/model/world.ts";
import { createDocument } from "../../src/store/world/document.ts";
import { sealedText } from "../../src/store/world/layout.ts";
import { openSealed } from "../../src/store/world-file.ts";
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
    writeFileSync(fileOf(folder), Buffer.concat(sealedText(sections, 0)));
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

  /** Larger than what is read at once when a file is opened. */
  async function largeFolder(): Promise<string> {
    const folder = newFolder();
    const dashboards = Array.from({ length: 300 }, (_, i) => dashboard(i + 1, [i + 1], "x".repeat(1_000)));
    (await open({ folder, seedWorld: () => ({ ...seedWorld(), dashboards }) })).close();
    return folder;
  }

  test("a large one is not read as a whole, nor is what was not asked for parsed", async () => {
    const folder = await largeFolder();
    const sealed = openSealed(fileOf(folder), emptyWorld().version);
    if (!sealed) throw new Error("it is sealed");
    const document = createDocument(sealed.read);
    expect(document.view.projects).toEqual(seedWorld().projects);
    document.put("users", user(1));
    document.replay({ put: "dashboards", document: dashboard(1) });
    document.replay({ remove: "dashboards", id: 2 });
    expect(document.isParsed("dashboards")).toBe(false);
    expect(document.get("dashboards", 1)).toEqual(dashboard(1));
    expect(document.list("dashboards")).toHaveLength(299);
    sealed.keep();
    sealed.release();
    expect(JSON.parse(sealed.read("dashboards").toString())).toHaveLength(300);
  });

  test("a large one that was copied is known by its digest", async () => {
    const folder = await largeFolder();
    utimesSync(fileOf(folder), 1, 1);
    expect(isSealed(folder)).toBe(true);
    const worlds = await open({ folder });
    expect(worlds.get("dashboards", 300)).toMatchObject({ id: 300 });
  });

  test("a large one that was edited is checked", async () => {
    const folder = await largeFolder();
    const text = readFileSync(fileOf(folder), "utf8");
    writeFileSync(fileOf(folder), text.replace('"pinned":false', '"pinned":"yes"'.slice(0, 14)));
    expect(isSealed(folder)).toBe(false);
    await expect(open({ folder })).rejects.toThrow(/dashboards\[0\]\.pinned: .*expected boolean/);
  });

  test("a large one that is edited while it is open is not mixed up with what it was", async () => {
    const folder = await largeFolder();
    const worlds = await open({ folder });
    expect(worlds.current.projects).toHaveLength(2);
    appendFileSync(fileOf(folder), "\n");
    expect(() => worlds.current.dashboards).toThrow("world.json was changed while it was being read");
    worlds.close();
  });

  test("a large one is in memory soon after opening, whoever edits the file then", async () => {
    const folder = await largeFolder();
    vi.useFakeTimers();
    const worlds = await open({ folder });
    vi.advanceTimersByTime(250);
    writeFileSync(fileOf(folder), "edited");
    expect(worlds.current.dashboards).toHaveLength(300);
    worlds.change((draft) => draft.put("users", user(1)));
    worlds.close();
    expect(read(folder)).toMatchObject({ users: [user(1)] });
  });

  test("of another version is read as a whole", async () => {
    const folder = folderHolding("[]");
    expect(openSealed(fileOf(folder), emptyWorld().version)).toBeDefined();
    expect(openSealed(fileOf(folder), emptyWorld().version + 1)).toBeUndefined();
  });
});
