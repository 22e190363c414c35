import type { Json } from "../../kernel/base/json.ts";
import type { Exchange, TapeBody } from "./format/exchange.ts";
import type { LoadedTape, RecordingOrder, TapeLedger, TapeMiss } from "./shapes.ts";

export type ReplayMiss = Pick<TapeMiss, "route" | "nearest">;

export type Ledger = Omit<TapeLedger, "unused_count" | "miss_count">;

export interface HitCount {
  hits: number;
  misses: number;
}

export type Answered =
  | {
      hit: Exchange;
      /** How it was found: `exact`, or a fallback's name. */
      tier: string;
      /** Set if it is another person's or group's: `another_person`, `another_group`. */
      approximate?: string;
      /** The answer's body with recorded ids replaced by live ones. */
      body: TapeBody | undefined;
    }
  /** `target`: path and query without secrets. */
  | { miss: ReplayMiss; target: string };

export interface ReplayOrder {
  /** A name (`tapes/NAME.tape.ndjson`) or a path. */
  readonly tape: string;
  /** Answers to what is not on the tape are recorded on it; only the sim's own options can order this. */
  readonly isNew?: boolean | undefined;
  readonly onMiss?: string | undefined;
  /** `none`, `recorded`, `scale:0.5`, `max:2000`. */
  readonly timing?: string | undefined;
  readonly skipStatus?: readonly number[] | undefined;
  /** Flags of another person or group are given where the tape has none of this one. Default: they are not. */
  readonly approximate?: boolean | undefined;
}

export interface TapeStatus extends Omit<LoadedTape, "ledger"> {
  readonly ledger: Ledger;
}

/** A recording to start; the rest only the sim's own options can order. */
export interface RecordingRequest extends RecordingOrder {
  raw?: boolean | undefined;
  /** A tape that exists is replaced at the end, if every request was answered. */
  replacesTape?: boolean | undefined;
}

/** Why a tape or a recording cannot be used as ordered: which part of the order is wrong, and what to do about it. */
export class TapeOrderError extends Error {
  readonly key: "upstream" | "offline" | "running" | "maxAge" | keyof ReplayOrder;
  readonly hint: string;

  constructor(key: TapeOrderError["key"], message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = "TapeOrderError";
    this.key = key;
    this.hint = hint;
  }
}

/** The options of a sim that concern tapes; `SimOptions` describes them. */
export interface TapeSettings
  extends Partial<Omit<ReplayOrder, "isNew">>,
    Pick<RecordingRequest, "raw" | "replacesTape"> {
  readonly mode?: Mode | undefined;
  readonly maxAge?: string | undefined;
  readonly host?: string | undefined;
  readonly upstream?: string | undefined;
  readonly upstreamCa?: string | undefined;
  readonly offline?: boolean | undefined;
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly redact?: "default" | "pii" | undefined;
  readonly allowWrites?: boolean | undefined;
  readonly onNotice?: ((text: string) => void) | undefined;
}

/** Whose answer a request gets, and what is written. */
export type Mode = "emulate" | "record" | "once" | "new" | "replay" | "spy";

export interface ReplayRequest {
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
