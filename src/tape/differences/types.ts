import type { HeaderPairs, TapeBody } from "../types.ts";

/** The gravest first. */
export const severities = ["break", "additive", "value"] as const;
/**
 * `break`: what a client may rely on is not there (status, key, type); `additive`: one side has more (a key,
 * null, a kind of list element); `value`: same shape, another value.
 */
export type Severity = (typeof severities)[number];

export type DifferenceKind =
  | "status"
  | "content_type"
  | "header_missing"
  | "header_value"
  | "body_missing"
  | "body_extra"
  | "missing"
  | "extra"
  | "type"
  | "null"
  | "elements"
  | "length"
  | "value"
  | "too_deep";

/** What can be compared of an answer. */
export interface AnswerLike {
  readonly status: number;
  readonly headers: HeaderPairs;
  /** Undefined: none. */
  readonly body: TapeBody | undefined;
}

export interface AnswerDifference {
  severity: Severity;
  kind: DifferenceKind;
  /** `status`, `headers.etag`, `body.results[].name`; list places are not numbered. */
  path: string;
  /** What was recorded, in a few characters: a type where shapes differ, else a value. */
  recorded: string;
  /** The same of the other answer. */
  own: string;
  /** What differs, in words that are the same for each answer with this difference. */
  detail: string;
}

export interface CompareOptions {
  /** Name of the route (`routeOf`). */
  route: string;
  /** Paths whose values (and below) do not count: `res.body.results[].name`, as tapes have them. */
  noise?: readonly string[];
}
