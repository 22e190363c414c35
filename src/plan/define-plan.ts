import type { JsonObject } from "../kernel/json.ts";
import { isObject } from "../kernel/json.ts";
import { plannedEvent, planOf } from "./plan.ts";
import type { PropertiesOf } from "./schema-types.ts";
import { isStandardSchema, jsonSchemaOf, type StandardSchema } from "./standard-schema.ts";
import type { EventEntry, Plan, PlannedEvent } from "./types.ts";

/** What an event's properties are like: a validator (zod, valibot, arktype …) or JSON Schema as in a plan file. */
export type EventSource = StandardSchema | EventEntry;

type EventsOf<Sources> = {
  [Name in keyof Sources]: Sources[Name] extends StandardSchema<infer Input>
    ? Input
    : PropertiesOf<Sources[Name]>;
};

/** The events of a plan, as a union of `{ event, properties }`. */
export type PlanEvents<P> =
  P extends Plan<infer Events>
    ? { [Name in keyof Events & string]: { event: Name; properties: Events[Name] } }[keyof Events & string]
    : never;

export interface DefineOptions {
  title?: string;
  /** What an event that is not in the plan is; error unless told. Names with `$` are the SDK's. */
  unplanned?: "error" | "ignore";
}

/**
 * A plan written in TypeScript: for each event a validator of its properties, or their JSON Schema. JSON Schema
 * is looked at when the plan is first used; `checkEvents` throws PlanError where it is wrong.
 */
export function definePlan<const Sources extends Readonly<Record<string, EventSource>>>(
  events: Sources,
  { title, unplanned = "error" }: DefineOptions = {},
): Plan<EventsOf<Sources>> {
  const entries = Object.entries<EventSource>(events);
  const written = entries.filter(([, it]) => !isStandardSchema(it));
  return planOf({
    file: null,
    title: title ?? null,
    unplanned,
    events: entries.map(([name, it]) => eventOf(name, it)),
    definitions: {},
    content: asJson({ version: 1, unplanned, events: Object.fromEntries(written) }),
  }) as Plan<EventsOf<Sources>>;
}

/** Whoever writes a plan in code may have left something undefined. */
const asJson = (value: object): JsonObject => JSON.parse(JSON.stringify(value));

function eventOf(name: string, source: EventSource): PlannedEvent {
  if (!isStandardSchema(source)) return plannedEvent(name, asJson(source));
  const schema = jsonSchemaOf(source);
  return { name, description: null, schema: isObject(schema) ? schema : null, standard: source };
}
