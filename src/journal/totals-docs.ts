import { docsOf, parameter } from "../http/control-docs.ts";
import type { EndpointDocs } from "../http/endpoint.ts";
import {
  boolean,
  described,
  exact,
  integer,
  listOf,
  nullable,
  text,
  time,
  titled,
} from "../http/json-schema.ts";
import { ofProject } from "../tapes/har/docs.ts";

/** How far a count is (`Progress`). */
const progress = {
  complete: described(
    boolean,
    "False: a part was not counted yet, or can no longer be read, and there are at least as many",
  ),
  counting: described(boolean, "True: a part was not counted yet; the next call continues"),
} as const;
const lastSeq = described(integer, "Seq of the last one");

const eventTotals = titled(
  "EventTotals",
  exact({
    ...progress,
    total: integer,
    kept: integer,
    dropped: integer,
    warned: described(integer, "Events with warnings"),
    names: described(
      listOf(
        exact({
          event: text,
          count: integer,
          dropped: integer,
          last: lastSeq,
          last_at: described(nullable(time), "Arrival of the last one; null where memory let go of it"),
        }),
      ),
      "The most frequent ones first, at most 50",
    ),
    more_names: described(integer, "How many names there are in addition"),
    names_complete: described(
      boolean,
      "False: there are more names than the 10,000 that are counted separately",
    ),
    codes: described(
      listOf(exact({ code: text, count: integer, dropped: integer, last: lastSeq })),
      "Reasons for drops, and warnings; the most frequent ones first",
    ),
  }),
);

const requestTotals = titled(
  "RequestTotals",
  exact({ ...progress, total: integer, answered: integer, rejected: integer }),
);

const totals = titled(
  "Totals",
  exact({
    events: eventTotals,
    requests: requestTotals,
    persons: described(integer, "Of the project; no filter counts"),
  }),
);

/** The row of totals. */
export const totalsDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/totals": docsOf("The totals", totals, {
    errors: [400],
    query: [
      ofProject,
      parameter("events", "Counts only events that pass this filter; default: all"),
      parameter("requests", "Counts only requests that pass this filter; default: all"),
    ],
  }),
};
