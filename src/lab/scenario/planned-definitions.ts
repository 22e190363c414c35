import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { schemaFrom } from "../plan/plan-schema.ts";
import type { AuthoredProject } from "./project-schema.ts";
import type { Scenario } from "./schema.ts";

/** The types of properties in the service, by types and formats of JSON Schema. */
const propertyTypes: Readonly<Record<string, string>> = {
  "date-time": "DateTime",
  date: "DateTime",
  string: "String",
  number: "Numeric",
  integer: "Numeric",
  boolean: "Boolean",
};

/** The service's type of a planned property; null if values of several types are planned, or none is named. */
function typeOf(schema: Json): string | null {
  if (!isObject(schema)) return null;
  const { format, type, enum: values } = schema;
  const named = Array.isArray(values) ? values.map((it) => typeof it) : [type].flat();
  const types = new Set(named.filter((it) => it !== "null").map((it) => propertyTypes[String(it)] ?? null));
  const [only = null] = types;
  if (types.size !== 1) return null;
  return (only === "String" && propertyTypes[String(format)]) || only;
}

/** Definitions of the events of a tracking plan, and of their properties. */
function definitionsOf(plan: NonNullable<Exclude<AuthoredProject["plan"], string>>) {
  const events = new Map<string, JsonObject>();
  const properties = new Map<string, JsonObject>();
  for (const [event, { description = null, properties: planned = {} }] of Object.entries(plan.events)) {
    events.set(event, { name: event, description });
    for (const [name, given] of Object.entries(planned)) {
      const schema = schemaFrom(given);
      const known = properties.get(name);
      const own = isObject(schema) && typeof schema.description === "string" ? schema.description : null;
      const type = typeOf(schema);
      properties.set(name, {
        name,
        description: known?.description ?? own,
        // one name may be planned differently for two events
        property_type: known && known.property_type !== type ? null : type,
      });
    }
  }
  return { events, properties };
}

function withOwn(project: AuthoredProject): AuthoredProject {
  const { plan, event_definitions = [], property_definitions = [], ...rest } = project;
  if (plan === undefined || typeof plan === "string") return project;
  const { events, properties } = definitionsOf(plan);
  for (const { name } of event_definitions) events.delete(String(name));
  for (const { name, type = "event" } of property_definitions) {
    if (type === "event") properties.delete(String(name));
  }
  return {
    ...rest,
    event_definitions: [...event_definitions, ...events.values()],
    property_definitions: [...property_definitions, ...properties.values()],
  };
}

/** The scenario with definitions in place of tracking plans; those that its author wrote stay as they are. */
export const withPlannedDefinitions = (scenario: Scenario): Scenario => ({
  ...scenario,
  organizations: scenario.organizations.map((it) => ({ ...it, projects: it.projects.map(withOwn) })),
});
