import { type HandleScope, type Query, queryText } from "../../kernel/call/call.ts";
import type { EventPage } from "../../state/journal/stored-event.ts";
import type { EventQuery } from "./events-api.ts";
import { toWire } from "./match/wire.ts";

export const largestPage = 10_000;

/** Longer patterns do not fit into an address; the client then filters the events itself. */
const longestWhere = 4_000;

/** A query; if it is not exact, the client filters its result. */
export interface Listing {
  query: Query;
  exact: boolean;
}

export function listingOf({ project }: HandleScope, { where, ...asked }: EventQuery): Listing {
  const query: Query = { ...asked, project: project ?? asked.project };
  if (where === undefined) return { query, exact: true };
  const { wire, exact } = toWire(where);
  const text = JSON.stringify(wire);
  if (text.length > longestWhere) return { query, exact: false };
  return { query: { ...query, where: text }, exact };
}

/** Requests a page. @param waitMs How long the sim may wait for an event that fits, if there is none yet */
export const pageOf = (
  { call }: HandleScope,
  query: Query,
  { waitMs, signal }: { waitMs?: number; signal?: AbortSignal } = {},
): Promise<EventPage> => call<EventPage>("GET", `events${queryText({ ...query, wait_ms: waitMs })}`, undefined, signal);
