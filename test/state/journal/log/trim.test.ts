import { copyFileSync, existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../../src/index.ts";
import { readKeep } from "../../../../src/state/journal/log/trim.ts";
import { newFolder } from "../../../support/folder.ts";

const folder = newFolder();

let folders = 0;
const fresh = () => join(folder, String(++folders));
const traffic = (data: string) => join(data, "traffic.ndjson");

const megabyte = 1024 * 1024;
const pad = "x".repeat(10_000);

/** Captures events, one a request, of about 10 KB each. */
async function capture(sim: Sim, count: number, more: object = {}): Promise<void> {
  const send = (i: number) =>
    sim.handle(
      new Request("http://sim/capture/", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          ...{ api_key: "phc_sim_default", event: `e${i % 3}`, distinct_id: "u", properties: { i, pad } },
          ...more,
        }),
      }),
    );
  for (let i = 0; i < count; i += 20) await Promise.all(Array.from({ length: 20 }, (_, j) => send(i + j)));
}

interface Counts {
  events: number;
  evicted_requests: number;
}

const countsOf = async (sim: Sim) => (await sim.info()).counts as unknown as Counts;

const until = async (holds: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
};

const isTrimmed = (sim: Sim) => async () => (await countsOf(sim)).evicted_requests > 0;

/** True if no further trimming is due: the first may be over before the last capture is written. */
const isSmall = (data: string) => () => statSync(traffic(data)).size <= megabyte;

/** All there is to see, by the lists of the control API. */
async function seen(sim: Sim) {
  const events = await sim.events.list({ limit: 10_000 });
  const requests = await sim.requests.list();
  return {
    seqs: events.map((it) => it.seq),
    values: events.map((it) => it.properties.i),
    requests: requests.map((it) => it.n),
  };
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe("a data folder with keep: 1MB", () => {
  test("lets go of the oldest requests; the others keep their numbers, also after a restart", async () => {
    const data = fresh();
    const first = await startSim({ data, keep: "1MB" });
    await capture(first, 200);
    await until(isTrimmed(first));
    await until(isSmall(data));
    const before = await seen(first);
    expect(before.seqs).toEqual(range(before.seqs[0] ?? 0, 200));
    expect(before.values).toEqual(before.seqs.map((seq) => seq - 1));
    expect(before.requests).toEqual([...before.seqs].reverse());
    expect(before.seqs.length).toBeGreaterThan(50);
    const counts = await countsOf(first);
    expect(counts).toMatchObject({ events: before.seqs.length, evicted_requests: 200 - before.seqs.length });
    await first.close();

    const second = await startSim({ data, keep: "1MB" });
    expect(await seen(second)).toEqual(before);
    expect(await countsOf(second)).toEqual(counts);
    await capture(second, 20);
    const after = await seen(second);
    expect(after.seqs.slice(-20)).toEqual(range(201, 220));
    await second.close();
  });

  test("is trimmed again and again, and its index is made anew from the file", async () => {
    const data = fresh();
    const sim = await startSim({ data, keep: "1MB" });
    for (let round = 0; round < 3; round++) {
      const { evicted_requests: before } = await countsOf(sim);
      await capture(sim, 200);
      await until(async () => (await countsOf(sim)).evicted_requests > before);
    }
    await until(isSmall(data));
    const before = await seen(sim);
    expect(before.seqs.at(-1)).toBe(600);
    await sim.close();
    for (const index of ["requests.idx", "events.idx"]) rmSync(join(data, index));
    const reopened = await startSim({ data });
    expect(await seen(reopened)).toEqual(before);
    await reopened.close();
  });

  test("what comes while it is trimmed is kept", async () => {
    const data = fresh();
    const sim = await startSim({ data, keep: "1MB" });
    let isOver = false;
    let sent = 0;
    const sending = (async () => {
      while (!isOver) {
        await capture(sim, 20);
        sent += 20;
      }
    })();
    await until(async () => (await countsOf(sim)).evicted_requests > 200);
    isOver = true;
    await sending;
    await sim.close();
    const reopened = await startSim({ data });
    const { seqs } = await seen(reopened);
    expect(seqs).toEqual(range(seqs[0] ?? 0, sent));
    await reopened.close();
  });

  test("an event with the uuid of one that was let go is kept; one that is there is a duplicate", async () => {
    const data = fresh();
    const sim = await startSim({ data, keep: "1MB" });
    const uuid = (digit: string) => `0190aaaa-0000-7000-8000-00000000000${digit}`;
    await capture(sim, 20, { uuid: uuid("1") });
    await capture(sim, 200);
    await until(isTrimmed(sim));
    await capture(sim, 20, { uuid: uuid("1") });
    await capture(sim, 20, { uuid: uuid("2") });
    const reasons = (await sim.events.list({ since: 220 })).map((it) => it.reason);
    expect(reasons.filter((it) => it === null)).toHaveLength(2);
    await sim.close();
  });

  test("a restored snapshot shows what is left of it", async () => {
    const data = fresh();
    const sim = await startSim({ data, keep: "1MB" });
    await capture(sim, 20);
    await sim.snapshot("early");
    await capture(sim, 200);
    await until(isTrimmed(sim));
    await sim.restore("early");
    expect((await seen(sim)).seqs).toEqual([]);
    await capture(sim, 20);
    expect((await seen(sim)).seqs).toEqual(range(221, 240));
    await sim.close();
    const reopened = await startSim({ data });
    expect((await seen(reopened)).seqs).toEqual(range(221, 240));
    await reopened.close();
  });

  test("an index from before the cut, which a kill leaves behind, is made anew", async () => {
    const data = fresh();
    const indexes = ["requests.idx", "events.idx"];
    const first = await startSim({ data });
    // Many events in few requests: whole pages of events are let go, and no page of requests.
    const event = { event: "e", distinct_id: "u", properties: {} };
    for (let i = 0; i < 25; i++) {
      const batch = Array.from({ length: 1000 }, (_, j) => ({ ...event, properties: { i: i * 1000 + j } }));
      await first.handle(
        new Request("http://sim/batch/", {
          method: "POST",
          body: JSON.stringify({ api_key: "phc_sim_default", batch }),
        }),
      );
    }
    await first.close();
    for (const it of indexes) copyFileSync(join(data, it), join(data, `${it}.before`));
    const second = await startSim({ data, keep: "1MB" });
    await until(isTrimmed(second));
    await until(isSmall(data));
    const before = await seen(second);
    expect(before.seqs[0]).toBeGreaterThan(16_384);
    await second.close();
    for (const it of indexes) copyFileSync(join(data, `${it}.before`), join(data, it));
    const third = await startSim({ data });
    expect(await seen(third)).toEqual(before);
    expect(await countsOf(third)).toMatchObject({ events: before.seqs.length });
    await third.close();
  });

  test("a copy that a crash left behind is no harm", async () => {
    const data = fresh();
    const sim = await startSim({ data, keep: "1MB" });
    await capture(sim, 60);
    const before = await seen(sim);
    await sim.close();
    copyFileSync(join(data, "events.idx"), `${traffic(data)}.trimmed.tmp`);
    const reopened = await startSim({ data, keep: "1MB" });
    expect(await seen(reopened)).toEqual(before);
    expect(existsSync(`${traffic(data)}.trimmed.tmp`)).toBe(false);
    await reopened.close();
  });
});

test("keep: 1h lets go of what is older by the sim's clock", async () => {
  const data = fresh();
  const sim = await startSim({ data, keep: "1h", clock: "2026-01-01T00:00:00Z" });
  await capture(sim, 20);
  await sim.clock.advance("2h");
  await capture(sim, 20);
  await until(isTrimmed(sim));
  expect((await seen(sim)).seqs).toEqual(range(21, 40));
  await sim.close();
});

test("without keep nothing is let go", async () => {
  const data = fresh();
  const sim = await startSim({ data });
  await capture(sim, 120);
  expect((await seen(sim)).seqs).toEqual(range(1, 120));
  expect((await countsOf(sim)).evicted_requests).toBe(0);
  await sim.close();
});

test.each([
  ["2GB", { bytes: 2048 * megabyte }],
  ["1.5 gb", { bytes: 1536 * megabyte }],
  ["1MB", { bytes: megabyte }],
  ["7d", { ms: 7 * 86_400_000 }],
  ["12h", { ms: 43_200_000 }],
  ["2GB,7d", { bytes: 2048 * megabyte, ms: 7 * 86_400_000 }],
  ["7d, 2GB", { bytes: 2048 * megabyte, ms: 7 * 86_400_000 }],
  ["0.5MB", undefined],
  ["0d", undefined],
  ["2GB,1GB", undefined],
  ["7d,1d", undefined],
  ["2 TB", undefined],
  ["2", undefined],
  ["", undefined],
])("keep %j is %j", (text, expected) => {
  expect(readKeep(text)).toEqual(expected);
});

test.each(["much", "1KB", ""])("a sim with keep %j does not start", async (keep) => {
  await expect(startSim({ keep })).rejects.toMatchObject({
    code: "option",
    message: expect.stringContaining("keep"),
    hint: expect.stringContaining("2GB"),
  });
});

describe("events cleared with compact", () => {
  const clear = (sim: Sim, query: string) =>
    sim.handle(new Request(`http://sim/__sim/events?${query}`, { method: "DELETE" }));

  test("free their space, and numbers go on", async () => {
    const data = fresh();
    const sim = await startSim({ data });
    await capture(sim, 100);
    expect(await (await clear(sim, "compact=true")).json()).toEqual({ cleared: 100, cursor: 100 });
    expect(statSync(traffic(data)).size).toBeLessThan(1_000);
    await capture(sim, 20);
    expect((await seen(sim)).seqs).toEqual(range(101, 120));
    await sim.close();
    const reopened = await startSim({ data });
    expect((await seen(reopened)).seqs).toEqual(range(101, 120));
    await reopened.close();
  });

  test("are refused for one project, and while a snapshot needs them", async () => {
    const sim = await startSim({ data: fresh() });
    await capture(sim, 20);
    const project = await clear(sim, "compact=true&project=1");
    expect(project.status).toBe(400);
    await sim.snapshot("needed");
    const refused = await clear(sim, "compact=true");
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({
      detail: expect.stringContaining("needed"),
      hint: expect.stringContaining("snapshots"),
    });
    expect((await seen(sim)).seqs).toEqual(range(1, 20));
    await sim.close();
  });
});
