import { describe, expect, test } from "vitest";
import type { EventQuery, StoredEvent } from "../../../src/index.ts";
import { capture, ends, held, names } from "./ends.ts";

/** The next that many of a stream. */
async function take(iterator: AsyncIterator<StoredEvent>, count: number): Promise<StoredEvent[]> {
  const taken: StoredEvent[] = [];
  while (taken.length < count) {
    const { value, done } = await iterator.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
}

async function allOf(stream: AsyncIterable<StoredEvent>): Promise<StoredEvent[]> {
  const all: StoredEvent[] = [];
  for await (const event of stream) all.push(event);
  return all;
}

describe.each(ends)("events.stream, $end", (end) => {
  test("begins where the log ended, misses nothing and reports nothing twice", async () => {
    await using it = await held(end);
    await capture(it.sim, "before");
    const since = await it.client.events.mark();
    const sending = (async () => {
      for (let i = 0; i < 30; i++) await capture(it.sim, `a${i}`, `b${i}`);
    })();
    const seqs: number[] = [];
    for await (const event of it.client.events.stream({ since })) {
      seqs.push(event.seq);
      if (event.event === "b29") break;
    }
    await sending;
    expect(seqs).toEqual(Array.from({ length: 60 }, (_, i) => i + 2));
  });

  test("without a cursor, from its call on", async () => {
    await using it = await held(end);
    await capture(it.sim, "before");
    const iterator = it.client.events.stream()[Symbol.asyncIterator]();
    const first = iterator.next();
    // the cursor is taken before the first answer can be
    await it.client.events.mark();
    await capture(it.sim, "after");
    expect(await first).toMatchObject({ done: false, value: { event: "after" } });
    await iterator.return?.();
  });

  test.each<[string, EventQuery, string[]]>([
    ["literals", { event: "a" }, ["a"]],
    ["a pattern", { where: { event: /^[ab]$/ } }, ["a", "b"]],
    ["a predicate", { where: { event: (name: unknown) => name !== "a" } }, ["b", "c"]],
    ["a limit", { limit: 2 }, ["a", "b"]],
    ["an end", { until: 2 }, ["a", "b"]],
  ])("restricted by %s", async (_, query, expected) => {
    await using it = await held(end);
    await capture(it.sim, "a", "b", "c");
    const stream = it.client.events.stream({ since: 0, ...query });
    expect(names(await take(stream[Symbol.asyncIterator](), expected.length))).toEqual(expected);
  });

  test.each([
    ["a limit", { limit: 2 }],
    ["an end", { until: 2 }],
  ])("ends by itself with %s", async (_, query) => {
    await using it = await held(end);
    await capture(it.sim, "a", "b", "c");
    const all = await allOf(it.client.events.stream({ since: 0, ...query }));
    expect(names(all)).toEqual(["a", "b"]);
  });

  test("calls that overlap are answered in order", async () => {
    await using it = await held(end);
    const iterator = it.client.events.stream({ since: 0 })[Symbol.asyncIterator]();
    const pending = [iterator.next(), iterator.next(), iterator.next()];
    await capture(it.sim, "a", "b");
    await capture(it.sim, "c");
    expect((await Promise.all(pending)).map(({ value }) => value.seq)).toEqual([1, 2, 3]);
    await iterator.return?.();
  });

  test("returning ends what is pending at once, and for good", async () => {
    await using it = await held(end);
    const iterator = it.client.events.stream()[Symbol.asyncIterator]();
    const pending = iterator.next();
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(await pending).toEqual({ done: true, value: undefined });
    await capture(it.sim, "a");
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  test("the signal ends the loop quietly", async () => {
    await using it = await held(end);
    const ending = new AbortController();
    const seen: string[] = [];
    await capture(it.sim, "a");
    for await (const { event } of it.client.events.stream({ since: 0 }, { signal: ending.signal })) {
      seen.push(event);
      // the loop asks for the next one, which does not come
      queueMicrotask(() => ending.abort());
    }
    expect(seen).toEqual(["a"]);
    const aborted = it.client.events.stream({ since: 0 }, { signal: AbortSignal.abort() });
    expect(await allOf(aborted)).toEqual([]);
  });

  test("a sim that closes ends it with an error", async () => {
    await using it = await held(end);
    const iterator = it.client.events.stream({ since: 0 })[Symbol.asyncIterator]();
    const pending = expect(iterator.next()).rejects.toMatchObject({ name: "ControlError", status: 0 });
    await it.sim.close();
    await pending;
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });
});
