import type { Json } from "../../kernel/base/json.ts";
import type { EventFacts } from "./event.ts";
import type { DecodeStep } from "./request-shapes.ts";

/** How a body is split into items; each shape has one reader (show.ts). */
export type BodyShape = "legacy" | "v1" | "recording";

/** One line of traffic.ndjson: a request, its outcome and its events, so that a crash keeps all of them or none. */
export interface TrafficLine {
  n: number;
  /** Arrival, ms since the epoch. */
  at: number;
  method: string;
  /** Path and query as sent, secrets masked. */
  target: string;
  peer: string;
  status: number;
  /** Time taken until the answer was ready, in microseconds. */
  us: number;
  project: number | null;
  rejected?: { reason: string; detail: string; hint?: string };
  fault?: string;
  scripted?: true;
  /** What answered, if neither the emulator nor a script did: `tape:checkout#12`, `upstream`. */
  source?: string;
  partition?: string;
  seq?: number;
  events?: EventFacts[];
  shape?: BodyShape;
  steps?: DecodeStep[];
  /** Flat list name, value, name, value … as received, secrets masked. */
  headers: string[];
  /** The bytes as received where `body` is not their exact text: `text` if UTF-8, else base64. */
  raw?: { text: string } | { base64: string } | { omitted: string; bytes: number };
  /** Of the answer, as `headers`; absent when they are the usual ones. */
  reply_headers?: string[];
  /** The answer's body: JSON as is, other text as a string, null when empty; large or binary ones are omitted. */
  reply?: Json;
  /** The request's JSON, verbatim; always the last key. */
  body?: Json;
}

/** Names the project of a request if a test cannot change the keys that the app sends. Not a header of the service. */
export const projectHeader = "x-phx-project";
/** The same in the query, for a page that is being left: a beacon has no headers of its own. */
export const projectParameter = "phx_project";

export const usualReplyHeaders: readonly string[] = [
  ...["content-type", "application/json"],
  ...["x-phx-source", "emulator"],
];

/** Headers of the response, secrets masked; empty if it was prevented. */
export const replyHeadersOf = ({ status, reply_headers: given }: TrafficLine): readonly string[] =>
  status === 0 ? [] : (given ?? usualReplyHeaders);

declare module "../../kernel/http/call.ts" {
  interface CallRecord {
    shape?: BodyShape;
    steps?: DecodeStep[];
    text?: string;
    /** True if keys were masked in the text; the bytes as received are not kept then. */
    redacted?: boolean;
    /** The same text as UTF-8, without keys, if it exists already. */
    bytes?: Buffer | undefined;
    events?: EventFacts[];
    keys?: EventKey[];
    /** The body, if it was decoded before the handler ran (capture/call-owner.ts); not written. */
    decoded?: DecodedBody;
  }
}

export interface DecodedBody {
  steps: DecodeStep[];
  json: JsonText | undefined;
  token: string | undefined;
}

/** A body as JSON: its text, which fits on one line of a file, and its value. */
export interface JsonText {
  text: string;
  bytes: Buffer | undefined;
  value: Json;
  /** True if keys were masked in it: they must reach neither the journal nor a person's properties. */
  redacted: boolean;
  /** True if distinct ids are text in the value that are numbers with more digits than JSON.parse keeps. */
  hasExactIds: boolean;
  size: number;
}

export interface EventKey {
  event: string;
  distinct_id: string;
  /** null: the sim made the uuid, so it cannot arrive again. */
  uuid?: string | null;
}
