import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder, startReady } from "../../support/phx-sim.ts";

const folder = newFolder();

const batches = 2_000;
const perBatch = 100;

const uuid = (batch: number, i: number): string =>
  `00000000-0000-7000-8000-${String(batch * perBatch + i).padStart(12, "0")}`;

const bodyOf = (batch: number): string =>
  JSON.stringify({
    api_key: "phc_sim_default",
    batch: Array.from({ length: perBatch }, (_, i) => ({
      event: `e${i % 3}`,
      distinct_id: `user-${batch % 50}`,
      uuid: uuid(batch, i),
      properties: { batch, $set: { last: batch } },
    })),
  });

/** Sends batches over four connections until none is left or the sim is gone; returns those that were answered. */
async function sendAll(url: string, waiting: number[], onAnswer: (answered: number) => void): Promise<Set<number>> {
  const answered = new Set<number>();
  const worker = async () => {
    for (let batch = waiting.pop(); batch !== undefined; batch = waiting.pop()) {
      const response = await fetch(`${url}/batch/`, { method: "POST", body: bodyOf(batch) }).catch(() => undefined);
      if (response?.status !== 200) return;
      answered.add(batch);
      onAnswer(answered.size);
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  return answered;
}

/** Every kept event's batch, by pages. */
async function storedBatches(url: string): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (let since = 0, more = true; more; ) {
    const response = await fetch(`${url}/__sim/events?outcome=kept&limit=10000&since=${since}`);
    const page = (await response.json()) as {
      events: { properties: { batch: number } }[];
      cursor: number;
      more: boolean;
    };
    for (const { properties } of page.events) counts.set(properties.batch, (counts.get(properties.batch) ?? 0) + 1);
    since = page.cursor;
    more = page.more;
  }
  return counts;
}

const start = () => startReady(["--quiet", "--data", folder], { cwd: folder, isOwn: true });

test("200,000 events, kill -9 in the middle: every answered event is there", async () => {
  const all = Array.from({ length: batches }, (_, i) => i);
  const first = await start();
  const answered = await sendAll(first.ready.url, [...all], (count) => {
    if (count === batches / 2) first.sim.child.kill("SIGKILL");
  });
  await first.sim.ended;
  expect(answered.size).toBeGreaterThanOrEqual(batches / 2);
  expect(answered.size).toBeLessThan(batches);

  const second = await start();
  const found = await storedBatches(second.ready.url);
  expect([...answered].filter((batch) => found.get(batch) !== perBatch)).toEqual([]);

  // What was not answered is sent again, as an SDK would: what had been written is not counted twice.
  await sendAll(
    second.ready.url,
    all.filter((batch) => !answered.has(batch)),
    () => {},
  );
  const complete = await storedBatches(second.ready.url);
  expect(complete.size).toBe(batches);
  expect([...complete.values()].every((count) => count === perBatch)).toBe(true);

  const person = await fetch(`${second.ready.url}/__sim/persons?distinct_id=user-7`);
  expect(await person.json()).toMatchObject({ persons: [{ properties: { last: expect.any(Number) } }] });
  await second.sim.signal("SIGTERM");
  const lines = readFileSync(join(folder, "traffic.ndjson"), "utf8").trimEnd().split("\n");
  expect(lines.every((line) => JSON.parse(line))).toBe(true);
});
