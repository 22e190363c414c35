import { beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import type { EventRow, History, RequestRow } from "../../../src/state/journal/feed/feed-row.ts";
import { captureWith } from "../../support/control.ts";
import { openPage } from "../../support/feed-page.ts";
import { openSim } from "../../support/sim.ts";

const { sim, capture } = await openSim();
beforeAll(async () => {
  await capture([
    { event: "opened", distinct_id: "anna", properties: { plan: "pro" } },
    { event: "closed", distinct_id: "bert", properties: { plan: "free" } },
  ]);
  await capture({ event: "opened", distinct_id: "bert", properties: { plan: "free", $__proto__: 1 } });
  await capture({ event: "", distinct_id: "bert" }).catch(() => {});
  await sim.handle(new Request(`${sim.url}/nowhere?personal_api_key=phx_secret`));
});

async function read<Row>(to: Sim, kind: string, query: Record<string, string | number> = {}) {
  const parameters = new URLSearchParams(
    Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
  );
  const response = await to.handle(new Request(`${to.url}/__sim/feed/${kind}?${parameters}`));
  return { status: response.status, answer: (await response.json()) as History<Row> };
}
const events = (query: Record<string, string | number> = {}, to = sim) => read<EventRow>(to, "events", query);
const requests = (query: Record<string, string | number> = {}) => read<RequestRow>(sim, "requests", query);

describe("rows of events", () => {
  test("newest first, with where to go on", async () => {
    const { answer } = await events({ filter: "outcome:kept" });
    expect(answer.rows.map(({ event, distinct_id, n, i }) => [event, distinct_id, n, i])).toEqual([
      ["opened", "bert", 2, 0],
      ["closed", "bert", 1, 1],
      ["opened", "anna", 1, 0],
    ]);
    expect(answer).toMatchObject({ more: false, before: null, epoch: expect.any(String) });
    expect(answer.cursor).toBeGreaterThanOrEqual(3);
  });

  const filters: [query: Record<string, string | number>, seqs: number[]][] = [
    [{ filter: "event:opened" }, [3, 1]],
    [{ filter: "distinct_id:bert event:closed" }, [2]],
    [{ filter: "prop.plan:pro" }, [1]],
    [{ filter: "event:opened", before: 3 }, [1]],
    [{ filter: "event:nothing" }, []],
    [{ filter: "event:opened", project: 999 }, []],
    [{ filter: "event:opened", limit: 1 }, [3]],
  ];
  test.each(filters)("%j", async (query, seqs) => {
    expect((await events(query)).answer.rows.map(({ seq }) => seq)).toEqual(seqs);
  });

  test("page by page, each once", async () => {
    const seen: number[] = [];
    let before: number | null = null;
    do {
      const { answer }: { answer: History<EventRow> } = await events({
        limit: 1,
        filter: "outcome:kept",
        ...(before !== null && { before }),
      });
      seen.push(...answer.rows.map(({ seq }) => seq));
      before = answer.before;
    } while (before !== null && before > 1);
    expect(seen).toEqual([3, 2, 1]);
  });

  test.each([
    ["filter", "evnt:x", "?filter"],
    ["before", "0", "?before"],
    ["limit", "10001", "?limit"],
    ["project", "x", "?project"],
  ])("a wrong %s is refused: %s", async (key, value, pointer) => {
    const { status, answer } = await events({ [key]: value });
    expect([status, answer]).toEqual([400, expect.objectContaining({ code: "invalid_input", pointer })]);
  });

  test("a wrong filter is reported with its places", async () => {
    const { answer } = await events({ filter: "evnt:x" });
    expect(answer).toMatchObject({ problems: [{ at: 0, message: expect.any(String) }] });
  });
});

describe("rows of requests", () => {
  test("rejected ones as well, without secrets", async () => {
    const { answer } = await requests();
    expect(answer.rows[0]).toMatchObject({ outcome: "rejected", unmatched: true, status: 404, events: 0 });
    expect(JSON.stringify(answer)).not.toContain("phx_secret");
    expect(answer.rows.at(-1)).toMatchObject({ n: 1, events: 2, dropped: 0, source: "emulator" });
  });

  test.each([
    ["status:404", 1],
    ["path:/batch/", 3],
  ])("%s", async (filter, least) => {
    const { answer } = await requests({ filter });
    expect(answer.rows.length).toBeGreaterThanOrEqual(least > 1 ? 2 : 1);
    expect(answer.rows.every(({ status, target }) => status === 404 || target.startsWith("/batch"))).toBe(true);
  });
});

test("a subscription goes on without loss or double while events pour in", async () => {
  await using own = await startSim();
  const pour = captureWith(() => own);
  let most = Number.POSITIVE_INFINITY;
  let poured = 0;
  const pouring = (async () => {
    for (; poured < most; poured++) await pour({ event: `e${poured}`, distinct_id: "u" });
  })();
  await using page = await openPage(own.url);
  const { answer } = await events({ limit: 10_000 }, own);
  await page.subscribe({ epoch: answer.epoch, cursor: answer.cursor });
  most = poured + 100;
  await pouring;
  await page.heard("rows", (it) => it.to === most);
  const all = [...answer.rows.map(({ seq }) => seq).reverse(), ...page.seqs()];
  expect(all).toEqual(Array.from({ length: most }, (_, k) => k + 1));
});

test("the live rows are those of the history", async () => {
  await using own = await startSim();
  const send = captureWith(() => own);
  await using page = await openPage(own.url);
  await page.subscribe();
  await send([
    { event: "a", distinct_id: "u", properties: { $set: { x: 1 } } },
    { event: "b", distinct_id: "x".repeat(201) },
    { event: 7 },
  ]);
  await own.handle(new Request(`${own.url}/nowhere?access_token=secret`, { headers: { "x-test-id": "p 1" } }));
  await page.heard("rows", (it) => it.to === 2);
  const rows = page.frames.flatMap((it) => (it.t === "rows" ? [it] : []));
  const history = (await read<EventRow>(own, "events")).answer.rows;
  expect(rows.flatMap((it) => it.events)).toEqual(history.toReversed());
  const reported = (await read<RequestRow>(own, "requests")).answer.rows;
  expect(rows.flatMap((it) => it.requests)).toEqual(reported.toReversed());
});

test("cleared events are of another past: pages start anew, and do not get them again", async () => {
  await using own = await startSim();
  const send = captureWith(() => own);
  await using page = await openPage(own.url);
  const { epoch } = await page.subscribe();
  await send({ event: "before", distinct_id: "u" });
  await page.heard("rows");
  await own.handle(new Request(`${own.url}/__sim/events`, { method: "DELETE" }));
  const reset = await page.heard("reset");
  expect(reset.epoch).not.toBe(epoch);
  await send({ event: "after", distinct_id: "u" });
  await page.heard("rows", (it) => it.events.some(({ event }) => event === "after"));
  await using back = await openPage(own.url);
  expect(await back.subscribe({ epoch, cursor: 0 })).toMatchObject({ reset: true, epoch: reset.epoch });
  await using again = await openPage(own.url);
  await again.subscribe({ epoch: reset.epoch, cursor: 0 });
  await again.heard("rows", (it) => it.to === 2);
  const names = again.frames.flatMap((it) => (it.t === "rows" ? it.events : []));
  expect(names.map(({ event }) => event)).toEqual(["after"]);
});

test("10,000 events arrive once each and in order, on three pages", async () => {
  await using own = await startSim();
  const send = captureWith(() => own);
  const pages = await Promise.all([1, 2, 3].map(() => openPage(own.url)));
  for (const page of pages) await page.subscribe({ requests: null });
  for (let k = 0; k < 100; k++)
    await send(Array.from({ length: 100 }, (_, i) => ({ event: `e${k}-${i}`, distinct_id: "u" })));
  for (const page of pages) {
    await page.heard("rows", (it) => it.to === 100);
    expect(page.seqs()).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
    await page[Symbol.asyncDispose]();
  }
});

test("a message that is too large closes the page", async () => {
  await using page = await openPage(sim.url);
  page.socket.send(`"${"x".repeat(64 * 1024)}"`);
  expect((await page.closed)[0]).toBe(1009);
  await using other = await openPage(sim.url);
  other.socket.send(Buffer.from('{"t":"hello","v":1}'), { binary: true });
  expect((await other.closed)[0]).toBe(4400);
});

test("the sim's changes are reported", async () => {
  await using own = await startSim();
  await using page = await openPage(own.url);
  const [hello] = page.frames;
  const before = hello?.t === "hello" ? hello.stat : undefined;
  expect(before).toMatchObject({ requests: 0, events: 0, faults: [], tape: null, recording: null, pages: 1 });
  await captureWith(() => own)({ event: "a", distinct_id: "u" });
  await own.clock.freeze();
  await own.faults.apply("flags-partial");
  const { stat } = await page.heard("stat", (it) => it.stat.faults.length > 0);
  expect(stat).toMatchObject({
    faults: ["flags-partial"],
    clock: { frozen: true },
    requests: 1,
    kept: 1,
    dropped: 0,
    persons: expect.any(Number),
  });
});
