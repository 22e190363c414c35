import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import type {
  RecordingPage,
  SessionEventPage,
  StoredSessionDetails,
  StoredSessionPage,
} from "../../../src/lab/sessions/shapes.ts";
import { clickOn, element, opening, sendEvent, sendPart, session, start } from "./recorded.ts";

let sim: Sim;
beforeEach(async () => {
  sim = await startSim({ clock: new Date(start + 60_000).toISOString() });
});
afterEach(() => sim.close());

async function get<T>(path: string): Promise<T> {
  const response = await sim.handle(new Request(`${sim.url}/__sim/${path}`));
  return (await response.json()) as T;
}

test("a small part of millions of objects is refused, and said to be", async () => {
  const data = gzipSync(`{"node":[${"{},".repeat(4_999_999)}{}]}`).toString("latin1");
  await sendPart(sim, [{ type: 2, timestamp: start, cv: "2024-10", data }]);
  await sendPart(sim, opening(page));
  const missing = [{ seq: 1, reason: "too_large", what: "full snapshot", count: 1 }];
  const first = await get<RecordingPage>(`sessions/${session}/recording`);
  expect({ lost: first.missing, next: first.next }).toEqual({ lost: missing, next: 1 });
  const { parts } = await get<RecordingPage>(`sessions/${session}/recording?from=1`);
  expect(parts.map((it) => it.events.length)).toEqual([2]);
  expect(await get(`recordings/${session}`)).toMatchObject({ complete: false, missing });
});

const button = element("button", {}, "Pay now");
const page = element("body", {}, button);

describe("/__sim/sessions", () => {
  test("lists sessions with their events and recordings, newest first", async () => {
    await sendEvent(sim, "$pageview", start - 500, {
      $current_url: "http://shop.test/",
      $browser: "Chrome",
      $browser_version: 156,
    });
    await sendPart(sim, opening(page));
    await sendEvent(sim, "$exception", start + 3_000, { $exception_list: [{ type: "TypeError", value: "no" }] });
    await sendEvent(sim, "other", start + 4_000, { $session_id: "s2" });
    await sendPart(sim, [clickOn(button, start + 5_000)]);
    const { sessions, complete, more } = await get<StoredSessionPage>("sessions");
    expect({ complete, more }).toEqual({ complete: true, more: false });
    expect(sessions.map((it) => it.id)).toEqual([session, "s2"]);
    expect(sessions[0]).toMatchObject({
      distinct_ids: ["customer-1001"],
      start: "2026-03-01T11:59:59.500Z",
      end: "2026-03-01T12:00:05.000Z",
      events: 2,
      exceptions: 1,
      recording: { parts: 2, bytes: 2_000, windows: 1, source: "web" },
      browser: "Chrome 156",
      url: "http://shop.test/",
    });
    expect(sessions[1]).toMatchObject({ events: 1, recording: null });
  });

  test("names the latest distinct id first, in whatever direction the events were read", async () => {
    const ids = async () => (await get<StoredSessionPage>("sessions")).sessions[0]?.distinct_ids;
    await sendPart(sim, opening(page), { distinct_id: "visitor-7" });
    await sendPart(sim, [], { distinct_id: "customer-1001" });
    // the first call reads the older events, newest first
    expect(await ids()).toEqual(["customer-1001", "visitor-7"]);
    await sendPart(sim, [], { distinct_id: "visitor-8" });
    expect(await ids()).toEqual(["visitor-8", "customer-1001", "visitor-7"]);
  });

  test("finds those of a person by each of its ids, those with a recording, and parts of ids", async () => {
    await sendEvent(sim, "seen", start);
    await sendEvent(sim, "$identify", start, { $session_id: "s2", $anon_distinct_id: "anon-9" });
    await sendPart(sim, opening(page), { $session_id: "s3", distinct_id: "anon-9" });
    const ids = async (query: string) =>
      (await get<StoredSessionPage>(`sessions?${query}`)).sessions.map((it) => it.id);
    expect(await ids("person=customer-1001")).toEqual(["s3", "s2", session]);
    expect(await ids("person=somebody")).toEqual([]);
    expect(await ids("recorded=true")).toEqual(["s3"]);
    expect(await ids("search=ec48")).toEqual([session]);
    expect(await ids("limit=1&offset=1")).toEqual(["s2"]);
    expect(await ids("project=99")).toEqual([]);
  });

  test("a session has its parts and what they hold", async () => {
    await sendPart(sim, [...opening(page), clickOn(button, start + 2_000)]);
    const { parts, unlisted } = await get<StoredSessionDetails>(`sessions/${session}`);
    expect(unlisted).toBe(0);
    expect(parts).toMatchObject([
      {
        window: "w1",
        start: "2026-03-01T12:00:00.000Z",
        end: "2026-03-01T12:00:02.000Z",
        items: 3,
        kinds: { full: 1, mouse: 1, other: 1 },
      },
    ]);
    expect(await get("sessions/none")).toMatchObject({ code: "not_found" });
  });

  test("the recording comes decompressed, with what is missing", async () => {
    await sendPart(sim, opening(page));
    await sendPart(sim, [{ type: 2, timestamp: start + 2_000, cv: "2024-10", data: "no gzip" }]);
    await sendPart(sim, [clickOn(button, start + 5_000)], { $window_id: "w2" });
    const recording = await get<RecordingPage>(`sessions/${session}/recording`);
    expect(recording.parts.map((it) => [it.window, it.shift_ms, it.events.map(({ type }) => type)])).toEqual([
      ["w1", 0, [4, 2]],
      ["w1", 0, []],
      ["w2", 0, [3]],
    ]);
    expect(JSON.stringify(recording.parts[0])).toContain("Pay now");
    expect(recording.missing).toEqual([
      { seq: recording.parts[1]?.seq, reason: "bad_gzip", what: "full snapshot", count: 1 },
    ]);
    expect(recording.next).toBeNull();
    const rest = await get<RecordingPage>(`sessions/${session}/recording?from=2`);
    expect(rest.parts.map((it) => it.window)).toEqual(["w2"]);
  });

  test("the events of a session come in pages, each with a text", async () => {
    await sendEvent(sim, "$autocapture", start, { $elements_chain: 'button:text="Pay now"nth-child="1";body' });
    await sendPart(sim, opening(page));
    await sendEvent(sim, "order_completed", start + 1_000, { amount: 149.9, currency: "EUR", utm_source: "x" });
    const first = await get<SessionEventPage>(`sessions/${session}/events?limit=1`);
    expect(first).toMatchObject({ events: [{ event: "$autocapture", text: "Pay now" }], next: 1 });
    const second = await get<SessionEventPage>(`sessions/${session}/events?offset=1`);
    expect(second).toMatchObject({
      events: [{ event: "order_completed", text: "amount 149.9 · currency EUR" }],
      next: null,
    });
  });

  test("nothing is known of cleared events", async () => {
    await sendEvent(sim, "seen", start);
    expect((await get<StoredSessionPage>("sessions")).sessions).toHaveLength(1);
    await sim.reset();
    expect((await get<StoredSessionPage>("sessions")).sessions).toEqual([]);
  });
});
