import { validateHeaderName, validateHeaderValue } from "node:http";
import { isoOf } from "../../../kernel/base/clock.ts";
import { isObject, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import { readMoment } from "../../../kernel/base/time-text.ts";
import { encodeBody, readableCodings } from "../format/bodies.ts";
import { type Exchange, type HeaderPairs, headerOf, type TapeBody, targetOf } from "../format/exchange.ts";
import { withEvents } from "../match/requests.ts";
import { fillBody, fillHeaders, fillText, unresolved } from "../redact/bind.ts";
import { type Placeholder, placeholdersIn } from "../redact/placeholders.ts";
import type { Prepared } from "../upstream/transport.ts";

export interface GivenKeys {
  /** For `project_key` placeholders. */
  project?: string | undefined;
  /** For personal and secret keys, and what stood in an `Authorization` header. */
  personal?: string | undefined;
  /** The value of one placeholder; it counts before the keys. */
  secret?: (placeholder: Placeholder) => string | undefined;
  /** `redacted`: a secret that is not given is sent as a visible stand-in; absent: it is not sent. */
  fill?: "redacted" | undefined;
}

export interface SendPlan {
  /** Where all requests go; a path is put before each one's. */
  target: URL;
  keys: GivenKeys;
  /** ms by which the times of events move; 0 keeps them. */
  shiftMs: number;
  /** The uuid of a copy; absent: events keep theirs, so that the service sees that it has them. */
  newUuid?: (uuid: string) => string;
}

export const skipReasons = ["no_body", "cut_off", "tunnel", "method", "encoding"] as const;
export type SendSkipReason = (typeof skipReasons)[number];

type Planned = { prepared: Prepared } | { skip: SendSkipReason };

const skips: readonly (readonly [SendSkipReason, (exchange: Exchange) => boolean])[] = [
  [
    "tunnel",
    ({ req }) =>
      req.method.toUpperCase() === "CONNECT" || headerOf(req.headers, "upgrade")?.toLowerCase() === "websocket",
  ],
  ["method", ({ req }) => !/^[\w!#$%&'*+.^`|~-]+$/.test(req.method)],
  ["cut_off", ({ aborted, res }) => aborted === "client" && res === null],
  ["no_body", ({ req }) => req.body !== undefined && ("omitted" in req.body || "file" in req.body)],
];

/** Why a request cannot be sent, before anything is tried. */
export const skipOf = (exchange: Exchange): SendSkipReason | undefined => skips.find(([, isSo]) => isSo(exchange))?.[0];

type Value = (placeholder: Placeholder) => string | undefined;

/** What node:http takes for a path: a recorded one may have blanks or letters that should have been encoded. */
const sendable = (target: string): string =>
  target.replace(/[^\x21-\x7e]+/g, (it) => encodeURIComponent(it.replace(/[\ud800-\udfff]/g, "\ufffd")));

/** The time when a request was sent, in ms: `_` of posthog-js, `sent_at` of older SDKs. */
const sentNow = (target: string, now: number): string =>
  target.replace(/([?&](?:_|sent_at)=)\d{12,14}(?=&|$)/g, `$1${now}`);

function sentTarget(exchange: Exchange, plan: SendPlan, now: number, value: Value): string {
  // without a fragment; placeholders have the same sign before their number
  const target = sendable(fillText(targetOf(exchange.req.url).replace(/#(?!\d+\}\}).*$/s, ""), value));
  const base = plan.target.pathname.replace(/\/+$/, "");
  return `${base}${exchange.route === "capture" ? sentNow(target, now) : target}`;
}

/** `created_at` is what the newer endpoint calls it. */
const sentFields = ["sent_at", "created_at"];

function withSentAt(body: Json, now: number): Json {
  if (!isObject(body)) return body;
  const sent = sentFields.filter((name) => typeof own(body, name) === "string");
  return { ...body, ...Object.fromEntries(sent.map((name) => [name, isoOf(now)])) };
}

function captured(body: Json, exchange: Exchange, { shiftMs, newUuid }: SendPlan, now: number): Json {
  const at = Date.parse(exchange.at);
  const times = { at: Number.isNaN(at) ? now : at, now, shiftMs };
  const changed = withEvents(body, (event) => {
    const moved = timed(event, times);
    return newUuid ? renamed(moved, newUuid) : moved;
  });
  return withSentAt(changed ?? body, now);
}

function bodyOf(exchange: Exchange, plan: SendPlan, now: number, value: Value): TapeBody | undefined {
  const { body } = exchange.req;
  if (body === undefined) return undefined;
  const filled = fillBody(body, value);
  if (exchange.route !== "capture" || !("json" in filled)) return filled;
  return { json: captured(filled.json, exchange, plan, now) };
}

function encoded(body: TapeBody | undefined, exchange: Exchange): Buffer | undefined {
  try {
    return encodeBody(body, exchange.req.wire);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

const bodiless = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * The request of a tape as it is sent now (`now`: ms since the epoch): with real keys, events at their times or moved,
 * `sent_at` = now, and the body encoded as it was received. Bodies in side files must be read first. Placeholders
 * without a key become visible stand-ins: `surveyTape` finds them before.
 */
export function planSend(exchange: Exchange, plan: SendPlan, now: number): Planned {
  const skip = skipOf(exchange);
  if (skip !== undefined) return { skip };
  const value: Value = (placeholder) => keyFor(placeholder, plan.keys);
  const body = encoded(bodyOf(exchange, plan, now, value), exchange);
  if (body === undefined) return { skip: "encoding" };
  const { method } = exchange.req;
  const isBodiless = body.length === 0 && bodiless.has(method.toUpperCase());
  return {
    prepared: {
      method,
      target: sentTarget(exchange, plan, now, value),
      headers: headersFor(fillHeaders(exchange.req.headers, value), {
        host: plan.target.host,
        length: isBodiless ? undefined : body.length,
        now,
      }),
      body,
    },
  };
}

/** When an event happened, ms since the epoch. `at`: when it arrived. */
export function timeOf(event: JsonObject, at: number): number {
  const offset = own(event, "offset");
  if (typeof offset === "number") return at - offset;
  const timestamp = own(event, "timestamp");
  return (typeof timestamp === "string" ? readMoment(timestamp) : undefined) ?? at;
}

interface Times {
  /** When the request arrived, and when it is sent again, ms since the epoch. */
  at: number;
  now: number;
  /** Added to the times of events. */
  shiftMs: number;
}

/** At its own time: an `offset` counts from the sending, and no time means that of sending. Unreadable ones stay. */
function timed(event: JsonObject, { at, now, shiftMs }: Times): JsonObject {
  if (typeof own(event, "offset") === "number") {
    return { ...event, offset: Math.round(now - (timeOf(event, at) + shiftMs)) };
  }
  const timestamp = own(event, "timestamp");
  const isMissing = timestamp === undefined || timestamp === null;
  const canMove = typeof timestamp === "string" && shiftMs !== 0 && readMoment(timestamp) !== undefined;
  const moved = timeOf(event, at) + shiftMs;
  // no Date has a later time, or an earlier one
  const isWritable = Math.abs(moved) <= 8.64e15;
  return (isMissing || canMove) && isWritable ? { ...event, timestamp: isoOf(moved) } : event;
}

/** Gives an event new ids, so that the service does not take it for a copy. */
function renamed(event: JsonObject, newUuid: (uuid: string) => string): JsonObject {
  const uuid = own(event, "uuid");
  const properties = own(event, "properties");
  const insert = isObject(properties) ? own(properties, "$insert_id") : undefined;
  return {
    ...event,
    ...(typeof uuid === "string" && { uuid: newUuid(uuid) }),
    ...(isObject(properties) &&
      typeof insert === "string" && { properties: { ...properties, $insert_id: newUuid(insert) } }),
  };
}

/** Headers of the connection, of another host's visitors, and those that ask for another answer than the recorded one. */
const left: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "expect",
  "content-length",
  "cookie",
  "if-none-match",
  "if-modified-since",
  "proxy-connection",
  "proxy-authorization",
]);

const isLeftOut = (name: string): boolean => left.has(name.toLowerCase()) || name.startsWith(":");

/** False for what a client cannot send, though it was recorded. */
function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

/** A credential that was redacted as a whole had its scheme before it. */
const credential = (value: string): string => (/^\S+$/.test(value) ? `Bearer ${value}` : value);

interface HeaderPlan {
  host: string;
  length: number | undefined;
  now: number;
}

/** The headers of a request as they go out: order, case and duplicates as recorded. */
function headersFor(recorded: HeaderPairs, { host, length, now }: HeaderPlan): string[] {
  const rows: Readonly<Record<string, (value: string) => string>> = {
    authorization: credential,
    "accept-encoding": readableCodings,
    "posthog-request-timestamp": () => isoOf(now),
  };
  const kept = recorded
    .filter(([name]) => !isLeftOut(name))
    .map(([name, value]) => {
      const lower = name.toLowerCase();
      return [name, Object.hasOwn(rows, lower) ? (rows[lower]?.(value) ?? value) : value] as const;
    })
    .filter(([name, value]) => isHeader(name, value));
  return ["Host", host, ...kept.flat(), ...(length === undefined ? [] : ["Content-Length", String(length)])];
}

/** A key that an option gives, for all placeholders of some kinds. */
type KeyName = "project" | "personal";

const givenFor: Readonly<Record<string, KeyName>> = {
  project_key: "project",
  personal_api_key: "personal",
  secret_api_key: "personal",
  oauth_access_token: "personal",
  authorization: "personal",
};

export const keyNeeded = (kind: string): KeyName | undefined =>
  Object.hasOwn(givenFor, kind) ? givenFor[kind] : undefined;

/** What a placeholder becomes, its own value before that of its kind; undefined: it is not given. */
function keyFor(placeholder: Placeholder, keys: GivenKeys): string | undefined {
  const needed = keyNeeded(placeholder.kind);
  return keys.secret?.(placeholder) ?? (needed === undefined ? undefined : keys[needed]);
}

/** What is sent for a placeholder. `needs_key`, `unknown`: nothing can be sent. */
export type Filling = "given" | "needs_key" | "stand_in" | "unknown";

/** Keys are never replaced by stand-ins: a service refuses them. */
export function fillingOf(placeholder: Placeholder, keys: GivenKeys): Filling {
  if (keyFor(placeholder, keys) !== undefined) return "given";
  if (keyNeeded(placeholder.kind) !== undefined) return "needs_key";
  return keys.fill === "redacted" ? "stand_in" : "unknown";
}

export function placeholdersOf({ req }: Exchange): Placeholder[] {
  const headers = req.headers.filter(([name]) => !isLeftOut(name)).flatMap(([, value]) => value);
  const texts = [req.url, ...headers, ...unresolved(req.body)];
  const found = texts.flatMap(placeholdersIn);
  return [...new Map(found.map((it) => [it.text, it])).values()];
}
