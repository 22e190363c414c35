import { gzipSync } from "node:zlib";

/** The size of one captured event on the wire, project key included. */
const eventBytes = 417;

/** A number in twelve digits, the width of every id here. */
export const digits = (n: number): string => String(n).padStart(12, "0");

interface Item {
  event: string;
  distinct_id: string;
  /** Its place among the events, which sets its timestamp. Default 0. */
  n?: number;
}

const firstTime = Date.parse("2026-01-15T10:20:30.456Z");

/** 37 ms from one event to the next: no two timestamps of a batch are alike. */
const timestamp = (n: number): string => new Date(firstTime + n * 37).toISOString();

/** An event as an SDK writes it, without its key. Its uuid is left to the server, so none repeats. */
function itemText({ event, distinct_id, n = 0 }: Item, filler: string): string {
  return `"event":"${event}","distinct_id":"${distinct_id}","timestamp":"${timestamp(n)}","properties":{"$lib":"posthog-node","$lib_version":"5.0.0","$current_url":"http://localhost:3000/pricing?plan=pro","plan":"pro","seats":12,"trial":true,"note":"${filler}"}`;
}

const padded = (item: Item, rest: number): string =>
  itemText(item, "x".repeat(Math.max(0, rest - itemText(item, "").length)));

/** The body of POST /capture/, 417 bytes. */
export function captureBody(key: string, item: Item): Buffer {
  const head = `{"api_key":"${key}",`;
  return Buffer.from(`${head}${padded(item, eventBytes - head.length - 1)}}`);
}

/** The body of POST /batch/, each event about as long as a captured one without its key. */
export function batchBody(key: string, items: readonly Item[]): Buffer {
  const events = items.map((item) => `{${padded(item, 360)}}`);
  return Buffer.from(`{"api_key":"${key}","batch":[${events.join(",")}]}`);
}

export const gzipped = (body: Buffer): Buffer => gzipSync(body);

/** Every second event comes from the same user, the others from `users` different ones in turn. */
export const mixedUser = (i: number, users = 1000): string =>
  `user-${digits(i % 2 === 0 ? 0 : 1 + ((i >> 1) % users))}`;
