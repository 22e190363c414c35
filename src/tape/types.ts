import type { Json } from "../kernel/json.ts";
import type { TapeRules } from "./redact/rules.ts";

/** Whose answer a request gets, and what is written. `none` is another word for `replay`. */
export type Mode =
  | "emulate"
  | "record"
  | "all"
  | "once"
  | "new"
  | "replay"
  | "none"
  | "hybrid"
  | "spy"
  | "diff";

/** What replaying answers where the tape has nothing: a clear error, the emulator, or the service itself. */
export type MissPolicy = "fail" | "emulate" | "upstream";

/**
 * An exchange as a door saw it, secrets and all. It never reaches a disk: `redact` makes an `Exchange` of it.
 */
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
  /** null: no answer came. */
  answer: RawAnswer | null;
  /** Who ended it before it was whole. */
  aborted?: "client" | "upstream";
  /** Whose it is, for tests at the same time: the `X-Test-Id` header, or the project. */
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
}

/** Bytes, or how many there were where they are not kept. */
export type RawBody = Buffer | { omitted: "too_large" | "excluded" | "not_kept"; bytes: number };

/** First line of a tape. */
export interface TapeHeader {
  /** Version of the format. */
  tape: 1;
  id: string;
  created: string;
  /** e.g. `phx-sim/0.1.0`, or what a HAR says. */
  creator: string;
  /** Where it was recorded; null for an import of several. */
  upstream: string | null;
  /** Which rules redacted it, e.g. `default`, `pii`. */
  redaction: string;
  /** Paths that differ without meaning (`req.body.batch[].uuid`): what `tape learn` found, over the built-in ones. */
  noise: readonly string[];
  /** Rules of the project that redacted it over the built-in ones; live requests go through them, too. */
  rules?: TapeRules;
  /** From 2: this file continues another one, which grew too large; absent: the first. */
  volume?: number;
}

/** A body as the tape has it: decoded, redacted. */
export type TapeBody =
  | { json: Json }
  | { text: string }
  | { b64: string }
  /** In a side file of `<tape>.d/`, named by its hash; `as`: what it is, absent for bytes. */
  | { file: string; bytes: number; as?: "json" | "text" }
  | { omitted: string; bytes: number };

/** How a body travelled, so that it can be sent in the same way. */
export interface Wire {
  bytes: number;
  /** Outermost first: `gzip`, `br`, `deflate`, `base64`, `form`, `lz64` …; sniffed ones as the SDKs send them. */
  encodings: readonly string[];
  /** Why it could not be decoded further, e.g. `gzip: not gzip data`. */
  trouble?: string;
}

export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** One request and its answer: one line of a tape. */
export interface Exchange {
  /** From 1, in the order of arrival. */
  i: number;
  at: string;
  /** Name of its route (`routeOf`), e.g. `flags`, `capture`, `GET /api/projects/:id/dashboards`. */
  route: string;
  req: {
    method: string;
    url: string;
    http: string;
    /** Order, case and duplicates as received. */
    headers: HeaderPairs;
    wire: Wire;
    /** Absent: none. */
    body?: TapeBody;
  };
  res: {
    status: number;
    reason: string;
    http: string;
    headers: HeaderPairs;
    wire: Wire;
    body?: TapeBody;
    ttfb: number;
    total: number;
  } | null;
  /** False: cut off; never replayed unless asked for. */
  complete: boolean;
  aborted?: "client" | "upstream";
  /** Where placeholders stand, e.g. `req.headers.authorization`, `req.body.api_key`. */
  redacted: readonly string[];
  client?: string;
}

/** Takes the secrets out of exchanges before they reach a disk; it remembers which secret is which over a tape. */
export interface Redactor {
  /** Goes into the tape's header. */
  readonly profile: string;
  /** Goes there, too. */
  readonly rules?: TapeRules;
  redact(exchange: Exchange): Exchange;
  /** Text of a tape that is continued: its placeholders are taken, so that one never stands for two secrets. */
  reserve?(text: string): void;
}

/** Something wrong with a tape, or in it. */
export interface TapeProblem {
  file: string;
  line: number;
  detail: string;
  hint: string;
}

/** A request that is to be answered from a tape. */
export interface Asked {
  method: string;
  /** Path and query. */
  target: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  /** As the client believes it to be; default http. */
  scheme?: "http" | "https";
  /** Decoded JSON, or text; undefined: none. */
  body: Json | undefined;
  /** The request before redaction, as a recording has it; absent: it is made of `headers` and `body`. */
  sent?: Pick<Exchange["req"], "headers" | "wire" | "body">;
  /** Tests at the same time do not disturb each other: each client has its own aliases and cursors. */
  client: string;
}

/** Why a request was not answered: the nearest exchanges, and what differs. */
export interface Miss {
  route: string;
  nearest: {
    i: number;
    method: string;
    url: string;
    differing: { path: string; recorded: string; asked: string }[];
  }[];
}

export type Answered =
  /** `tier`: how it was found: `exact`, or a fallback's name. */
  | {
      hit: Exchange;
      tier: string /** The answer's body with recorded ids replaced by live ones. */;
      body: TapeBody | undefined;
    }
  /** `target`: path and query without secrets. */
  | { miss: Miss; target: string };

/** Loaded exchanges, and what was used of them. */
export interface Deck {
  readonly header: TapeHeader;
  answer(asked: Asked): Answered;
  /**
   * Requests of the capture family (`isCapture(route)`) are answered by the emulator; this compares their events
   * with the tape's and marks what came as used.
   */
  compareEvents(asked: Asked): EventsCompared;
  /** Used, unused and missed so far. */
  ledger(): Ledger;
  /** Its sums alone: whoever looks on asks each second. */
  tally(): Tally;
  /** Back to the beginning, of one client or all. */
  rewind(client?: string): void;
}

/** How many requests were answered, and how many had no answer. */
export interface Tally {
  hits: number;
  misses: number;
}

export interface Ledger {
  /** Exchanges that can be given as answers. */
  total: number;
  /** Requests that reached the tape, whoever answered them. */
  requests: number;
  hits: number;
  /** Exchanges that can be given as answers, and never were. */
  unused: { i: number; method: string; url: string; route: string }[];
  /** Exchanges that are never given as answers, and why. */
  left_out: { i: number; method: string; url: string; route: string; why: string }[];
  /** Exchanges that capture events or recordings: the emulator answers such requests. */
  captures: number;
  /** Their events: how many there are, and those that did not come again. */
  events: { recorded: number; missing: { event: string; times: number }[] };
  misses: (Miss & { method: string; target: string; times: number })[];
}

/** How the events of one request stand to the tape's: SDKs cut batches by timers, so requests are not comparable. */
export interface EventsCompared {
  /** How many the tape has, too. */
  matched: number;
  /** Names of those that it does not have (any more). */
  extra: string[];
}
