import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { personNamed } from "../person-history/person-found.ts";
import { peopleNeeds } from "../person-history/ports.ts";
import { type JourneyPorts, journeyOf } from "./journey.ts";
import { Journey, JourneyQuery } from "./shapes.ts";

export const journeySlice = slice([...peopleNeeds, "decisions"], (ports: JourneyPorts) => [
  row({
    method: "GET",
    path: "/__sim/persons/:id/journey",
    access: "control",
    summary: "Lists what a person did over time: events, requests, and the flag values in force",
    query: JourneyQuery,
    errors: [404],
    reply: Journey,
    handle: ({ params, query }) => journeyOf(ports, personNamed(ports, params.id, query.project), query.session),
  }),
]);
