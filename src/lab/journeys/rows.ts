import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { peopleNeeds, personNamed } from "../person-history/persons.ts";
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
