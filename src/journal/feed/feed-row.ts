/** An event in a list: light enough that a page holds a hundred thousand of them. */
export interface EventRow {
  /** Order of arrival over all projects, from 1. */
  readonly seq: number;
  /** Number of the request that carried it, and its place among that request's events, from 0. */
  readonly n: number;
  readonly i: number;
  /** Arrival, and the event's own time, ms since the epoch. */
  readonly at: number;
  readonly time: number;
  readonly project: number | null;
  readonly event: string;
  readonly distinct_id: string;
  /** The person's uuid at that moment. */
  readonly person: string | null;
  readonly outcome: "kept" | "dropped";
  /** Why it was dropped (model/outcome.ts); null when it was kept. */
  readonly reason: string | null;
  /** Codes of what was odd about an event that was kept. */
  readonly warnings: readonly string[];
}

/** A request in a list. */
export interface RequestRow {
  /** Its number, from 1. */
  readonly n: number;
  /** Arrival, ms since the epoch. */
  readonly at: number;
  readonly method: string;
  /** Path and query, secrets masked. */
  readonly target: string;
  /** 0 where a fault kept the answer from arriving. */
  readonly status: number;
  /** Time taken until the answer was ready, ms. */
  readonly ms: number;
  readonly project: number | null;
  readonly outcome: "answered" | "rejected";
  /** Why it was rejected: a machine reason and a sentence. */
  readonly reason: string | null;
  readonly detail: string | null;
  /** It was rejected because its path is not there. */
  readonly unmatched: boolean;
  /** Names of the faults that touched it. */
  readonly fault: string | null;
  /** `emulator`, `fault`, `script`, `tape:NAME#12`, `upstream` …, as the answer's `x-phx-source` says it. */
  readonly source: string;
  readonly partition: string | null;
  /** How many events it carried, and how many of them were dropped. */
  readonly events: number;
  readonly dropped: number;
}
