import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { PostHog } from "posthog-node";
import { describe, expect, test } from "vitest";
import { startSim } from "../../../../src/index.ts";
import { uuidV7 } from "../../../../src/kernel/base/ids.ts";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { decodeBody } from "../../../../src/lab/tapes/format/bodies.ts";
import { pairsOf } from "../../../../src/lab/tapes/format/exchange.ts";
import type { RawExchange } from "../../../../src/lab/tapes/format/raw-exchange.ts";
import { isCapture, routeOf } from "../../../../src/lab/tapes/format/routes.ts";
import { TapeWriter } from "../../../../src/lab/tapes/format/write.ts";
import { loadTapeMatcher, type TapeMatcher } from "../../../../src/lab/tapes/match/tape-matcher.ts";
import type { ReplayRequest } from "../../../../src/lab/tapes/ports.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { newFolder } from "../../../support/folder.ts";
import { asked, matcherOf, type Said } from "./tape.ts";

const folder = newFolder();

const flat = (headers: Headers): string[] => [...headers].flat();

/** Bytes of a body as `fetch` would send it. */
const sent = async (init: RequestInit): Promise<Buffer> =>
  Buffer.from(await new Response(init.body ?? "").arrayBuffer());

/** A `fetch` that keeps what passes through it. */
function listening(seen: RawExchange[]): typeof fetch {
  return async (input, init = {}) => {
    const url = String(input);
    const body = await sent(init);
    const response = await fetch(url, { ...init, body: init.method === "POST" ? body : null });
    const bytes = Buffer.from(await response.clone().arrayBuffer());
    const { status, statusText: reason } = response;
    const plain = new Headers(response.headers);
    plain.delete("content-encoding");
    seen.push({
      at: Date.now(),
      method: init.method ?? "GET",
      url,
      http: "1.1",
      headers: flat(new Headers(init.headers)),
      body,
      answer: { status, reason, http: "1.1", headers: flat(plain), body: bytes, ttfb: 1, total: 1 },
    });
    return response;
  };
}

/** What a server program does: flags of known and of new people, events, groups. */
async function nodeSession(): Promise<RawExchange[]> {
  const seen: RawExchange[] = [];
  const key = `phc_${randomUUID().replaceAll("-", "")}`;
  const flags = { beta: { rollout: 100 }, pro: { person: { plan: "pro" } } };
  const project = { id: 7, name: "App", api_key: key, flags };
  const sim = await startSim({
    scenario: {
      version: 1,
      personal_api_keys: [{ key: "phx_node", scopes: ["*"] }],
      organizations: [{ name: "Org", projects: [project] }],
    },
  });
  const client = new PostHog(key, { host: sim.url, flushInterval: 60_000, fetch: listening(seen) });
  const anonymous = uuidV7(Date.now(), Math.random);
  await client.getAllFlags("ann", { personProperties: { plan: "pro" } });
  (await client.evaluateFlags(anonymous)).isEnabled("beta");
  client.capture({ distinctId: "ann", event: "ordered", properties: { items: [1, 2], trace: randomUUID() } });
  client.capture({ distinctId: anonymous, event: "seen" });
  client.identify({ distinctId: anonymous, properties: { plan: "free" } });
  client.groupIdentify({ groupType: "company", groupKey: "acme" });
  await client.flush();
  client.capture({ distinctId: "ann", event: "ordered", properties: { items: [3] } });
  await client.getAllFlags("ann", { personProperties: { plan: "pro" } });
  await client.shutdown();
  await sim.close();
  return seen;
}

async function recorded(seen: readonly RawExchange[], name: string): Promise<string> {
  const file = join(folder, `${name}.tape.ndjson`);
  const writer = new TapeWriter(file, { redactor: createRedactor() });
  for (const raw of seen) writer.append(raw);
  await writer.close();
  return file;
}

function liveOf({ method, url, headers, body }: RawExchange): ReplayRequest {
  const { pathname, search, host } = new URL(url);
  const target = pathname + search;
  const decoded = Buffer.isBuffer(body) ? decodeBody(body, pairsOf(headers), target).body : undefined;
  const json = decoded !== undefined && "json" in decoded ? decoded.json : undefined;
  const named = Object.fromEntries(pairsOf(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { method, target, headers: { ...named, host }, body: json, client: "it" };
}

/** As replaying does it: events are compared, everything else is answered. */
function play(matcher: TapeMatcher, requests: readonly ReplayRequest[]) {
  const tiers: string[] = [];
  const extra: string[] = [];
  for (const request of requests) {
    if (isCapture(routeOf(request.method, request.target))) {
      extra.push(...matcher.compareEvents(request).extra);
    } else {
      const answered = matcher.answer(request);
      tiers.push("hit" in answered ? answered.tier : "miss");
    }
  }
  return { tiers, extra, ledger: matcher.ledger() };
}

describe("posthog-node", () => {
  test("one session answers another, and nothing is left", async () => {
    const [first, second] = [await nodeSession(), await nodeSession()];
    expect(first.length).toBeGreaterThanOrEqual(4);
    for (const [name, tape, other] of [
      ["a", first, second],
      ["b", second, first],
    ] as const) {
      const matcher = await loadTapeMatcher(await recorded(tape, name));
      const { tiers, extra, ledger } = play(matcher, other.map(liveOf));
      expect(extra).toEqual([]);
      expect(new Set(tiers)).toEqual(new Set(["exact"]));
      expect(ledger).toMatchObject({ unused: [], misses: [], events: { missing: [] } });
      expect(ledger.total + ledger.captures).toBe(tape.length);
    }
  });
});

/** What a page does, as posthog-js sends it; `cuts`: where its timers cut the batches. */
function browserSession(cuts: readonly number[]): Said[] {
  const key = `phc_${randomUUID().replaceAll("-", "")}`;
  const newId = () => uuidV7(Date.now(), Math.random);
  const [distinct_id, session, device] = [newId(), newId(), newId()];
  const event = (name: string, person: string, more: Json = {}): Json => ({
    uuid: randomUUID(),
    event: name,
    offset: Math.round(Math.random() * 1000),
    properties: {
      distinct_id: person,
      $device_id: device,
      $session_id: session,
      $window_id: randomUUID(),
      $insert_id: randomUUID(),
      $pageview_id: randomUUID(),
      $time: Math.random(),
      $sdk_debug_replay_internal_buffer_size: Math.random(),
      $current_url: `https://app.test/?ref=${distinct_id}`,
      token: key,
      more,
    },
    timestamp: new Date().toISOString(),
  });
  const flags = (person: string, more: object = {}): Said => ({
    target: `/flags/?v=2&config=true&ip=0&_=${Math.random()}&ver=1.449.2&compression=base64`,
    body: { token: key, distinct_id: person, groups: {}, person_properties: { $initial_ref: distinct_id }, ...more },
  });
  const events = [
    event("$pageview", distinct_id),
    event("clicked", distinct_id, { at: [1, 2] }),
    event("$identify", "ann", { $anon_distinct_id: distinct_id }),
    event("clicked", "ann"),
    event("$pageleave", "ann"),
  ];
  const batches = [0, ...cuts].map((start, at) => events.slice(start, cuts[at] ?? events.length));
  return [
    { target: `/array/${key}/config.js` },
    { target: `/array/${key}/config?ip=0&_=${Math.random()}` },
    flags(distinct_id),
    ...batches.map((body): Said => ({ target: `/e/?ip=0&_=${Math.random()}&ver=1`, body })),
    { target: `/s/?ip=0&_=${Math.random()}`, body: [{ event: "$snapshot", properties: { $session_id: session } }] },
    flags("ann", { $anon_distinct_id: distinct_id, timezone: "UTC" }),
  ];
}

describe("a browser's session", () => {
  test.each([
    { name: "the same batches", tape: [2, 4], live: [2, 4] },
    { name: "other batches", tape: [1, 4], live: [3] },
    { name: "one by one", tape: [], live: [1, 2, 3, 4] },
  ])("$name", async ({ tape, live }) => {
    const { tiers, extra, ledger } = play(
      await matcherOf(browserSession(tape)),
      browserSession(live).map((it) => asked(it)),
    );
    expect({ tiers, extra }).toEqual({ tiers: ["exact", "exact", "exact", "exact"], extra: [] });
    expect(ledger).toMatchObject({ unused: [], misses: [], hits: 4, events: { missing: [] } });
  });

  test("an event that was not recorded, and one that does not come", async () => {
    const matcher = await matcherOf([{ target: "/e/", body: [{ event: "a" }, { event: "b" }] }]);
    const one = matcher.compareEvents(asked({ target: "/batch", body: { batch: [{ event: "a" }, { event: "c" }] } }));
    expect(one).toEqual({ matched: 1, extra: ["c"] });
    expect(matcher.ledger().events).toEqual({ recorded: 2, missing: [{ event: "b", times: 1 }] });
    expect(matcher.compareEvents(asked({ target: "/e/", body: { event: "a" } }))).toEqual({ matched: 0, extra: ["a"] });
    expect(matcher.compareEvents(asked({ target: "/e/", body: { event: "b" } }))).toEqual({ matched: 1, extra: [] });
    expect(matcher.ledger().events.missing).toEqual([]);
  });

  test.each<{ body: Json; extra: string[] }>([
    { body: "text", extra: [] },
    { body: [1, null, "x"], extra: [] },
    { body: { batch: "x" }, extra: ["(without a name)"] },
    { body: { data: { event: "a" } }, extra: [] },
    { body: { __proto__: null, event: 7 }, extra: ["(without a name)"] },
  ])("a body that is odd: $body", async ({ body, extra }) => {
    const matcher = await matcherOf([{ target: "/e/", body: { event: "a" } }]);
    expect(matcher.compareEvents(asked({ target: "/e/", body })).extra).toEqual(extra);
  });
});
