import { gzipSync } from "node:zlib";
import type { Sim } from "../../../src/index.ts";
import type { JsonObject } from "../../../src/kernel/base/json.ts";

/** A value as posthog-js compresses it inside the JSON (`cv: "2024-10"`): gzip, each byte a character. */
export const packed = (value: unknown): string => gzipSync(JSON.stringify(value)).toString("latin1");

export const session = "0195b3a2-8592-7000-8000-00000000ec48";
export const start = Date.parse("2026-03-01T12:00:00.000Z");

let id = 1;
/** An element of a recorded page; strings are texts. */
export const element = (
  tagName: string,
  attributes: JsonObject = {},
  ...children: (JsonObject | string)[]
): JsonObject => ({
  type: 2,
  id: ++id,
  tagName,
  attributes,
  childNodes: children.map((it) => (typeof it === "string" ? { type: 3, id: ++id, textContent: it } : it)),
});

const documentOf = (body: JsonObject, head: readonly JsonObject[] = []): JsonObject => ({
  type: 0,
  id: ++id,
  childNodes: [
    { type: 1, id: ++id, name: "html", publicId: "", systemId: "" },
    element("html", {}, element("head", {}, ...head), body),
  ],
});

/** The events of rrweb with which a recording of a page begins. */
export const opening = (body: JsonObject, head: readonly JsonObject[] = [], at = start): JsonObject[] => [
  { type: 4, timestamp: at, data: { href: "http://shop.test/checkout", width: 800, height: 600 } },
  {
    type: 2,
    timestamp: at + 1,
    cv: "2024-10",
    data: packed({ node: documentOf(body, head), initialOffset: { top: 0, left: 0 } }),
  },
];

export const clickOn = (node: JsonObject, at: number): JsonObject => ({
  type: 3,
  timestamp: at,
  data: { source: 2, type: 2, id: node.id ?? 0, x: 10, y: 10 },
});

export const typedIn = (node: JsonObject, text: string, at: number): JsonObject => ({
  type: 3,
  timestamp: at,
  data: { source: 5, id: node.id ?? 0, text, isChecked: false },
});

/** Sends a part of a recording as posthog-js does. */
export async function sendPart(
  sim: Pick<Sim, "apiKey" | "url" | "handle">,
  items: readonly unknown[],
  more: JsonObject = {},
): Promise<number> {
  const properties = {
    $snapshot_bytes: 1_000,
    $snapshot_data: items,
    $session_id: session,
    $window_id: "w1",
    distinct_id: "customer-1001",
    $lib: "web",
    ...more,
  };
  const timestamp = new Date(start + 60_000).toISOString();
  const body = [{ event: "$snapshot", properties, timestamp, $token: sim.apiKey, token: sim.apiKey }];
  const response = await sim.handle(
    new Request(`${sim.url}/s/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );
  return response.status;
}

/** Sends an event of the session. */
export async function sendEvent(sim: Sim, event: string, at: number, properties: JsonObject = {}): Promise<void> {
  await sim.handle(
    new Request(`${sim.url}/e/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        api_key: sim.apiKey,
        event,
        distinct_id: "customer-1001",
        timestamp: new Date(at).toISOString(),
        properties: { $session_id: session, $window_id: "w1", ...properties },
      }),
    }),
  );
}
