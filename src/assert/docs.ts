import { bodyErrors, bodyOf, docsOf, whole } from "../http/control-docs.ts";
import type { EndpointDocs, JsonSchema } from "../http/endpoint.ts";
import {
  always,
  anyOf,
  boolean,
  described,
  exact,
  integer,
  listOf,
  mapOf,
  nullable,
  number,
  oneOf,
  open,
  text,
  time,
  titled,
} from "../http/json-schema.ts";
import { jsonSchemaOf } from "../http/row.ts";
import { Cursor, StoredEvent } from "../journal/stored-event.ts";
import { longestTitle, longestWait, mostEvents, mostPatterns } from "./wish.ts";

const events = listOf(jsonSchemaOf(StoredEvent, "output"));
const cursor = jsonSchemaOf(Cursor, "output");
const pattern = described(
  { type: "object" },
  "What the whole event must be like: a literal is equal, an object is a recursive subset, an array fits item by item, keys that start with @ are operators (@gte, @regex, @any …). A text is the event's name",
);

const sightings = (description: string) =>
  described(
    listOf(
      titled(
        "Sighting",
        open({ seq: integer, event: text, distinct_id: text, project: nullable(integer), received_at: time }),
      ),
    ),
    description,
  );

const request = { n: integer, method: text, target: text };

const surroundingFields = {
  project: nullable(exact({ id: integer, name: text, api_key: text })),
  since: integer,
  waited_ms: nullable(integer),
  url: text,
  inspectable: described(
    boolean,
    "True if the sim outlives the tests, so that a link to its inspector works",
  ),
  early: sightings("Fit, but came before the cursor"),
  late: sightings("Fit, but came after the wait was over"),
  elsewhere: sightings("Fit, but were kept in another project"),
  rejected: described(
    listOf(exact({ ...request, reason: text, detail: text }, { hint: text })),
    "Requests that were rejected whole, newest first",
  ),
  unmatched: described(
    listOf(exact(request, { hint: text })),
    "Requests to paths that do not exist, newest first",
  ),
  requests: described(integer, "How many requests there were at all"),
  in_flight: integer,
  last_request_ms_ago: nullable(integer),
  senders: described(
    listOf(exact({ lib: text, version: nullable(text) })),
    "Libraries that sent something, newest first",
  ),
  faults: listOf(exact({ name: text, touched: integer })),
  evicted: described(boolean, "Were events after the cursor let go?"),
};

const report = titled(
  "Report",
  open({
    title: text,
    text: described(text, "All of it in words, ready to be printed"),
    complaints: listOf(open({ kind: oneOf("too_few", "too_many", "out_of_order", "unexpected") })),
    near_misses: described(
      listOf(
        open({
          seq: integer,
          event: text,
          score: number,
          differences: listOf(
            open({ path: text, expected: text, actual: nullable(text), hint: nullable(text) }),
          ),
        }),
      ),
      "The nearest events, best first",
    ),
    seen: described(mapOf(integer), "How often which event was kept"),
    dropped: listOf(
      open({ seq: integer, event: text, reason: text, sentence: text, fix: text, fits: boolean }),
    ),
    hints: described(listOf(text), "What may be the cause, and what to do"),
    ...surroundingFields,
  }),
);

/** Of a call that a closing sim ends early there is no report. */
const failed = titled("Failed", open({ code: text, detail: text, waited_ms: integer, cursor }, { report }));

const withFailure = (docs: EndpointDocs, description: string): EndpointDocs => ({
  ...docs,
  replies: { ...docs.replies, 409: { description, schema: failed } },
});

const scope = {
  project: described(whole(0), "Only this project's events"),
  since: described(whole(0), "Only events after this cursor"),
};

const upTo = (ms: number, description: string): JsonSchema =>
  described(whole(0, longestWait), `${description}, ${ms} unless told`);

const limits = {
  timeout_ms: upTo(4_000, "How long to wait, ms"),
  title: described({ type: "string", maxLength: longestTitle }, "First line of the report"),
};

const patternOrName = anyOf(pattern, text);
const count = whole(0, mostEvents);

/** The rows of the assertions, by method and path. */
export const assertDocs: Readonly<Record<string, EndpointDocs>> = {
  "POST /__sim/events/wait": withFailure(
    docsOf("The events", titled("Waited", exact({ events, cursor })), {
      errors: bodyErrors,
      body: bodyOf({
        match: patternOrName,
        count: described(whole(1, mostEvents), "At least so many, 1 unless told"),
        sequence: described(
          { ...listOf(patternOrName), minItems: 1, maxItems: mostPatterns },
          "One event for each, in this order, in place of `match` and `count`",
        ),
        ...scope,
        outcome: oneOf("kept", "dropped"),
        ...limits,
      }),
    }),
    "They did not come in time",
  ),
  "POST /__sim/events/verify": withFailure(
    docsOf(
      "They hold",
      titled(
        "Verified",
        exact({
          passed: always(true),
          matched: described(
            listOf(listOf(integer)),
            "For each expectation the seqs of the events that fit it",
          ),
          events: described(events, "Those events, 1,000 at most"),
          settled: described(boolean, "Did it get quiet, where that was asked for?"),
          cursor,
        }),
      ),
      {
        errors: bodyErrors,
        body: bodyOf(
          {
            ordered: described(
              boolean,
              "Do the events of each expectation come after those of the one before?",
            ),
            nothing_else: described(
              boolean,
              "Is every other event one too many? Those whose names start with $ are let pass unless they are named",
            ),
            ...scope,
            ...limits,
            settle_ms: upTo(250, "How long it must be quiet before no more counts as true, ms"),
          },
          {
            expect: {
              ...listOf(
                exact(
                  { match: patternOrName },
                  {
                    count: described(
                      anyOf(count, exact({}, { min: count, max: count })),
                      "Exactly so many, or limits; at least 1 unless told",
                    ),
                  },
                ),
              ),
              maxItems: mostPatterns,
            },
          },
        ),
      },
    ),
    "They do not",
  ),
  "POST /__sim/events/surroundings": docsOf(
    "What else there is to know",
    titled("Surroundings", open(surroundingFields)),
    { errors: bodyErrors, body: bodyOf({ match: patternOrName, ...scope }) },
  ),
  "POST /__sim/settle": docsOf("It is quiet", exact({ quiet: always(true), cursor }), {
    errors: [...bodyErrors, 409],
    body: bodyOf({
      project: described(whole(0), "Only this project's requests"),
      idle_ms: upTo(250, "How long it must be quiet, ms"),
      timeout_ms: upTo(4_000, "How long to wait for that, ms"),
    }),
  }),
};
