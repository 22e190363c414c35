import type { Json } from "../../kernel/base/json.ts";
import type { Exchange, TapeBody } from "./format/exchange.ts";
import type { TapeHeader } from "./format/header.ts";
import type { LoadedTape, RecordingFacts, RecordingOrder, TapeLedger, TapeMiss } from "./shapes.ts";

/** The nearest exchanges to a request that no exchange answers, and their differences. */
export type ReplayMiss = Pick<TapeMiss, "route" | "nearest">;

export type Ledger = Omit<TapeLedger, "unused_count" | "miss_count">;

/** Numbers of requests with and without an answer. */
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

/** The events of one request, compared with the tape's: SDKs cut batches by timers, so requests are not comparable. */
export interface EventsCompared {
  /** Number of events that the tape has as well. */
  matched: number;
  extra: string[];
}

/** Loaded exchanges, and their use. */
export interface TapeMatcher {
  readonly header: TapeHeader;
  answer(asked: ReplayRequest): Answered;
  /**
   * Compares the events of a request of the capture family with the tape's and marks those that came as used; the
   * emulator answers the request.
   */
  compareEvents(asked: ReplayRequest): EventsCompared;
  ledger(): Ledger;
  /** Only the sums: the page asks for them each second. */
  tally(): HitCount;
  /** Back to the beginning, of one client or all. */
  rewind(client?: string): void;
}

/** A tape to answer from, and how. */
export interface ReplayOrder {
  /** A name (`tapes/NAME.tape.ndjson`) or a path. */
  readonly tape: string;
  /** Answers to what is not on the tape are recorded on it; only the sim's own options can order this. */
  readonly isNew?: boolean | undefined;
  /** What becomes of requests that are not on the tape. */
  readonly onMiss?: string | undefined;
  /** `none`, `recorded`, `scale:0.5`, `max:2000`. */
  readonly timing?: string | undefined;
  /** Recorded responses with these statuses are not given. */
  readonly skipStatus?: readonly number[] | undefined;
  /** Flags of another person or group are given where the tape has none of this one. Default: they are not. */
  readonly approximate?: boolean | undefined;
}

/** The tape that answers, and all its use. */
export interface TapeStatus extends Omit<LoadedTape, "ledger"> {
  readonly ledger: Ledger;
}

/** Loads and unloads the tape that answers. */
export interface TapePlayer {
  show(): TapeStatus | null;
  /** The sums only. */
  tally(): (HitCount & Pick<TapeStatus, "name" | "mode">) | null;
  /** Answers from a tape, instead of the one before. @throws TapeOrderError */
  load(order: ReplayOrder): Promise<TapeStatus>;
  /** The emulator answers again. Returns the tape that answered. */
  unload(): TapeStatus | null;
  /** Back to the beginning, for one client or all; its ids are forgotten as well. */
  rewind(client?: string): void;
}

/** A recording to start; the rest only the sim's own options can order. */
export interface RecordingRequest extends RecordingOrder {
  /** Nothing is redacted. */
  raw?: boolean | undefined;
  /** A tape that exists is replaced at the end, if every request was answered. */
  replacesTape?: boolean | undefined;
}

/** Starts and ends recordings, one at a time. */
export interface Recordings {
  /** @throws TapeOrderError */
  start(order: RecordingRequest): Promise<RecordingFacts>;
  /** Ends the recording and closes its tape; does nothing if there is none. */
  stop(): Promise<RecordingFacts>;
  facts(): RecordingFacts;
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
