import { setTimeout as pause } from "node:timers/promises";
import { describe, expect } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import { captureWith } from "../../support/control.ts";
import { test } from "../../support/sim.ts";

interface Message {
  id: string;
  event: string;
  data: { seq: number; event: string; from: number; to: number };
}

/** The messages of a stream, and its comments. */
async function* messagesOf(response: Response): AsyncGenerator<Message | string> {
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      if (block.startsWith(":")) yield block;
      else {
        const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s)));
        yield { ...fields, data: JSON.parse(fields.data) };
      }
    }
  }
}

async function take(response: Response, count: number): Promise<Message[]> {
  const found: Message[] = [];
  for await (const it of messagesOf(response)) {
    if (typeof it !== "string") found.push(it);
    if (found.length === count) break;
  }
  return found;
}

const transports: [name: string, ask: (sim: Sim, path: string, init?: RequestInit) => Promise<Response>][] = [
  ["over a socket", (sim, path, init) => fetch(`${sim.url}/__sim/${path}`, init)],
  ["in process", (sim, path, init) => sim.handle(new Request(`${sim.url}/__sim/${path}`, init))],
];

describe.each(transports)("the stream of events, %s", (name, ask) => {
  test("events as they come, in full", async ({ sim }) => {
    const capture = captureWith(() => sim);
    await capture({ event: "before", distinct_id: "u" });
    const response = await ask(sim, "events/stream");
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    await capture([
      { event: "a", distinct_id: "u", properties: { line: "one\ntwo" } },
      { event: "b", distinct_id: "u" },
    ]);
    const messages = await take(response, 2);
    expect(messages).toMatchObject([
      { id: "2", event: "event", data: { seq: 2, event: "a", properties: { line: "one\ntwo" } } },
      { id: "3", event: "event", data: { seq: 3, event: "b", outcome: "kept", request: 2 } },
    ]);
    const listed = await sim.events.list();
    expect(messages.map(({ data }) => data)).toEqual(JSON.parse(JSON.stringify(listed.slice(1))));
  });

  const froms: [name: string, path: string, init: RequestInit, seqs: number[]][] = [
    ["since", "events/stream?since=1", {}, [2, 3]],
    ["the last id that was seen", "events/stream?since=0", { headers: { "last-event-id": "2" } }, [3]],
    ["the beginning", "events/stream?since=0", {}, [1, 2, 3]],
    ["a filter", "events/stream?since=0&filter=event:c", {}, [3]],
    ["a filter of properties", "events/stream?since=0&filter=prop.k:>1", {}, [2, 3]],
  ];
  test.each(froms)("from %s", async (_name, path, init, seqs) => {
    await using sim = await startSim();
    const capture = captureWith(() => sim);
    for (const [k, event] of ["a", "b", "c"].entries())
      await capture({ event, distinct_id: "u", properties: { k: k + 1 } });
    const messages = await take(await ask(sim, path, init), seqs.length);
    expect(messages.map(({ data }) => data.seq)).toEqual(seqs);
  });

  test("what was let go is a gap", async ({ sim }) => {
    const capture = captureWith(() => sim);
    for (const event of ["a", "b", "c"]) await capture({ event, distinct_id: "u" });
    await ask(sim, "events", { method: "DELETE" });
    await capture({ event: "d", distinct_id: "u" });
    const messages = await take(await ask(sim, "events/stream?since=1"), 2);
    expect(messages).toMatchObject([
      { id: "3", event: "gap", data: { from: 2, to: 3 } },
      { id: "4", event: "event", data: { event: "d" } },
    ]);
  });

  test("a number of another past", async ({ sim }) => {
    const capture = captureWith(() => sim);
    await capture({ event: "a", distinct_id: "u" });
    const response = await ask(sim, "events/stream", { headers: { "last-event-id": "500" } });
    await capture({ event: "b", distinct_id: "u" });
    expect(await take(response, 2)).toMatchObject([
      { event: "gap", data: { from: 1, to: 1 } },
      { event: "event", data: { event: "b" } },
    ]);
  });

  test.each([
    ["a wrong filter", "events/stream?filter=evnt:x", {}, 400],
    ["a wrong since", "events/stream?since=x", {}, 400],
    ["a wrong id", "events/stream", { headers: { "last-event-id": "x" } }, 400],
    ["another method", "events/stream", { method: "POST" }, 405],
  ])("%s", async (_name, path, init, status) => {
    await using sim = await startSim();
    const response = await ask(sim, path, init);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code: expect.any(String), detail: expect.any(String) });
  });

  test("HEAD ends at once", async ({ sim }) => {
    const response = await ask(sim, "events/stream", { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
  });

  test("does not count as in flight, and ends when the sim closes", async () => {
    const sim = await startSim();
    const response = await ask(sim, "events/stream");
    // so that its end is its connection's: the sim need not wait for that
    expect(response.headers.get("connection")).toBe(name === "over a socket" ? "close" : null);
    const messages = messagesOf(response);
    expect((await messages.next()).value).toBe(": phx-sim");
    expect(await sim.info()).toMatchObject({ in_flight: 0 });
    let rest = messages.next();
    await sim.close();
    // a comment, if the machine was busy for 15 s
    while ((await rest).value === ":") rest = messages.next();
    expect((await rest).done).toBe(true);
  });

  test("ends when its reader leaves", async ({ sim }) => {
    const left = new AbortController();
    const response = await ask(sim, "events/stream", { signal: left.signal });
    const reading = take(response, 1);
    left.abort();
    await expect(reading).rejects.toThrow();
  });
});

test("a reader that takes nothing holds up no one, and then gets everything in order", async ({ sim }) => {
  const capture = captureWith(() => sim);
  const response = await fetch(`${sim.url}/__sim/events/stream`);
  for (let k = 0; k < 40; k++)
    await capture(
      Array.from({ length: 100 }, (_, i) => ({
        event: `e${i}`,
        distinct_id: "u",
        properties: { text: "x".repeat(1_000) },
      })),
    );
  await pause(0);
  const messages = await take(response, 4_000);
  expect(messages.map(({ data }) => data.seq)).toEqual(Array.from({ length: 4_000 }, (_, i) => i + 1));
});

test("large events come a few at a time", async ({ sim }) => {
  const properties = { text: "x".repeat(100_000) };
  await captureWith(() => sim)(Array.from({ length: 40 }, () => ({ event: "e", distinct_id: "u", properties })));
  const response = await sim.handle(new Request(`${sim.url}/__sim/events/stream?since=0`));
  const sizes: number[] = [];
  for await (const chunk of response.body ?? []) {
    sizes.push(chunk.length);
    if (sizes.reduce((sum, it) => sum + it) > 4_000_000) break;
  }
  expect(Math.max(...sizes)).toBeLessThan(1_000_000);
});

test("a hundred clients read streams; the next one gets 429 until one of them leaves", async ({ sim }) => {
  const path = `${sim.url}/__sim/events/stream`;
  const left = new AbortController();
  const opened = await Promise.all(Array.from({ length: 110 }, () => fetch(path, { signal: left.signal })));
  expect(opened.filter(({ status }) => status === 200)).toHaveLength(100);
  const refused = opened.filter(({ status }) => status === 429);
  expect(await refused[0]?.json()).toMatchObject({
    code: "throttled",
    detail: "100 clients already read streams of events",
  });
  expect((await fetch(path, { method: "HEAD" })).status).toBe(429);
  left.abort();
  await expect
    .poll(async () => {
      const again = await fetch(path);
      await again.body?.cancel();
      return again.status;
    })
    .toBe(200);
});

test("HEAD takes no place of a stream", async ({ sim }) => {
  const path = `${sim.url}/__sim/events/stream`;
  for (let i = 0; i < 101; i++) expect((await fetch(path, { method: "HEAD" })).status).toBe(200);
});
