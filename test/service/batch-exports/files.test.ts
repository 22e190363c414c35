import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { folderFiles, memoryFiles } from "../../../src/service/batch-exports/files.ts";
import type { ExportFiles } from "../../../src/service/batch-exports/ports.ts";
import { keysOf, safeKey, targetOf } from "../../../src/service/batch-exports/targets.ts";
import { anEvent, anS3, first, hour, linesIn, stage, start } from "./stage.ts";

const interval = { data_interval_start: "2026-03-04T09:00:00Z", data_interval_end: "2026-03-04T10:00:00Z" };
const name = "2026-03-04T09:00:00+00:00-2026-03-04T10:00:00+00:00.jsonl";

describe("keys", () => {
  const keyFor = (prefix: string) => keysOf(targetOf(anS3({ prefix })), interval, "events").file(0);

  test.each([
    ["", name],
    ["/", name],
    ["a", `a/${name}`],
    ["a/b/", `a/b/${name}`],
    ["/a//b/./", `a/b/${name}`],
    ["{year}/{month}/{day}/{hour}-{minute}-{second}/{table}", `2026/03/04/10-00-00/events/${name}`],
    ["{data_interval_start}", `2026-03-04T09:00:00+00:00/${name}`],
    ["{{year}}", `{year}/${name}`],
    ["..", `__/${name}`],
    ["../../../etc", `__/__/__/etc/${name}`],
    ["a/../../b", `a/__/__/b/${name}`],
    ["a\u0000b\nc", `a_b_c/${name}`],
    ["..\\..\\windows", `.._.._windows/${name}`],
    ["C:\\x", `C:_x/${name}`],
    ["größer 🙂", `größer 🙂/${name}`],
  ])("prefix %j", (prefix, key) => {
    expect(keyFor(prefix)).toBe(key);
  });

  test.each([
    ["an open brace", "{"],
    ["a closed one", "}"],
    ["text behind an open one", "a{b"],
    ["no name", "{}"],
    ["an unknown variable", "{colour}"],
    ["a conversion", "{year!r}"],
    ["a part that is too long", "x".repeat(256)],
    ["too many parts", "x/".repeat(600)],
  ])("%s is refused", (_, prefix) => {
    expect(() => keyFor(prefix)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });

  test("an interval from the beginning has no start", () => {
    const from = { ...interval, data_interval_start: null };
    expect(keysOf(targetOf(anS3()), from, "persons").file(0)).toBe("None-2026-03-04T10:00:00+00:00.jsonl");
  });

  test("no key leaves its folder", () => {
    for (const key of ["../a", "/a", "a/../../..", "..", "././../x", "a\u0000/../b"]) {
      expect(safeKey(key).split("/")).not.toContain("..");
      expect(safeKey(key)).not.toMatch(/^\/|\0/);
    }
  });
});

describe("files", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "phx-exports-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const kinds: [string, () => ExportFiles][] = [
    ["in a folder", () => folderFiles(join(folder, "exports"))],
    ["in memory", () => memoryFiles()],
  ];

  async function begun(files: ExportFiles, key: string, content: string) {
    const run = await files.begin("export", "run");
    const file = await run.create(key);
    await file.write(Buffer.from(content));
    await file.write(Buffer.from("."));
    await file.close();
    return run;
  }

  describe.each(kinds)("%s", (_, open) => {
    test("are seen once they are published", async () => {
      const files = open();
      const run = await begun(files, "a/b.txt", "hello");
      expect(await files.list("export", "run")).toEqual([]);
      expect(await files.read("export/run/a/b.txt")).toBeUndefined();
      await run.publish();
      expect(await files.list("export", "run")).toEqual([{ path: "export/run/a/b.txt", bytes: 6 }]);
      expect(String(await files.read("export/run/a/b.txt"))).toBe("hello.");
    });

    test("that were discarded are gone", async () => {
      const files = open();
      const run = await files.begin("export", "run");
      const file = await run.create("a.txt");
      await file.write(Buffer.from("half"));
      await run.discard();
      expect(await files.list("export", "run")).toEqual([]);
    });

    test("of an earlier try are removed when the run begins again", async () => {
      const files = open();
      await (await begun(files, "old.txt", "old")).publish();
      await begun(files, "half.txt", "half");
      expect(await files.list("export", "run")).toEqual([]);
      await (await begun(files, "new.txt", "new")).publish();
      expect(await files.list("export", "run")).toEqual([{ path: "export/run/new.txt", bytes: 4 }]);
    });

    test("can all be removed", async () => {
      const files = open();
      await (await begun(files, "a.txt", "a")).publish();
      await files.clear();
      expect(await files.list("export", "run")).toEqual([]);
      expect(await files.read("export/run/a.txt")).toBeUndefined();
    });
  });

  test("a folder refuses what would leave it", async () => {
    const files = folderFiles(join(folder, "exports"));
    await expect(files.begin("..", "..")).rejects.toThrow("is not below");
    await expect(files.read("../secret")).rejects.toThrow("is not below");
    const run = await files.begin("export", "run");
    await expect(run.create("../../x")).rejects.toThrow("is not below");
  });

  test("memory lets the oldest files go", async () => {
    const files = memoryFiles(10);
    for (const run of ["a", "b", "c"]) {
      const begunRun = await files.begin("export", run);
      const file = await begunRun.create("x");
      await file.write(Buffer.from("1234"));
      await begunRun.publish();
    }
    const listed = await Promise.all(["a", "b", "c"].map((run) => files.list("export", run)));
    expect(listed.map((it) => it.length)).toEqual([0, 1, 1]);
  });

  test.each(["../../..", "/etc", "a/../../../b", "{year}/..", "a\u0000b"])(
    "a run with the prefix %j writes below its own folder only",
    async (prefix) => {
      const files = folderFiles(join(folder, "data", "exports"));
      const setting = await stage({
        events: [anEvent(1, start)],
        batchExport: { destination: anS3({ prefix }) },
        ports: { files },
      });
      await setting.advance(hour);
      const run = first(setting.runs());
      expect(run).toMatchObject({ status: "Completed", records_completed: 1 });
      const key = first(await setting.keysOf(run.id));
      expect(linesIn(await setting.contentOf(run.id, key))).toHaveLength(1);
      const all = await readdir(folder, { recursive: true, withFileTypes: true });
      const written = all.filter((it) => it.isFile()).map((it) => join(it.parentPath, it.name));
      expect(written).toEqual([join(folder, "data", "exports", run.batch_export, run.id, ...key.split("/"))]);
    },
  );

  test("what a killed process left half-written is replaced, and never listed", async () => {
    const files = folderFiles(join(folder, "exports"));
    const left = await files.begin("export", "run");
    const half = await left.create("a.jsonl");
    await half.write(Buffer.from('{"half":'));
    await half.close();
    const afterwards = folderFiles(join(folder, "exports"));
    expect(await afterwards.list("export", "run")).toEqual([]);
    await (await begun(afterwards, "a.jsonl", "whole")).publish();
    expect(await readdir(join(folder, "exports", "export"))).toEqual(["run"]);
    expect(String(await afterwards.read("export/run/a.jsonl"))).toBe("whole.");
  });
});
