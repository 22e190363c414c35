import type { EndpointDocs } from "../http/endpoint.ts";
import {
  always,
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
import { docsOf, parameter } from "./docs-row.ts";
import { ofProject } from "./har-docs.ts";

/** How far a count is (`Progress`). */
export const progress = {
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

const eventProblem = titled(
  "EventProblem",
  exact({
    code: described(text, "The reason, or the warning"),
    count: integer,
    dropped: integer,
    last: lastSeq,
  }),
);

const requestProblem = titled(
  "RequestProblem",
  exact(
    {
      reason: text,
      detail: text,
      status: integer,
      what: described(text, "Method and path of the last one"),
      count: integer,
      last: described(integer, "Number of the last one"),
    },
    { hint: described(text, "What to do about it, where the request itself says so") },
  ),
);

const problems = titled(
  "Problems",
  exact({
    ...progress,
    events: described(
      listOf(eventProblem),
      "Events that were dropped, or have warnings; the most frequent ones first",
    ),
    requests: described(
      listOf(requestProblem),
      "Rejected requests by reason, those without a route by path, the latest ones first; with `project` also those that belong to no project, which may be meant for it",
    ),
    other_requests: described(integer, "Rejected requests of further reasons and paths"),
  }),
);

/** Totals, and the problems that were found. */
export const totalsDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/totals": docsOf("The totals", totals, {
    errors: [400],
    query: [
      ofProject,
      parameter("events", "Counts only events that pass this filter; default: all"),
      parameter("requests", "Counts only requests that pass this filter; default: all"),
    ],
  }),
  "GET /__sim/problems": docsOf("The problems that were found and not cleared", problems, {
    errors: [400],
    query: [ofProject],
  }),
  "DELETE /__sim/problems": docsOf("They were cleared", exact({ cleared: always(true) }), {
    errors: [400],
    query: [ofProject],
  }),
};
