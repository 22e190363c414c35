import type { EventSubject, RequestSubject } from "../../src/filter/types.ts";
import type { Json } from "../../src/kernel/json.ts";
import type { EventRow, RequestRow } from "../../src/model/row.ts";

/** The time by which the tests' filters judge, ms. */
export const now = Date.UTC(2025, 5, 1, 12, 0, 0);

const minute = 60_000;

const requestRow: RequestRow = {
  n: 1,
  at: now - minute,
  method: "POST",
  target: "/batch/?v=2",
  status: 200,
  ms: 4.5,
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
};

const eventRow: EventRow = {
  seq: 1,
  n: 1,
  i: 0,
  at: now - minute,
  time: now - minute,
  project: 1,
  event: "signup",
  distinct_id: "user-1",
  person: "0197f3a2-0000-7000-8000-000000000001",
  outcome: "kept",
  reason: null,
  warnings: [],
};

/** A subject of which only some is told. */
export const eventOf = (
  row: Partial<EventRow>,
  properties: Readonly<Record<string, Json>> = {},
  request: Partial<RequestRow> | undefined = {},
): EventSubject => ({
  row: { ...eventRow, ...row },
  properties: () => properties,
  request: () => ({ ...requestRow, ...request }),
});

/** An event whose request is gone. */
export const orphanOf = (row: Partial<EventRow>): EventSubject => ({
  ...eventOf(row),
  request: () => undefined,
});

/** A subject of which only some is told. */
export const requestOf = (
  row: Partial<RequestRow>,
  events: readonly EventSubject[] = [],
  text = "",
): RequestSubject => ({
  row: { ...requestRow, events: events.length, ...row },
  events: () => events,
  text: () => text,
});

const dear = (what: string) => (): never => {
  throw new Error(`${what} was asked for`);
};

/** What may not be asked for more than its rows. */
export const lightEvent: EventSubject = { ...eventOf({}), properties: dear("properties") };
export const lightRequest: RequestSubject = { ...requestOf({}), events: dear("events"), text: dear("text") };
