import type { Json } from "../../base/json.ts";
import type { EventRow, RequestRow } from "../feed/feed-row.ts";

/** What a filter is asked about. The parts that cost something are functions. */
export interface EventSubject {
  readonly row: EventRow;
  properties(): Readonly<Record<string, Json>>;
  /** The request that carried it; undefined when it is gone. */
  request(): RequestRow | undefined;
}

export interface RequestSubject {
  readonly row: RequestRow;
  /** The events that it carried. */
  events(): readonly EventSubject[];
  /** Its decoded body and its answer, as text, for free words. */
  text(): string;
}

/** What of a filter the log's index can find, ANDed with the rest. */
export interface IndexedPart {
  event?: string;
  distinct_id?: string;
  project?: number;
  outcome?: "kept" | "dropped";
  /** Only events with warnings. */
  warned?: true;
  /** A code of a reason or a warning. */
  reason?: string;
  /** Of requests. */
  rejected?: boolean;
}

/** What a filter is about. */
export type FilterKind = "events" | "requests";

/** A filter that was understood. */
export interface Filter<Subject> {
  /** It in its usual spelling. */
  readonly text: string;
  /** Does it look at rows only? Then `properties`, `events` and `text` are never called. */
  readonly isLight: boolean;
  readonly indexed: IndexedPart;
  /** True if the indexed part says all of it: `test` passes what the index finds. */
  readonly isIndexed: boolean;
  /** True if it depends on the time of day: what passed may fail later. */
  readonly isTimed: boolean;
  /** @param now The time of the sim's clock, by which arrivals are stamped, ms: `since:5m` is relative to it. */
  test(subject: Subject, now: number): boolean;
}

/** A mistake in a filter's text. */
export interface FilterProblem {
  /** Which characters, from 0. */
  readonly at: number;
  readonly length: number;
  readonly message: string;
  readonly hint?: string;
}

export type Reading<Subject> =
  | { readonly filter: Filter<Subject> }
  | { readonly problems: readonly FilterProblem[] };

/** Something that may stand at the caret. */
export interface Completion {
  /** Replaces the characters from `from` to `to`. */
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** What it means, in a few words. */
  readonly note: string;
}

/** What has been seen so far, for completing values. */
export interface KnownValues {
  readonly events: readonly string[];
  readonly distinctIds: readonly string[];
  readonly properties: readonly string[];
  readonly reasons: readonly string[];
}
