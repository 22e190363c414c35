import { expect, test } from "vitest";
import { startSim } from "../../src/sim.ts";
import { memoryBytes } from "../../src/store/bytes.ts";
import { capture } from "../damage/folder.ts";

/** Text of this size that differs at every place. */
const textOf = (size: number): string =>
  Array.from({ length: size / 8 }, (_, i) => String(i).padStart(8, "0")).join("");

test("bytes in memory are read back across blocks, after the first were let go, and after a cut", () => {
  const bytes = memoryBytes();
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

test("what memory still holds begins with a whole line: a snapshot of it is restored without damage", async () => {
  await using sim = await startSim({ keep: "1MB" });
  const note = "x".repeat(999);
  for (let i = 0; i < 1_500; i++)
    await capture(sim, { event: `e${i}`, distinct_id: "u", properties: { note } });
  const held = (await sim.events.list({ order: "asc" })).map(({ event }) => event);
  expect(held.length).toBeGreaterThan(100);
  await sim.snapshot("base");
  await sim.restore("base");
  expect((await sim.events.list({ order: "asc" })).map(({ event }) => event)).toEqual(held);
  expect(await sim.info()).toMatchObject({ damage_count: 0 });
});
