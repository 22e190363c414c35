import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import {
  DataFolderError,
  fileError,
  folderError,
  openDataFolder,
  readLocator,
} from "../../../src/kernel/store/data-folder.ts";
import { isRunning } from "../../../src/kernel/store/lock.ts";
import { newFolder } from "../../support/folder.ts";

const lockOf = (folder: string): string => join(folder, "run.json");

function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

/** The pid of a process that has ended. */
const endedPid = (): number => spawnSync(process.execPath, ["-e", ""]).pid;

describe("opening a data folder", () => {
  test("makes it, with its parents, and keeps it out of git", () => {
    const path = join(newFolder(), "a", "b");
    const folder = openDataFolder(path);
    expect(readFileSync(folder.file(".gitignore"), "utf8")).toBe("*\n");
    expect(folder.file("x.json")).toBe(join(path, "x.json"));
    folder.release();
  });

  test("a relative path becomes absolute", () => {
    const path = join(newFolder(), "data");
    const folder = openDataFolder(relative(process.cwd(), path));
    expect(folder.path).toBe(path);
    folder.release();
  });

  test("a folder that holds something else gets no .gitignore, and a changed one is left alone", () => {
    const path = newFolder();
    writeFileSync(join(path, "package.json"), "{}");
    openDataFolder(path).release();
    expect(readdirSync(path)).toEqual(["package.json"]);
    writeFileSync(join(path, ".gitignore"), "mine");
    openDataFolder(path).release();
    expect(readFileSync(join(path, ".gitignore"), "utf8")).toBe("mine");
  });

  test("a file in its place, or above it", () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    expect(thrown(() => openDataFolder(file))).toMatchObject({
      name: "DataFolderError",
      message: `data folder ${file} is a file, not a directory`,
      file,
      hint: "choose another folder with --data, or use --memory",
    });
    expect(() => openDataFolder(join(file, "below"))).toThrow(/is not a directory, or lies below a file/);
  });

  test.runIf(process.platform === "linux")("a folder that cannot be written to", () => {
    // Root may write anywhere else; the kernel's own folders refuse it, too.
    expect(() => openDataFolder("/proc/self")).toThrow(
      /^data folder \/proc\/self .*(denied|cannot be created|read-only)/,
    );
  });

  test.each([
    ["EACCES", "cannot be used: permission denied"],
    ["EPERM", "cannot be used: permission denied"],
    ["EROFS", "is on a read-only file system"],
    ["ENOSPC", "cannot be written: the disk is full"],
    ["ENOENT", "cannot be created there"],
    ["EIO", "cannot be used: EIO: said the system"],
  ])("%s is reported in one line", (code, what) => {
    const error = folderError("/data", Object.assign(new Error(`${code}: said the system`), { code }));
    expect(error).toBeInstanceOf(DataFolderError);
    expect(error.message).toBe(`data folder /data ${what}`);
    expect(error.hint).toMatch(/--data|--memory/);
  });

  test.each([
    ["EACCES", "permission denied"],
    ["EISDIR", "it is a directory"],
    ["EIO", "EIO: said the system"],
  ])("%s of a file is reported in one line", (code, reason) => {
    const error = fileError("/data/x", Object.assign(new Error(`${code}: said the system`), { code }));
    expect(error.message).toBe(`/data/x cannot be opened: ${reason}`);
  });
});

describe("the lock", () => {
  test("keeps a second sim out until the first releases it", () => {
    const path = newFolder();
    const first = openDataFolder(path);
    expect(thrown(() => openDataFolder(path))).toMatchObject({
      message: `data folder ${path} is in use by pid ${process.pid}`,
      hint: "stop it, or use --data or --memory",
    });
    first.announce({ url: "http://127.0.0.1:7490", pid: 1 });
    expect(() => openDataFolder(path)).toThrow(`in use by pid ${process.pid} at http://127.0.0.1:7490`);
    first.release();
    first.release();
    expect(existsSync(lockOf(path))).toBe(false);
    openDataFolder(path).release();
  });

  test("release takes away its own lock only", () => {
    const path = newFolder();
    const first = openDataFolder(path);
    const others = JSON.stringify({ pid: endedPid() });
    writeFileSync(lockOf(path), others);
    first.release();
    first.announce({ url: "late" });
    expect(readFileSync(lockOf(path), "utf8")).toBe(others);
  });

  const stale: [name: string, content: () => string][] = [
    ["of a process that has ended", () => JSON.stringify({ pid: endedPid(), url: "http://old" })],
    ["cut off by a crash", () => '{"pid": 1'],
    ["empty", () => ""],
    ["without a pid", () => "{}"],
    ["with a pid that cannot be", () => '{"pid": -1}'],
    ["that is not an object", () => "null"],
  ];
  test.each(stale)("a lock %s is replaced", (_name, content) => {
    const path = newFolder();
    writeFileSync(lockOf(path), content());
    const folder = openDataFolder(path);
    expect(readLocator(path)?.pid).toBe(process.pid);
    folder.release();
    expect(readdirSync(path)).toEqual([]);
  });

  test.runIf(process.platform === "linux")("a pid that was given to another process is stale", () => {
    const path = newFolder();
    writeFileSync(lockOf(path), JSON.stringify({ pid: process.pid, started: "1" }));
    expect(isRunning({ pid: process.pid, started: "1" })).toBe(false);
    openDataFolder(path).release();
  });

  test("a locator without a start time counts as long as the pid runs", () => {
    expect(isRunning({ pid: process.pid })).toBe(true);
    expect(isRunning({ pid: endedPid() })).toBe(false);
  });

  test("a directory in its place is reported, not removed", () => {
    const path = newFolder();
    mkdirSync(lockOf(path));
    expect(thrown(() => openDataFolder(path))).toBeInstanceOf(DataFolderError);
    expect(existsSync(lockOf(path))).toBe(true);
  });
});

describe("the locator", () => {
  test("is what was announced, with pid and start time", () => {
    const path = newFolder();
    const folder = openDataFolder(path);
    folder.announce({ url: "http://127.0.0.1:1", project_id: 7 });
    expect(readLocator(path)).toEqual({
      url: "http://127.0.0.1:1",
      project_id: 7,
      pid: process.pid,
      lock: expect.stringMatching(/^[\da-f-]{36}$/),
      ...(process.platform === "linux" && { started: expect.stringMatching(/^\d+$/) }),
    });
    folder.release();
    expect(readLocator(path)).toBeUndefined();
  });

  test("is absent where there is no folder, or a file in its place", () => {
    const path = newFolder();
    expect(readLocator(join(path, "none"))).toBeUndefined();
    writeFileSync(join(path, "file"), "");
    expect(readLocator(join(path, "file"))).toBeUndefined();
  });
});
