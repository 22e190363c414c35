import type { Json } from "../../../../src/kernel/base/json.ts";
import type { Exchange } from "../../../../src/lab/tapes/format/exchange.ts";
import type { TapeHeader } from "../../../../src/lab/tapes/format/header.ts";
import { routeOf } from "../../../../src/lab/tapes/format/routes.ts";
import { loadTapeMatcher, type TapeMatcher } from "../../../../src/lab/tapes/match/tape-matcher.ts";
import type { Answered, ReplayRequest } from "../../../../src/lab/tapes/ports.ts";

const header: TapeHeader = {
  tape: 1,
  id: "0195f3f6-0000-7000-8000-000000000001",
  created: "2026-01-01T00:00:00.000Z",
  creator: "test",
  upstream: "https://us.posthog.com",
  redaction: "default",
  noise: [],
};

/** What matters of an exchange; the rest is filled in. */
export interface Said {
  method?: string;
  /** Path and query. */
  target: string;
  body?: Json;
  status?: number;
  answer?: Json;
  headers?: readonly (readonly [string, string])[];
  complete?: boolean;
  /** Where redaction has found secrets. */
  redacted?: readonly string[];
  /** Number, where it is not the order of the tape. */
  i?: number;
}

export function exchange(said: Said, i = 1): Exchange {
  const { method = said.body === undefined ? "GET" : "POST", target, body, status = 200, answer = { i } } = said;
  const wire = { bytes: 0, encodings: [] };
  return {
    i,
    at: "2026-01-01T00:00:00.000Z",
    route: routeOf(method, target),
    req: {
      method,
      url: `https://us.posthog.com${target}`,
      http: "1.1",
      headers: said.headers ?? [],
      wire,
      ...(body !== undefined && { body: { json: body } }),
    },
    res: { status, reason: "", http: "1.1", headers: [], wire, body: { json: answer }, ttfb: 1, total: 1 },
    complete: said.complete ?? true,
    redacted: said.redacted ?? [],
  };
}

export const tapeOf = (said: readonly Said[], over: Partial<TapeHeader> = {}) => ({
  header: { ...header, ...over },
  exchanges: said.map((it, at) => exchange(it, it.i ?? at + 1)),
});

export function asked(said: Said, client = "one"): ReplayRequest {
  const { method = said.body === undefined ? "GET" : "POST", target, body, headers = [] } = said;
  const named = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
  return { method, target, headers: { host: "127.0.0.1:8010", ...named }, body, client };
}

export const matcherOf = (
  said: readonly Said[],
  options: Parameters<typeof loadTapeMatcher>[1] = {},
): Promise<TapeMatcher> => loadTapeMatcher(tapeOf(said), options);

/** Number of the exchange that answered, or "miss". */
export const hitOf = (answered: Answered): number | "miss" => ("hit" in answered ? answered.hit.i : "miss");

export const bodyOf = (answered: Answered): Json | undefined =>
  "hit" in answered && answered.body !== undefined && "json" in answered.body ? answered.body.json : undefined;
