import { isObject, type JsonObject } from "../../kernel/base/json.ts";
import { plannedEvent, planOf } from "./compile-plan.ts";
import {
  type EventEntry,
  isStandardSchema,
  jsonSchemaOf,
  type Plan,
  type PlannedEvent,
  type StandardSchema,
} from "./plan.ts";

/** Describes an event's properties: a validator (zod, valibot, arktype …) or JSON Schema as in a plan file. */
export type EventSource = StandardSchema | EventEntry;

type EventsOf<Sources> = {
  [Name in keyof Sources]: Sources[Name] extends StandardSchema<infer Input> ? Input : PropertiesOf<Sources[Name]>;
};

/** The events of a plan, as a union of `{ event, properties }`. */
export type PlanEvents<P> =
  P extends Plan<infer Events>
    ? { [Name in keyof Events & string]: { event: Name; properties: Events[Name] } }[keyof Events & string]
    : never;

export interface DefineOptions {
  title?: string;
  /** What an event that is not in the plan is (default: error). Names with `$` belong to the SDKs. */
  unplanned?: "error" | "ignore";
}

/**
 * A plan written in TypeScript: for each event a validator of its properties, or their JSON Schema. JSON Schema is
 * checked when the plan is first used; `checkEvents` throws PlanError if it is wrong.
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

/** A plan written in code may contain undefined values. */
const asJson = (value: object): JsonObject => JSON.parse(JSON.stringify(value));

function eventOf(name: string, source: EventSource): PlannedEvent {
  if (!isStandardSchema(source)) return plannedEvent(name, asJson(source));
  const schema = jsonSchemaOf(source);
  return { name, description: null, schema: isObject(schema) ? schema : null, standard: source };
}

interface Words {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
  object: { [key: string]: unknown };
  array: unknown[];
  any: unknown;
  "date-time": string;
  date: string;
  uuid: string;
  email: string;
  uri: string;
}

/** `"integer|null"`, `"uuid[]"`. */
type OfWord<W> = W extends `${infer First}|${infer Rest}`
  ? OfWord<First> | OfWord<Rest>
  : W extends `${infer Item}[]`
    ? OfWord<Item>[]
    : W extends keyof Words
      ? Words[W]
      : unknown;

type ValueOf<S> = S extends string
  ? OfWord<S>
  : S extends readonly (infer Allowed)[]
    ? Allowed
    : S extends { readonly const: infer Only }
      ? Only
      : S extends { readonly enum: readonly (infer Allowed)[] }
        ? Allowed
        : S extends { readonly type: "array"; readonly items: infer Item }
          ? ValueOf<Item>[]
          : S extends { readonly type: "object"; readonly properties: unknown }
            ? PropertiesOf<S>
            : S extends { readonly type: readonly (infer Type)[] }
              ? OfWord<Type>
              : S extends { readonly type: infer Type }
                ? OfWord<Type>
                : unknown;

type Required<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

type PropertiesOf<S> = S extends { readonly properties: infer Properties }
  ? {
      -readonly [Name in keyof Properties as Name extends Required<S> ? Name : never]: ValueOf<Properties[Name]>;
    } & {
      -readonly [Name in keyof Properties as Name extends Required<S> ? never : Name]?: ValueOf<Properties[Name]>;
    }
  : { [key: string]: unknown };
