import { isObject, type Json, own } from "../../kernel/json.ts";
import { encodeBody } from "../encode.ts";
import { headerOf } from "../headers.ts";
import { fillBody, fillHeaders, fillText } from "../redact/bind.ts";
import type { Placeholder } from "../redact/placeholders.ts";
import type { Exchange, TapeBody } from "../types.ts";
import { renamed, timed, withEvents } from "./events.ts";
import { headersFor } from "./headers.ts";
import { keyFor } from "./keys.ts";
import type { Planned, SendPlan, SkipReason } from "./types.ts";

const isTunnel = ({ req }: Exchange): boolean =>
  req.method.toUpperCase() === "CONNECT" || headerOf(req.headers, "upgrade")?.toLowerCase() === "websocket";

const skips: readonly (readonly [SkipReason, (exchange: Exchange) => boolean])[] = [
  ["tunnel", isTunnel],
  ["method", ({ req }) => !/^[\w!#$%&'*+.^`|~-]+$/.test(req.method)],
  ["cut_off", ({ aborted, res }) => aborted === "client" && res === null],
  ["no_body", ({ req }) => req.body !== undefined && ("omitted" in req.body || "file" in req.body)],
];

/** Why a request cannot be sent, before anything is tried. */
export const skipOf = (exchange: Exchange): SkipReason | undefined =>
  skips.find(([, isSo]) => isSo(exchange))?.[0];

/** What node:http takes for a path: a recorded one may have blanks or letters that should have been encoded. */
const sendable = (target: string): string =>
  target.replace(/[^\x21-\x7e]+/g, (it) => encodeURIComponent(it.replace(/[\ud800-\udfff]/g, "\ufffd")));

/** Path and query of a recorded URL, without a fragment. */
const recordedTarget = (url: string): string => {
  const rest = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "").replace(/#.*$/s, "");
  return rest.startsWith("/") ? rest : `/${rest}`;
};

/** posthog-js says in `_`, older ones in `sent_at`, when a request was sent, in ms. */
const sentNow = (target: string, now: number): string =>
  target.replace(/([?&](?:_|sent_at)=)\d{12,14}(?=&|$)/g, `$1${now}`);

function targetOf(exchange: Exchange, plan: SendPlan, now: number, fill: (text: string) => string): string {
  const target = sendable(fill(recordedTarget(exchange.req.url)));
  const base = plan.target.pathname.replace(/\/+$/, "");
  return `${base}${exchange.route === "capture" ? sentNow(target, now) : target}`;
}

/** `created_at` is what the newer endpoint calls it. */
const sentFields = ["sent_at", "created_at"];

function withSentAt(body: Json, now: number): Json {
  if (!isObject(body)) return body;
  const sent = sentFields.filter((name) => typeof own(body, name) === "string");
  return { ...body, ...Object.fromEntries(sent.map((name) => [name, new Date(now).toISOString()])) };
}

function captured(body: Json, exchange: Exchange, { shiftMs, newUuid }: SendPlan, now: number): Json {
  const at = Date.parse(exchange.at);
  const times = { at: Number.isNaN(at) ? now : at, now, shiftMs };
  const changed = withEvents(body, (event) => {
    const moved = timed(event, times);
    return newUuid ? renamed(moved, newUuid) : moved;
  });
  return withSentAt(changed, now);
}

function bodyOf(exchange: Exchange, plan: SendPlan, now: number, value: Value): TapeBody | undefined {
  const { body } = exchange.req;
  if (body === undefined) return undefined;
  const filled = fillBody(body, value);
  if (exchange.route !== "capture" || !("json" in filled)) return filled;
  return { json: captured(filled.json, exchange, plan, now) };
}

type Value = (placeholder: Placeholder) => string | undefined;

const bodiless = new Set(["GET", "HEAD", "OPTIONS"]);

function encoded(body: TapeBody | undefined, exchange: Exchange): Buffer | undefined {
  try {
    return encodeBody(body, exchange.req.wire);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/**
 * The request of a tape as it goes to another place now (`now`: ms since the epoch): with real keys, events at their
 * times or moved, `sent_at` = now, and the body encoded as it travelled. Bodies that are in side files must be read
 * first. Placeholders without a key become visible fakes: look for them first (`survey`).
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
      target: targetOf(exchange, plan, now, (text) => fillText(text, value)),
      headers: headersFor(fillHeaders(exchange.req.headers, value), {
        host: plan.target.host,
        length: isBodiless ? undefined : body.length,
        now,
      }),
      body,
    },
  };
}
