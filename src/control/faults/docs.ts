import type { EndpointDocs } from "../../http/endpoint.ts";
import {
  described,
  dictionary,
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
} from "../../http/json-schema.ts";
import { presetNames } from "../../model/fault.ts";
import { bodyErrors, docsOf } from "../docs-row.ts";
import { orderSchema } from "./check.ts";

const preset = oneOf(...presetNames);

const what = {
  match: described(open({}, { route: text, method: text, project: integer }), "Which requests"),
  effect: described(dictionary, "What happens to them; times in ms"),
};

const fault = titled(
  "Fault",
  exact({
    id: text,
    name: text,
    preset: nullable(preset),
    ...what,
    rate: number,
    seed: integer,
    times: nullable(integer),
    duration: described(nullable(integer), "ms of the sim's clock"),
    state: oneOf("active", "used_up", "expired"),
    used: described(integer, "Requests that it touched"),
    since: time,
    text: described(text, "The rule as a sentence"),
  }),
);

const removed = exact({ removed: integer });

const applied: EndpointDocs = {
  ...docsOf("The fault", fault, { errors: bodyErrors }),
  /** Made from the schema when somebody asks: that takes longer than loading all rows. */
  get body() {
    return { type: "application/json", schema: titled("FaultOrder", orderSchema()) };
  },
};

/** The rows of the faults, by method and path. */
export const faultDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/faults": docsOf("The faults, in the order they were applied", exact({ faults: listOf(fault) })),
  "POST /__sim/faults": applied,
  "DELETE /__sim/faults": docsOf("How many there were", removed),
  "DELETE /__sim/faults/:id": docsOf("How many there were", removed, { errors: [404] }),
  "GET /__sim/faults/presets": docsOf(
    "The presets",
    exact({ presets: listOf(titled("FaultPreset", exact({ name: preset, describe: text, ...what }))) }),
  ),
};
