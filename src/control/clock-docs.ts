import type { EndpointDocs } from "../http/endpoint.ts";
import {
  anyOf,
  boolean,
  described,
  exact,
  integer,
  listOf,
  nullable,
  open,
  text,
  time,
  titled,
} from "../http/json-schema.ts";
import { bodyErrors, bodyOf, docsOf } from "./docs-row.ts";

const facts = {
  now: time,
  frozen: boolean,
  real: described(boolean, "Does it show the machine's time?"),
  next_due: described(nullable(time), "When the next thing is due"),
  starts: described(
    exact({ now: described(text, "A time, or real"), frozen: boolean }),
    "What a reset makes of it; a restart on a data folder continues from where it was set",
  ),
};

/** How the clock is told. */
export const clockShape = titled("Clock", exact(facts));

const happened = titled("Happened", open({ at: time, kind: text }));

/** The clock's rows, by method and path. */
export const clockDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/clock": docsOf("The clock", clockShape),
  "PUT /__sim/clock": docsOf(
    "The clock; a hint where it went back",
    titled("ClockSet", exact({ ...facts, hint: nullable(text) })),
    {
      errors: bodyErrors,
      body: bodyOf({
        now: described(anyOf(text, integer), "A time in ISO 8601, ms since 1970, or real"),
        frozen: described(boolean, "Whether it stands; false has it run on from where it is"),
      }),
    },
  ),
  "POST /__sim/clock/advance": docsOf(
    "The clock, and what became due on the way, in order",
    titled("ClockAdvanced", exact({ ...facts, happened: listOf(happened) })),
    {
      errors: bodyErrors,
      body: bodyOf({}, { by: described(anyOf(text, integer), "A duration such as 1h, 90s or 1d12h, or ms") }),
    },
  ),
};
