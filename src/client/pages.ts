import { toWire } from "../match/wire.ts";
import type { StoredEvent } from "../model/event.ts";
import type { EventQuery } from "./api.ts";
import type { Place } from "./call.ts";
import { type Query, queryText } from "./query.ts";

/** Part of a list of events. */
export interface Page {
  events: StoredEvent[];
  /** Where the next part begins. */
  cursor: number;
  more: boolean;
}

/** The server's limit. */
export const largestPage = 10_000;

/** Longer patterns do not fit into an address; whoever asked looks through what comes instead. */
const longestWhere = 4_000;

/** A query of which the server says the last word, or only narrows down what is to be looked at. */
export interface Listing {
  query: Query;
  exact: boolean;
}

/** What the server is asked of a query. */
export function listingOf(
  { project }: Place,
  { where, event, distinct_id, outcome, filter, since, until, order, limit, ...rest }: EventQuery,
): Listing {
  const query: Query = { event, distinct_id, outcome, filter, since, until, order, limit };
  query.project = project ?? rest.project;
  if (where === undefined) return { query, exact: true };
  const { wire, exact } = toWire(where);
  const text = JSON.stringify(wire);
  if (text.length > longestWhere) return { query, exact: false };
  return { query: { ...query, where: text }, exact };
}

/** Asks for a page. @param waitMs How long the sim may wait for something that fits, when there is nothing yet */
export const pageOf = (
  { call }: Place,
  query: Query,
  { waitMs, signal }: { waitMs?: number; signal?: AbortSignal } = {},
): Promise<Page> => call<Page>("GET", `events${queryText({ ...query, wait_ms: waitMs })}`, undefined, signal);
