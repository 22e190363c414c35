import type { IncomingMessage } from "node:http";
import { isoOf } from "../../../kernel/base/clock.ts";
import type { ChunkTimes } from "../upstream/passing-body.ts";
import { type Decoded, decodeBody } from "./bodies.ts";
import { type Exchange, type HeaderPairs, pairsOf, targetOf } from "./exchange.ts";
import { routeOf } from "./routes.ts";

function decoded(raw: RawBody, headers: HeaderPairs, limit: number, target?: string): Decoded {
  if (Buffer.isBuffer(raw)) return decodeBody(raw, headers, target, limit);
  return { body: raw, wire: { bytes: raw.bytes, encodings: [] } };
}

export const sizeOf = (raw: RawBody): number => (Buffer.isBuffer(raw) ? raw.length : raw.bytes);

function answerOf(
  { status, reason, http, headers: flat, body, ttfb, total, chunks }: RawAnswer,
  limit: number,
): NonNullable<Exchange["res"]> {
  const headers = pairsOf(flat);
  return { status, reason, http, headers, ...decoded(body, headers, limit), ttfb, total, chunks };
}

/** Decoded, with its secrets. @param bodyLimit Most bytes of a decoded body; larger ones are left out */
export function toExchange(raw: RawExchange, { i, bodyLimit }: { i: number; bodyLimit: number }): Exchange {
  const { at, method, url, http, answer, aborted, client } = raw;
  const headers = pairsOf(raw.headers);
  const target = targetOf(url);
  return {
    i,
    at: isoOf(at),
    route: routeOf(method, target),
    req: { method, url, http, headers, ...decoded(raw.body, headers, bodyLimit, target) },
    res: answer && answerOf(answer, bodyLimit),
    complete: answer !== null && aborted === undefined,
    aborted,
    redacted: [],
    client,
  };
}

/** An exchange as it was received, with its secrets. It never reaches a disk: `redact` makes an `Exchange` of it. */
export interface RawExchange {
  /** Arrival, ms since the epoch. */
  at: number;
  method: string;
  /** Absolute, the upstream's; the query as sent. */
  url: string;
  /** `1.1`, `2.0` … */
  http: string;
  /** name, value, name, value … as received. */
  headers: readonly string[];
  /** As received, still encoded. */
  body: RawBody;
  answer: RawAnswer | null;
  aborted?: "client" | "upstream";
  /** The test that sent it (`X-Test-Id`), if several run at the same time. */
  client?: string;
}

export interface RawAnswer extends ReturnType<typeof headOf> {
  body: RawBody;
  /** ms from arrival to the answer's first byte, and to its last. */
  ttfb: number;
  total: number;
  /** When the parts of the body came; absent: as a whole. */
  chunks?: ChunkTimes;
}

/** Bytes, or their number where they are not kept. */
export type RawBody = Buffer | { omitted: "too_large" | "excluded" | "not_kept"; bytes: number };

export const headOf = ({ statusCode = 502, statusMessage = "", httpVersion, rawHeaders }: IncomingMessage) => ({
  status: statusCode,
  reason: statusMessage,
  http: httpVersion,
  headers: rawHeaders as readonly string[],
});
