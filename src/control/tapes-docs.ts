import type { EndpointDocs } from "../http/endpoint.ts";
import {
  anything,
  boolean,
  described,
  exact,
  integer,
  listOf,
  nullable,
  number,
  oneOf,
  open,
  text,
  time,
  titled,
} from "../http/json-schema.ts";
import { bodyErrors, bodyOf, docsOf, parameter, whole } from "./docs-row.ts";

const differing = exact({ path: text, recorded: text, asked: text });

const nearest = exact({ i: integer, method: text, url: text, differing: listOf(differing) });

const unused = exact({ i: integer, method: text, url: text, route: text });

const miss = exact({
  method: text,
  target: text,
  route: text,
  times: integer,
  nearest: described(listOf(nearest), "The most similar exchanges, and where they differ"),
});

const leftOut = exact({ i: integer, method: text, url: text, route: text, why: text });

const ledger = titled(
  "TapeLedger",
  exact({
    total: described(integer, "Exchanges of the tape that can be given as answers"),
    requests: described(integer, "Requests that reached it, whether or not it answered them"),
    hits: described(integer, "Requests that it answered"),
    unused_count: integer,
    miss_count: described(integer, "Requests that it has no answer for"),
    unused: described(listOf(unused), "Exchanges that were never used, the first 1,000"),
    left_out: described(listOf(leftOut), "Exchanges that are never given as answers, the first 1,000"),
    captures: described(integer, "Exchanges that capture events or recordings; the emulator answers those"),
    events: described(
      exact({ recorded: integer, missing: listOf(exact({ event: text, times: integer })) }),
      "Recorded events, and those that did not come again, the first 1,000 names",
    ),
    misses: described(listOf(miss), "What was asked for in vain, the first 1,000"),
  }),
);

const tape = titled(
  "TapeInForce",
  exact({
    name: text,
    file: text,
    upstream: described(nullable(text), "Where it was recorded"),
    created: text,
    mode: oneOf("replay", "hybrid", "new"),
    on_miss: oneOf("fail", "emulate", "upstream"),
    timing: text,
    skip_status: described(listOf(integer), "Recorded answers with these statuses are not given"),
    problems: described(
      listOf(exact({ file: text, line: integer, detail: text, hint: text })),
      "Lines that could not be read",
    ),
    added: described(
      integer,
      "Exchanges recorded because the tape had no answer; only in the mode new, which a sim must be started with",
    ),
    ledger,
  }),
);

const answer = exact({ tape: described(nullable(tape), "null: the emulator answers") });

const order = bodyOf(
  {
    mode: described(
      oneOf("replay", "none", "hybrid"),
      "replay (default; also none): what is not on the tape is an error",
    ),
    on_miss: described(oneOf("fail", "emulate", "upstream"), "Default: by the mode, fail or emulate"),
    timing: described(text, "none (default), recorded, scale:N (of the recorded time) or max:N (ms)"),
    skip_status: described(listOf(integer), "Recorded answers with these statuses are not given, e.g. 429"),
  },
  { tape: described(text, "A name (tapes/NAME.tape.ndjson) or a path") },
);

const file = exact({
  name: text,
  file: text,
  bytes: described(integer, "Over all its volumes"),
  exchanges: integer,
  upstream: described(nullable(text), "Where it was recorded"),
  created: nullable(text),
  problem: described(nullable(text), "Why it cannot be read as a tape"),
});

const exchangeFields = {
  i: described(integer, "Its number on the tape"),
  at: time,
  route: text,
  method: text,
  url: text,
  status: described(nullable(integer), "null: no answer came"),
  ms: nullable(number),
  complete: described(boolean, "false: it was cut off, and is not replayed"),
  client: described(nullable(text), "Whose it was, where several tests were recorded at the same time"),
  used: described(boolean, "Did it answer a request?"),
};

const exchange = titled(
  "TapeExchange",
  exact({
    ...exchangeFields,
    request: open({}),
    response: described(anything, "null: no answer came"),
    redacted: described(listOf(text), "Places that stand for secrets"),
  }),
);

/** The rows of the tapes, by method and path. */
export const tapeDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/tapes": docsOf("The tape in force", answer),
  "POST /__sim/tapes": { ...docsOf("The tape in force", answer, { errors: bodyErrors }), body: order },
  "DELETE /__sim/tapes": docsOf("The tape that was in force", answer),
  "POST /__sim/tapes/rewind": {
    ...docsOf("The tape in force", answer, { errors: [...bodyErrors, 404] }),
    body: bodyOf({ client: described(text, "test:NAME (X-Test-Id) or project:NUMBER; all unless told") }),
  },
  "GET /__sim/tapes/files": docsOf(
    "The tapes, by name",
    exact({ folder: text, tapes: listOf(titled("TapeFile", file)) }),
    { errors: [409] },
  ),
  "GET /__sim/tapes/exchanges": docsOf(
    "The exchanges, in the order in which they are on the tape",
    exact({
      exchanges: listOf(
        titled(
          "TapeExchangeSummary",
          exact({ ...exchangeFields, redacted: described(integer, "How many places stand for secrets") }),
        ),
      ),
      more: boolean,
    }),
    {
      errors: [400, 404, 409],
      query: [
        parameter("skip", "Exchanges to pass over", whole(0)),
        parameter("limit", "Most exchanges, 1,000 unless told", whole(1, 10_000)),
      ],
    },
  ),
  "GET /__sim/tapes/exchanges/:i": docsOf("The exchange", exchange, { errors: [404, 409] }),
};
