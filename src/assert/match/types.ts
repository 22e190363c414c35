import type { DropReason } from "../../journal/outcome.ts";

/**
 * What a value must be like. A literal is equal; an object is a recursive subset; an array has the same length and
 * fits item by item; an object whose keys start with `@` is operators, all of which must hold (`@@x` is the key
 * `@x`). In process also: a RegExp (for texts), a Date (the same moment), and every object with an `asymmetricMatch`
 * method, as `expect.any(Number)` of vitest, jest and sinon has.
 */
export type Pattern = unknown;

/** How often something is wanted. Absent: no limit on that side. */
export interface Count {
  min?: number;
  max?: number;
}

/** Events that are wanted, or not wanted (`max: 0`). */
export interface Expectation<P = Pattern> {
  match: P;
  /** Default `{ min: 1 }`. */
  count?: Count;
}

/** What all of it must satisfy together. */
export interface Terms {
  expect: readonly Expectation[];
  /** Do the events of each expectation (as many as its minimum) come after those of the one before? */
  ordered?: boolean;
  /** Is every event that fits none of the expectations one too many? Events whose names start with `$` are let pass unless an expectation names them. */
  nothingElse?: boolean;
}

/** One place where a value is not as wanted. */
export interface Difference {
  /** `properties.amount`, `properties.items[2].sku`; "" is the value itself. */
  path: string;
  /** As one would write it in code, e.g. `49`, `"pro"`, `Any<Number>`, `@gte 10`. */
  expected: string;
  /** As one would write it, or null when there is nothing. */
  actual: string | null;
  /** What is odd about it in a few words, e.g. `number as text`, `case differs`, `did you mean "plan"?`. */
  hint: string | null;
}

/** An event that is nearly it. */
export interface NearMiss {
  seq: number;
  event: string;
  distinct_id: string;
  received_at: string;
  /** 0 (nothing in common) to 1 (it fits). */
  score: number;
  differences: Difference[];
}

/** An event that a report names, in short. */
export interface Sighting {
  seq: number;
  event: string;
  distinct_id: string;
  project: number | null;
  received_at: string;
}

/** An event that was dropped, and why. */
export interface DroppedSighting extends Sighting {
  reason: DropReason;
  sentence: string;
  fix: string;
  /** Would it have been it, had it been kept? */
  fits: boolean;
}

/** Why the terms do not hold; each kind has its own words in the text. */
export type Complaint =
  | { kind: "too_few"; expectation: number; wanted: Count; got: number; events: Sighting[] }
  | { kind: "too_many"; expectation: number; wanted: Count; got: number; events: Sighting[] }
  /** `expectation` came before the one that it should follow. */
  | { kind: "out_of_order"; expectation: number; after: number; event: Sighting; previous: Sighting }
  | { kind: "unexpected"; events: Sighting[]; total: number };

/** What came of the terms. */
export interface Verdict {
  passed: boolean;
  complaints: Complaint[];
  /** For each expectation the seqs of the events that fit it, oldest first. */
  matched: number[][];
}

/** What a report is made of, besides the terms and the events. Everything is of the scope unless it says otherwise. */
export interface Surroundings {
  /** Which project was looked at; null for all. */
  project: { id: number; name: string; api_key: string } | null;
  /** The cursor after which events counted. */
  since: number;
  /** null where nothing was waited for. */
  waited_ms: number | null;
  /** The sim's address, for the app's settings and the link. */
  url: string;
  /** True if the sim outlives the tests, so that a link to the inspector works after them. */
  inspectable: boolean;
  /** Events that fit the first expectation that failed, seen before the cursor. */
  early: Sighting[];
  /** … that came after the wait was over. */
  late: (Sighting & { ms_late?: number })[];
  /** … that were kept in another project; with its public key, where it is known. */
  elsewhere: (Sighting & { api_key?: string | null })[];
  /** Requests of the scope, and those of no project, that were rejected; newest first. */
  rejected: { n: number; method: string; target: string; reason: string; detail: string; hint?: string }[];
  /** Requests to paths that are not there, newest first. */
  unmatched: { n: number; method: string; target: string; hint?: string }[];
  /** How many requests there were at all since the cursor's time; 0 has its own words. */
  requests: number;
  in_flight: number;
  last_request_ms_ago: number | null;
  /** Which libraries sent something, e.g. `posthog-node` `5.70.0`, newest first. */
  senders: { lib: string; version: string | null }[];
  /** Names of faults that are active, and how many requests of the scope they touched. */
  faults: { name: string; touched: number }[];
  /** Were events let go (memory limit, clear) that are younger than the cursor? */
  evicted: boolean;
}

/** Why an assertion failed: for machines, and as text that can be printed as it is. */
export interface Report extends Surroundings {
  /** What was wanted, in a line, e.g. `toHaveCaptured("signup", {plan: "pro"})`. */
  title: string;
  text: string;
  /** The expectations as one would write them, by their index. */
  wanted: string[];
  complaints: Complaint[];
  /** The nearest events, best first. */
  near_misses: NearMiss[];
  /** Names of the kept events with their counts. */
  seen: Record<string, number>;
  dropped: DroppedSighting[];
  /** Whole sentences: what may be the cause, and what to do. */
  hints: string[];
}
