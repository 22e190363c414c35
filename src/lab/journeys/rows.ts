import type { Endpoint } from "../../kernel/http/endpoint.ts";
import { row } from "../../kernel/http/row.ts";
import { personNamed } from "../person-history/person-found.ts";
import { type JourneyPorts, journeyOf } from "./journey.ts";
import { Journey, JourneyQuery } from "./shapes.ts";

export const journeyRows = (ports: JourneyPorts): Endpoint[] => [
  row({
    method: "GET",
    path: "/__sim/persons/:id/journey",
    access: "control",
    summary: "Lists what a person did over time: events, requests, and the flag values in force",
    query: JourneyQuery,
    errors: [404],
    reply: Journey,
    handle: ({ params, query }) =>
      journeyOf(ports, personNamed(ports, params.id, query.project), query.session),
  }),
];
