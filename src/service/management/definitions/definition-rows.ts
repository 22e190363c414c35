import { z } from "zod";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { found } from "../../api-frame/access.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { invalid } from "../../api-frame/fields.ts";
import { inProject, managementRow, projectRoot } from "../../api-frame/row.ts";
import type { Resources } from "../resources/kind.ts";
import { showResource } from "../resources/kind-rows.ts";
import { eventDefinitions } from "./event-definitions.ts";

/** Look-ups of definitions by name. */
export const definitionRows = (desk: ResourceDesk, resources: Resources): Endpoint[] => [
  ...managementRow(desk, {
    method: "GET",
    path: `${projectRoot}/event_definitions/by_name`,
    summary: "Returns the definition of an event",
    access: inProject("event_definition:read"),
    query: z.object({ name: z.string().describe("The exact name") }),
    reply: z.looseObject({ id: z.string(), name: z.string() }),
    async handle(request) {
      const name = request.call.query.get("name");
      if (!name) throw invalid("Query parameter 'name' is required");
      const all = (await eventDefinitions.load?.(request, desk, resources)) ?? [];
      const document = all.find(({ fields }) => fields.name === name);
      return showResource(desk, eventDefinitions, found(document));
    },
  }),
  ...managementRow(desk, {
    method: "GET",
    path: `${projectRoot}/property_definitions/seen_together`,
    summary: "Whether events were captured with a property",
    access: inProject("property_definition:read"),
    query: z.object({
      event_names: z.string().describe("Names of events; may be repeated"),
      property_name: z.string().describe("The exact name"),
    }),
    reply: z.record(z.string(), z.boolean()),
    async handle({ call: { query }, project }) {
      const property = query.get("property_name");
      const names = query.getAll("event_names");
      if (names.length === 0) throw invalid("This field is required.", "event_names", "required");
      if (!property) throw invalid("This field is required.", "property_name", "required");
      const { events } = await resources.captured(project.id);
      return Object.fromEntries(names.map((it) => [it, events.get(it)?.properties.has(property) ?? false]));
    },
  }),
];
