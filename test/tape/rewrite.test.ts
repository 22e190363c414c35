import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { readHeader } from "../../src/tape/header.ts";
import { lockTape } from "../../src/tape/lock.ts";
import { readTape } from "../../src/tape/read.ts";
import { pruneTape, rewriteHeader } from "../../src/tape/rewrite.ts";
import { TapeError } from "../../src/tape/tape-error.ts";
import type { Exchange, RawExchange, TapeProblem } from "../../src/tape/types.ts";
import { newFolder, removeFolders } from "./har/har-files.ts";
import { rawWith, tapeOf } from "./har/tapes.ts";

afterEach(removeFolders);

const get = (path: string): RawExchange => rawWith({ url: `https://us.posthog.com${path}` });
const ten = () => Array.from({ length: 10 }, (_, n) => get(`/n/x${n}`));

async function exchangesOf(file: string): Promise<Exchange[]> {
  const found: Exchange[] = [];
  for await (const it of readTape(file, { bodies: "whole" })) found.push(it);
  return found;
}

/** Names of all files beside a tape: no draft and no lock may be left. */
const beside = (file: string): string[] => readdirSync(dirname(file)).sort();

describe("pruning", () => {
  test("keeps what is chosen, as it was and with its number", async () => {
    const file = await tapeOf(ten());
    const before = await exchangesOf(file);
    const header = await readHeader(file);
    const pruned = await pruneTape(file, ({ i }) => i % 2 === 0);
    expect(pruned).toMatchObject({ kept: 5, removed: 5, sideFiles: 0 });
    expect(pruned.after).toBeLessThan(pruned.before);
    expect(await exchangesOf(file)).toEqual(before.filter(({ i }) => i % 2 === 0));
    expect(await readHeader(file)).toEqual(header);
    expect(beside(file)).toEqual([basename(file)]);
  });

  test("each volume stays a volume, also one that is empty now", async () => {
    const file = await tapeOf(ten(), 1500);
    const files = beside(file);
    expect(files.length).toBeGreaterThan(2);
    await pruneTape(file, ({ i }) => i === 10);
    expect(beside(file)).toEqual(files);
    expect((await exchangesOf(file)).map(({ i }) => i)).toEqual([10]);
  });

  test("removes side files that nothing needs, and no others", async () => {
    const body = (char: string) => ({ body: Buffer.from(JSON.stringify({ a: char.repeat(70_000) })) });
    const file = await tapeOf([rawWith({}, body("x")), rawWith({}, body("x")), rawWith({}, body("y"))]);
    const folder = file.replace(/\.ndjson$/, ".d");
    expect(readdirSync(folder)).toHaveLength(2);
    writeFileSync(join(folder, "mine.txt"), "not a side file");
    expect(await pruneTape(file, ({ i }) => i === 2)).toMatchObject({ kept: 1, removed: 2, sideFiles: 1 });
    expect(readdirSync(folder)).toHaveLength(2);
    expect(await exchangesOf(file)).toMatchObject([{ res: { body: { json: { a: "x".repeat(70_000) } } } }]);
  });

  test("damaged lines go, and are told", async () => {
    const file = await tapeOf(ten());
    appendFileSync(file, '{"i":11,\n{"i":12');
    const problems: TapeProblem[] = [];
    await pruneTape(file, () => true, { onProblem: (it) => problems.push(it) });
    expect(problems.map(({ line }) => line)).toEqual([12, 13]);
    expect(readFileSync(file, "utf8").split("\n")).toHaveLength(12);
  });

  test("a tape that is being recorded stays as it is", async () => {
    const file = await tapeOf(ten());
    const before = readFileSync(file, "utf8");
    const unlock = lockTape(file);
    await expect(pruneTape(file, () => false)).rejects.toThrow(/is being recorded/);
    unlock();
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("when choosing fails the tape stays as it is", async () => {
    const file = await tapeOf(ten());
    const before = readFileSync(file, "utf8");
    const choose = ({ i }: Exchange): boolean => {
      if (i === 5) throw new Error("no choice");
      return false;
    };
    await expect(pruneTape(file, choose)).rejects.toThrow("no choice");
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(beside(file)).toEqual([basename(file)]);
  });

  test.each<[string, string | undefined]>([
    ["missing", undefined],
    ["no tape", "hello\n"],
    ["newer", '{"tape":2}\n'],
  ])("a file that is %s stays as it is", async (_, content) => {
    const file = join(newFolder(), "x.tape.ndjson");
    if (content !== undefined) writeFileSync(file, content);
    await expect(pruneTape(file, () => false)).rejects.toThrow(TapeError);
    expect(existsSync(file) ? readFileSync(file, "utf8") : undefined).toBe(content);
    expect(beside(file).filter((name) => name !== basename(file))).toEqual([]);
  });
});

test("a header changes, and nothing else, damaged lines neither", async () => {
  const file = await tapeOf(ten());
  appendFileSync(file, '{"i":11,');
  const [, ...rest] = readFileSync(file, "utf8").split("\n");
  await rewriteHeader(file, (header) => ({ ...header, noise: ["req.body.x", "é\u2028"] }));
  expect((await readHeader(file)).noise).toEqual(["req.body.x", "é\u2028"]);
  expect(readFileSync(file, "utf8").split("\n").slice(1)).toEqual(rest);
  expect(beside(file)).toEqual([basename(file)]);
});
