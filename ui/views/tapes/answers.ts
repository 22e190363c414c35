import type { Json } from "../../../src/base/json.ts";

/** Response of GET /__sim/tapes. */
export interface TapesAnswer {
  readonly tape: TapeInForce | null;
}

export interface TapeInForce {
  readonly name: string;
  readonly file: string;
  readonly upstream: string | null;
  readonly created: string;
  readonly mode: string;
  readonly on_miss: string;
  readonly timing: string;
  readonly added: number;
  readonly problems: readonly { file: string; line: number; detail: string; hint: string }[];
  readonly ledger: Ledger;
}

export interface Ledger {
  readonly total: number;
  readonly hits: number;
  readonly unused_count: number;
  readonly miss_count: number;
  readonly unused: readonly { i: number; method: string; url: string; route: string }[];
  readonly misses: readonly Miss[];
}

export interface Miss {
  readonly method: string;
  readonly target: string;
  readonly route: string;
  readonly times: number;
  readonly nearest: readonly Nearest[];
}

export interface Nearest {
  readonly i: number;
  readonly method: string;
  readonly url: string;
  readonly differing: readonly { path: string; recorded: string; asked: string }[];
}

/** Response of GET /__sim/recording. */
export interface Recording {
  readonly state: "off" | "recording" | "stopped";
  readonly mode: "record" | "all" | "spy" | "diff" | null;
  readonly upstream: string | null;
  readonly tape: string | null;
  readonly redaction: string | null;
  readonly started_at: string | null;
  readonly passed: number;
  readonly in_flight: number;
  readonly bytes_sent: number;
  readonly bytes_received: number;
  readonly taped: number;
  readonly redacted: number;
  readonly aborted: number;
  readonly failed: number;
  readonly last_failure: string | null;
  readonly trouble: string | null;
  readonly differences: Differences | null;
}

export interface Differences {
  readonly compared: number;
  readonly differing: number;
  readonly groups: readonly DifferenceGroup[];
}

interface DifferenceGroup {
  readonly route: string;
  readonly severity: "break" | "additive" | "value";
  readonly kind: string;
  readonly path: string;
  readonly recorded?: string;
  readonly own?: string;
  readonly detail?: string;
  readonly count: number;
  readonly of: number;
  readonly first: number;
}

/** Response of GET /__sim/tapes/files. */
export interface TapeFiles {
  readonly folder: string;
  readonly tapes: readonly {
    readonly name: string;
    readonly bytes: number;
    readonly exchanges: number;
    readonly upstream: string | null;
    readonly created: string | null;
    readonly problem: string | null;
  }[];
}

export interface ExchangeRow {
  readonly i: number;
  readonly at: string;
  readonly route: string;
  readonly method: string;
  readonly url: string;
  /** null: no response. */
  readonly status: number | null;
  readonly ms: number | null;
  readonly complete: boolean;
  readonly client: string | null;
  readonly used: boolean;
}

/** Response of GET /__sim/tapes/exchanges. */
export interface Exchanges {
  readonly exchanges: readonly ExchangeRow[];
  readonly more: boolean;
}

export type TapeBody =
  | { readonly json: Json }
  | { readonly text: string }
  | { readonly b64: string }
  | { readonly file: string; readonly bytes: number }
  | { readonly omitted: string; readonly bytes: number };

export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** Response of GET /__sim/tapes/exchanges/{i}. */
export interface Exchange extends ExchangeRow {
  readonly request: { readonly headers: HeaderPairs; readonly body?: TapeBody };
  readonly response: {
    readonly status: number;
    readonly headers: HeaderPairs;
    readonly body?: TapeBody;
    readonly ttfb: number;
    readonly total: number;
  } | null;
  /** Pointers of redacted secrets. */
  readonly redacted: readonly string[];
}
