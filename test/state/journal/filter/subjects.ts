import type { Json } from "../../../../src/kernel/base/json.ts";
import type { EventRow, RequestRow } from "../../../../src/state/journal/feed/feed-row.ts";
import type { EventSubject, RequestSubject } from "../../../../src/state/journal/filter/types.ts";
import { eventRow, requestRow } from "../../../support/rows.ts";

/** The time by which the tests' filters select, ms. */
export const now = Date.UTC(2025, 5, 1, 12, 0, 0);

const minute = 60_000;

const aRequest = requestRow(1, { at: now - minute, target: "/batch/?v=2", ms: 4.5 });

const anEvent = eventRow(1, {
  at: now - minute,
  time: now - minute,
  event: "signup",
  distinct_id: "user-1",
  person: "0197f3a2-0000-7000-8000-000000000001",
});

/** A subject of which only some is reported. */
export const eventOf = (
  row: Partial<EventRow>,
  properties: Readonly<Record<string, Json>> = {},
  request: Partial<RequestRow> | undefined = {},
): EventSubject => ({
  row: { ...anEvent, ...row },
  properties: () => properties,
  exceptionGroup: () => undefined,
  request: () => ({ ...aRequest, ...request }),
});

/** An event whose request is gone. */
export const orphanOf = (row: Partial<EventRow>): EventSubject => ({ ...eventOf(row), request: () => undefined });

/** A subject of which only some is reported. */
export const requestOf = (
  row: Partial<RequestRow>,
  events: readonly EventSubject[] = [],
  text = "",
): RequestSubject => ({
  row: { ...aRequest, events: events.length, ...row },
  events: () => events,
  text: () => text.toLowerCase(),
});

const dear = (what: string) => (): never => {
  throw new Error(`${what} was asked for`);
};

/** What may not be asked for more than its rows. */
export const lightEvent: EventSubject = { ...eventOf({}), properties: dear("properties") };
export const lightRequest: RequestSubject = { ...requestOf({}), events: dear("events"), text: dear("text") };
