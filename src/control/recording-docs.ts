import type { EndpointDocs } from "../http/endpoint.ts";
import {
  boolean,
  described,
  exact,
  integer,
  listOf,
  nullable,
  oneOf,
  open,
  text,
  time,
  titled,
} from "../http/json-schema.ts";
import { bodyErrors, bodyOf, docsOf } from "./docs-row.ts";
import { recordingModes, redactions } from "./recording-port.ts";

const differences = exact({
  compared: integer,
  differing: integer,
  groups: listOf(
    open({
      route: text,
      severity: oneOf("break", "additive", "value"),
      kind: text,
      path: text,
      recorded: text,
      own: text,
      detail: text,
      count: integer,
      of: integer,
      first: integer,
    }),
  ),
});

const recording = titled(
  "Recording",
  exact({
    state: oneOf("off", "recording", "stopped"),
    mode: nullable(oneOf(...recordingModes)),
    upstream: nullable(text),
    tape: described(nullable(text), "The tape's file"),
    redaction: nullable(text),
    started_at: nullable(time),
    passed: described(integer, "Requests that were passed on"),
    in_flight: integer,
    bytes_sent: described(integer, "Bytes of bodies as they travelled"),
    bytes_received: integer,
    taped: described(integer, "Exchanges on the tape"),
    redacted: described(integer, "Values that were taken out of them"),
    aborted: described(integer, "Cut off by either side"),
    failed: described(integer, "Requests that the upstream did not answer"),
    last_failure: nullable(text),
    trouble: described(nullable(text), "Why the tape is not whole"),
    differences: described(nullable(differences), "How the emulator's answers differ, in the mode diff"),
  }),
);

const order = bodyOf(
  {
    mode: described(
      oneOf(...recordingModes),
      "record (default) continues a tape that exists, all replaces it at the end; spy passes on what the emulator does not know; diff also compares its answers",
    ),
    tape: described(text, "A name, or a path below the working or the data folder; absent: no tape"),
    include: described(listOf(text), "Globs over paths: only these are taped"),
    exclude: described(listOf(text), "Globs over paths that are not taped"),
    redact: oneOf(...redactions),
    allow_writes: described(
      boolean,
      "In the mode spy: requests that change something may go to the upstream",
    ),
  },
  { upstream: described(text, "us, eu, or the address of a self-hosted service") },
);

/** What the OpenAPI document says of the recording rows. */
export const recordingDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/recording": docsOf("The recording", recording),
  "POST /__sim/recording/start": docsOf("The recording", recording, {
    body: order,
    errors: [...bodyErrors, 409],
  }),
  "POST /__sim/recording/stop": docsOf("The recording as it ended", recording, {
    body: bodyOf({}),
    errors: bodyErrors,
  }),
};
