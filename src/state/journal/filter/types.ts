import type { Json } from "../../../kernel/base/json.ts";
import type { EventHead, RequestRow } from "../feed/feed-row.ts";

/** An event as filters see it; expensive parts are functions. */
export interface EventSubject {
  readonly row: EventHead;
  properties(): Readonly<Record<string, Json>>;
  exceptionGroup(): string | undefined;
  request(): RequestRow | undefined;
}

export interface RequestSubject {
  readonly row: RequestRow;
  events(): readonly EventSubject[];
  /** Its decoded body and its answer as text in lower case, for free words. */
  text(): string;
}

/** The part of a filter that the log's index can find; the rest must match, too. */
export interface IndexedPart {
  event?: string;
  distinct_id?: string;
  project?: number;
  outcome?: "kept" | "dropped";
  warned?: boolean;
  reason?: string;
  rejected?: boolean;
}

export type FilterKind = "events" | "requests";

export interface Filter<Subject> {
  readonly text: string;
  /** True if it reads rows only, and never calls `properties`, `events` and `text`. */
  readonly isLight: boolean;
  readonly indexed: IndexedPart;
  /** True if the indexed part is all of it: `test` passes everything that the index finds. */
  readonly isIndexed: boolean;
  /** True if it depends on the time: what passes now may fail later. */
  readonly isTimed: boolean;
  /** @param now The time of the sim's clock, ms; `since:5m` is relative to it */
  test(subject: Subject, now: number): boolean;
}

export interface FilterProblem {
  readonly at: number;
  readonly length: number;
  readonly message: string;
  readonly hint?: string;
}

export type FilterReading<Subject> =
  | { readonly filter: Filter<Subject> }
  | { readonly problems: readonly FilterProblem[] };

export interface Completion {
  /** Replaces the characters from `from` to `to`. */
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly note: string;
}

export interface KnownValues {
  readonly events: readonly string[];
  readonly distinctIds: readonly string[];
  readonly properties: readonly string[];
  readonly reasons: readonly string[];
}
