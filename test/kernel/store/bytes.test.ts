import { expect, test } from "vitest";
import { MemoryBytes } from "../../../src/kernel/store/bytes.ts";

/** Text of this size that differs at every place. */
const textOf = (size: number): string =>
  Array.from({ length: size / 8 }, (_, i) => String(i).padStart(8, "0")).join("");

test("bytes in memory are read back across blocks, after the first were let go, and after a cut", () => {
  const bytes = new MemoryBytes();
  const text = textOf(1_000_000);
  for (let at = 0; at < text.length; at += 70_000) bytes.append(Buffer.from(text.slice(at, at + 70_000)));
  const read = (from: number, to: number) => bytes.read(from, to - from).toString();
  expect(read(200_000, 900_000)).toBe(text.slice(200_000, 900_000));

  bytes.dropBefore(600_000);
  expect([bytes.start, bytes.size, bytes.length]).toEqual([600_000, 1_000_000, 400_000]);
  expect(bytes.append(Buffer.from(text))).toBe(1_000_000);
  expect(read(600_000, 2_000_000)).toBe(text.slice(600_000) + text);

  bytes.truncate(700_000);
  expect(read(0, 2_000_000)).toBe(text.slice(600_000, 700_000));
  bytes.truncate(100);
  bytes.append(Buffer.from("again"));
  expect([bytes.start, read(0, 1_000)]).toEqual([100, "again"]);
});
