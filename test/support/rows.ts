import type { EventRow, RequestRow } from "../../src/state/journal/feed/feed-row.ts";

/** The row of a request that went well; `at` is its number, ms since the epoch. */
export const requestRow = (n: number, more: Partial<RequestRow> = {}): RequestRow => ({
  n,
  at: n,
  method: "POST",
  target: "/capture/",
  status: 200,
  ms: 1,
  project: 1,
  outcome: "answered",
  reason: null,
  detail: null,
  unmatched: false,
  fault: null,
  source: "emulator",
  partition: null,
  events: 1,
  dropped: 0,
  ...more,
});

/** The row of an event that was kept, in a request with the same number. */
export const eventRow = (n: number, more: Partial<EventRow> = {}): EventRow => ({
  seq: n,
  n,
  i: 0,
  at: n,
  time: n,
  project: 1,
  event: "seen",
  distinct_id: "u",
  person: null,
  outcome: "kept",
  reason: null,
  warnings: [],
  preview: [],
  path: "",
  lib: "",
  session: null,
  ...more,
});
