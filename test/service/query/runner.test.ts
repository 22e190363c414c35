import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { fixedClock } from "../../../src/kernel/base/clock.ts";
import type { Json, JsonObject } from "../../../src/kernel/base/json.ts";
import type { ExecutionMode } from "../../../src/service/query/runner.ts";
import { createQueryRunner } from "../../../src/service/query/runner.ts";
import { memoryWorld } from "../../../src/state/documents/world-store.ts";
import { twoOrganizations } from "../management/world.ts";
import { countKind } from "./count-kind.ts";
import { tableOf } from "./table-of.ts";

const minute = 60_000;
const start = Date.UTC(2026, 2, 4, 5, 6, 7);
const signups = { kind: "CountQuery", event: "signup" };

function open() {
  const clock = fixedClock(start);
  const events = [{ event: "signup", at: "2026-03-01T00:00:00Z", id: "u1" }];
  let computed = 0;
  const runner = createQueryRunner({
    worlds: memoryWorld(twoOrganizations()),
    clock,
    kinds: [countKind],
    version: () => String(events.length),
    async compute({ project, kind, query, now, signal }) {
      computed++;
      if ((query as { waits?: boolean }).waits) await once(signal, "abort");
      signal.throwIfAborted();
      const table = tableOf(events);
      const facts = { timeZone: project.timezone, weekStart: 0 as const, now, table };
      return kind.run(query, facts) as JsonObject;
    },
    closing: new AbortController().signal,
  });
  return {
    runner,
    clock,
    computed: () => computed,
    arrive: () => events.push({ event: "signup", at: "2026-03-02T00:00:00Z", id: "u2" }),
    ask: (mode: ExecutionMode, query: Json = signups, id?: string) => runner.run({ project: 1, query, mode, id }),
    /** Until what runs in the background is over. */
    async settled(id: string) {
      for (;;) {
        const status = runner.status(1, id);
        if (status?.complete !== false) return status;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

describe("a response", () => {
  test("has the fields of every kind, and those of its own", async () => {
    const { ask } = open();
    const response = await ask("blocking");
    expect(response).toMatchObject({
      results: [1],
      hasMore: false,
      columns: ["signup", "UTC", 0],
      is_cached: false,
      last_refresh: "2026-03-04T05:06:07Z",
      next_allowed_client_refresh: "2026-03-04T05:07:07Z",
      cache_target_age: "2026-03-04T05:11:07Z",
      timezone: "UTC",
      query_status: null,
      hogql: null,
      timings: null,
      modifiers: null,
    });
    expect(response.cache_key).toMatch(/^cache_1_[0-9a-f]{64}$/);
  });

  test("the key is of the query, whatever the order of its fields, and of the project", async () => {
    const { ask, runner } = open();
    const { cache_key: key } = await ask("blocking");
    expect((await ask("blocking", { event: "signup", kind: "CountQuery" })).cache_key).toBe(key);
    const node = { kind: "InsightVizNode", source: signups, full: true };
    expect((await ask("blocking", node)).cache_key).toBe(key);
    expect((await ask("blocking", { ...signups, event: "x" })).cache_key).not.toBe(key);
    const elsewhere = await runner.run({ project: 2, query: signups, mode: "blocking" });
    expect(elsewhere.cache_key).not.toBe(key);
  });
});

/** What a mode answers: with nothing in the cache, a fresh result, and one that is stale since an event arrived. */
const modes: [ExecutionMode, missing: object, fresh: object, stale: object][] = [
  [
    "blocking",
    { results: [1], is_cached: false },
    { results: [1], is_cached: true },
    { results: [2], is_cached: false },
  ],
  ["force_blocking", { results: [1], is_cached: false }, { results: [1], is_cached: false }, { results: [2] }],
  ["force_cache", { query_status: null }, { results: [1], is_cached: true }, { results: [1], is_cached: true }],
  [
    "async",
    { query_status: { complete: false } },
    { results: [1], is_cached: true, query_status: null },
    { results: [1], is_cached: true, query_status: { complete: false } },
  ],
  [
    "async_except_on_cache_miss",
    { results: [1], is_cached: false },
    { results: [1], is_cached: true },
    { results: [1], is_cached: true, query_status: { complete: false } },
  ],
  [
    "lazy_async",
    { query_status: { complete: false } },
    { results: [1], is_cached: true },
    { results: [1], is_cached: true, query_status: null },
  ],
  [
    "force_async",
    { query_status: { complete: false } },
    { query_status: { complete: false } },
    { query_status: { complete: false } },
  ],
];

test.each(modes)("refresh %s", async (mode, missing, fresh, stale) => {
  expect(await open().ask(mode)).toMatchObject(missing);
  const { ask, arrive } = open();
  await ask("blocking");
  expect(await ask(mode)).toMatchObject(fresh);
  arrive();
  expect(await ask(mode)).toMatchObject(stale);
});

describe("results become stale", () => {
  test.each([
    ["by minute, after 5 minutes", signups, 5 * minute],
    ["by day, after 6 hours", { ...signups, interval: "day" }, 360 * minute],
  ])("%s", async (_, query, age) => {
    const { ask, clock } = open();
    await ask("blocking", query);
    clock.set(start + age);
    expect(await ask("blocking", query)).toMatchObject({ is_cached: true });
    clock.set(start + age + 1);
    expect(await ask("blocking", query)).toMatchObject({ is_cached: false });
  });

  test("when the clock is set back", async () => {
    const { ask, clock } = open();
    await ask("blocking");
    clock.set(start - 1);
    expect(await ask("blocking")).toMatchObject({ is_cached: false });
  });

  test("much later for lazy_async", async () => {
    const { ask, clock } = open();
    await ask("blocking");
    clock.set(start + 15 * minute);
    expect(await ask("lazy_async")).toMatchObject({ is_cached: true, query_status: null });
    clock.set(start + 15 * minute + 1);
    expect(await ask("lazy_async")).toMatchObject({ is_cached: true, query_status: { complete: false } });
  });
});

describe("in the background", () => {
  test("the status has the response once it is complete", async () => {
    const { ask, settled, runner } = open();
    const { query_status } = await ask("force_async", signups, "mine");
    expect(query_status).toMatchObject({ id: "mine", team_id: 1, complete: false, results: null, error: false });
    expect(await settled("mine")).toMatchObject({
      complete: true,
      error: false,
      results: { results: [1], is_cached: false },
      end_time: "2026-03-04T05:06:07Z",
      expiration_time: "2026-03-04T05:26:07Z",
    });
    expect(runner.status(2, "mine")).toBeUndefined();
    expect(await ask("force_cache")).toMatchObject({ results: [1], is_cached: true });
  });

  test("a failure is in the status", async () => {
    const { ask, settled } = open();
    await ask("async", { ...signups, fails: "Unknown function x" }, "mine");
    expect(await settled("mine")).toMatchObject({
      complete: true,
      error: true,
      error_message: "Unknown function x",
      results: null,
    });
  });

  test("one that runs already is not started again", async () => {
    const { ask, computed, settled } = open();
    await Promise.all([ask("async", signups, "mine"), ask("async", signups, "mine")]);
    await settled("mine");
    expect(computed()).toBe(1);
  });

  test("its status is forgotten after 20 minutes, and when it is cancelled", async () => {
    const { ask, settled, clock, runner } = open();
    await ask("async", signups, "mine");
    await settled("mine");
    clock.set(start + 20 * minute + 1);
    expect(runner.status(1, "mine")).toBeUndefined();
    await ask("force_async", signups, "other");
    runner.cancel(1, "other");
    expect(runner.status(1, "other")).toBeUndefined();
  });

  test("cancelling ends a query that a client waits for", async () => {
    const { ask, runner } = open();
    const waiting = ask("blocking", { ...signups, waits: true }, "long");
    const ended = expect(waiting).rejects.toMatchObject({ message: "The query was cancelled." });
    await new Promise((resolve) => setImmediate(resolve));
    runner.cancel(1, "long");
    await ended;
  });
});

describe("refused", () => {
  test.each<[string, Json | undefined, string, string | undefined]>([
    ["no query", undefined, "a query is an object with a kind", "/q"],
    ["text", "SELECT 1", "a query is an object with a kind", "/q"],
    ["no kind", {}, 'a query needs a "kind"', "/q"],
    ["an unknown kind", { kind: "CuontQuery" }, "Input tag 'CuontQuery' found", "/q/kind"],
    ["a kind that only the service has", { kind: "PathsQuery" }, "Unsupported query kind: PathsQuery", undefined],
    ["a node without a source", { kind: "InsightVizNode" }, 'InsightVizNode needs a "source"', "/q"],
    [
      "a field in a node",
      { kind: "DataTableNode", source: { ...signups, evnt: 1 } },
      'unknown key "evnt"',
      "/q/source/evnt",
    ],
    ["a value", { ...signups, interval: "hourly" }, 'expected "minute" or "day", got "hourly"', "/q/interval"],
  ])("%s", async (_, query, detail, pointer) => {
    const { runner } = open();
    const asked = runner.run({ project: 1, query, mode: "blocking", at: ["q"] });
    await expect(asked).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(detail),
      extra: pointer === undefined ? {} : { pointer },
    });
  });
});
