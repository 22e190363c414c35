import { describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import type { Histogram } from "../../../src/state/journal/histogram-answer.ts";

async function send(url: string, apiKey: string, batch: readonly object[]): Promise<void> {
  const body = JSON.stringify({ api_key: apiKey, batch });
  expect((await fetch(`${url}/batch/`, { method: "POST", body })).status).toBe(200);
}

async function histogram(url: string, query: Record<string, string | number> = {}): Promise<Histogram> {
  const parameters = new URLSearchParams(Object.entries(query).map(([key, it]): [string, string] => [key, `${it}`]));
  for (;;) {
    const response = await fetch(`${url}/__sim/feed/histogram?${parameters}`);
    expect(response.status).toBe(200);
    const answer = (await response.json()) as Histogram;
    if (!answer.counting) return answer;
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, it) => all + it, 0);
const sums = ({ kept, warned, dropped }: Histogram) => [sum(kept), sum(warned), sum(dropped)];

/** The buckets that have events: their start, and the number. */
const filled = ({ from, step, kept, warned, dropped }: Histogram) =>
  kept.flatMap((it, i) => {
    const count = it + (warned[i] ?? 0) + (dropped[i] ?? 0);
    return count === 0 ? [] : [[from + i * step, count]];
  });

const start = "2026-01-01T12:00:00.000Z";
const begin = Date.parse(start);

/** Ten batches, a minute apart: one dropped and one warned event in each. */
async function filledSim() {
  const sim = await startSim({ clock: { now: start, frozen: true } });
  for (let minute = 0; minute < 10; minute++) {
    await send(sim.url, sim.apiKey, [
      { event: "paid", distinct_id: "anna", properties: { amount: minute } },
      { event: "$pageview", distinct_id: "anna" },
      { event: "odd", distinct_id: "anna", properties: { $process_person_profile: "perhaps" } },
      { event: "nobody's" },
    ]);
    await sim.clock.advance("1m");
  }
  return sim;
}

describe("the histogram", () => {
  test("has each event once, in the bucket of its arrival", async () => {
    await using sim = await filledSim();
    const whole = await histogram(sim.url);
    expect(whole.complete).toBe(true);
    expect(sums(whole)).toEqual([20, 10, 10]);
    expect(whole.kept.length).toBeLessThanOrEqual(120);
    const places = filled(whole);
    expect(places.map(([, count]) => count)).toEqual(new Array(10).fill(4));
    for (const [i, [from = 0]] of places.entries()) {
      const at = begin + i * 60_000;
      expect(at).toBeGreaterThanOrEqual(from);
      expect(at).toBeLessThan(from + whole.step);
    }
    expect(sums(await histogram(sim.url, { buckets: 1 }))).toEqual([20, 10, 10]);
    expect((await histogram(sim.url, { buckets: 1 })).kept).toEqual([20]);
  });

  test("follows filter, project and range", async () => {
    await using sim = await filledSim();
    expect(sums(await histogram(sim.url, { filter: "event:paid" }))).toEqual([10, 0, 0]);
    expect(sums(await histogram(sim.url, { filter: "prop.amount:>=7" }))).toEqual([3, 0, 0]);
    expect(sums(await histogram(sim.url, { filter: "is:sdk" }))).toEqual([10, 0, 0]);
    expect(sums(await histogram(sim.url, { project: 999 }))).toEqual([0, 0, 0]);
    const from = begin + 2 * 60_000;
    const to = begin + 5 * 60_000;
    expect(sums(await histogram(sim.url, { from, to }))).toEqual([6, 3, 3]);
    const term = `time:${new Date(from).toISOString()}..${new Date(to).toISOString()}`;
    expect(sums(await histogram(sim.url, { filter: term }))).toEqual([6, 3, 3]);
    expect(sums(await histogram(sim.url, { filter: `-${term}` }))).toEqual([14, 7, 7]);
  });

  test("grows: buckets are merged, and nothing is counted twice", async () => {
    await using sim = await filledSim();
    const before = await histogram(sim.url);
    await sim.clock.advance("30d");
    await send(sim.url, sim.apiKey, [{ event: "late", distinct_id: "u" }]);
    const after = await histogram(sim.url);
    expect(after.step).toBeGreaterThan(before.step);
    expect(after.kept.length).toBeLessThanOrEqual(120);
    expect(sums(after)).toEqual([21, 10, 10]);
    await sim.events.clear();
    expect(sums(await histogram(sim.url))).toEqual([0, 0, 0]);
  });

  test.each([
    ["buckets=0", "?buckets"],
    ["buckets=501", "?buckets"],
    ["filter=time:x..y", "?filter"],
    ["filter=time:2026-01-01", "?filter"],
    ["from=-1", "?from"],
  ])("%s is refused", async (query, pointer) => {
    await using sim = await startSim();
    const response = await fetch(`${sim.url}/__sim/feed/histogram?${query}`);
    expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ pointer })]);
  });
});
