import { isoOf } from "../../../kernel/base/clock.ts";
import type { ChunkTimes } from "../upstream/chunk-times.ts";
import { type Decoded, decodeBody } from "./bodies.ts";
import { type Exchange, type HeaderPairs, pairsOf, targetOf } from "./exchange.ts";
import { routeOf } from "./routes.ts";

interface ToExchange {
  i: number;
  /** Most bytes of a decoded body; larger ones are left out. */
  bodyLimit: number;
  /** True if bodies of this target are left out. */
  isBodyless?(target: string): boolean;
}

type Omitted = "too_large" | "excluded" | "not_kept";

const omit = (omitted: Omitted, bytes: number): Decoded => ({
  body: { omitted, bytes },
  wire: { bytes, encodings: [] },
});

function decoded(raw: RawBody, headers: HeaderPairs, target: string | undefined, limit: number): Decoded {
  if (Buffer.isBuffer(raw)) return decodeBody(raw, headers, target, limit);
  return omit(raw.omitted, raw.bytes);
}

export const sizeOf = (raw: RawBody): number => (Buffer.isBuffer(raw) ? raw.length : raw.bytes);

/** An answer, decoded; larger bodies than `limit` are left out. */
function answerOf(raw: RawAnswer, limit: number): NonNullable<Exchange["res"]> {
  const headers = pairsOf(raw.headers);
  const { status, reason, http, ttfb, total, chunks } = raw;
  return {
    ...{ status, reason, http, headers, ...decoded(raw.body, headers, undefined, limit), ttfb, total },
    ...(chunks && { chunks }),
  };
}

/** An exchange as it was received, decoded: its secrets are still in it. */
export function toExchange(raw: RawExchange, { i, bodyLimit, isBodyless }: ToExchange): Exchange {
  const headers = pairsOf(raw.headers);
  const target = targetOf(raw.url);
  const size = sizeOf(raw.body);
  const request =
    size > 0 && isBodyless?.(target) ? omit("excluded", size) : decoded(raw.body, headers, target, bodyLimit);
  return {
    i,
    at: isoOf(raw.at),
    route: routeOf(raw.method, target),
    req: { method: raw.method, url: raw.url, http: raw.http, headers, ...request },
    res: raw.answer && answerOf(raw.answer, bodyLimit),
    complete: raw.answer !== null && raw.aborted === undefined,
    ...(raw.aborted && { aborted: raw.aborted }),
    redacted: [],
    ...(raw.client !== undefined && { client: raw.client }),
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

export interface RawAnswer {
  status: number;
  reason: string;
  http: string;
  headers: readonly string[];
  body: RawBody;
  /** ms from arrival to the answer's first byte, and to its last. */
  ttfb: number;
  total: number;
  /** When the parts of the body came; absent: as a whole. */
  chunks?: ChunkTimes;
}

/** Bytes, or their number where they are not kept. */
export type RawBody = Buffer | { omitted: "too_large" | "excluded" | "not_kept"; bytes: number };
