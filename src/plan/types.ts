import type { JsonObject } from "../kernel/json.ts";
import type { StandardSchema } from "./standard-schema.ts";

/** What of an event a plan looks at; the sim's stored events and the lines of a report's events.ndjson have it. */
export interface PlannableEvent {
  readonly seq: number;
  readonly event: string;
  readonly distinct_id: string;
  /** Dropped events are not looked at; without it an event counts as kept. */
  readonly outcome?: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

export type ViolationKind =
  | "unplanned_event"
  | "missing_property"
  | "unknown_property"
  | "wrong_type"
  | "not_allowed_value"
  | "wrong_format"
  | "out_of_range"
  | "invalid";

/** What is wrong at one place of a value. */
export interface Finding {
  readonly kind: ViolationKind;
  /** Steps from the value that was looked at. */
  readonly path: readonly (string | number)[];
  /** As one would say it: `a number`, `"free" or "pro"`. */
  readonly expected: string;
  /** As one would write it, or null when there is nothing. */
  readonly actual: string | null;
  /** What is odd about it in a few words, e.g. `number as text`, `did you mean "plan"?`. */
  readonly hint: string | null;
}

/** Where an event is not as planned. */
export interface Violation extends Omit<Finding, "path"> {
  readonly seq: number;
  readonly event: string;
  readonly distinct_id: string;
  /** RFC 6901, in the event: `/properties/items/2/sku`; `/event` for an event that is not planned. */
  readonly pointer: string;
}

/** Looks at the properties of one event. */
export type Check = (properties: JsonObject) => readonly Finding[] | Promise<readonly Finding[]>;

/** One event of a plan. */
export interface PlannedEvent {
  readonly name: string;
  readonly description: string | null;
  /** What its properties must be like, as JSON Schema (2020-12); null where only a validator is known. */
  readonly schema: JsonObject | null;
  readonly standard: StandardSchema | null;
}

/** Which events there are to be, and what their properties are like. Made by `definePlan`, `readPlan`, `inferPlan`. */
export interface Plan<Events = Record<string, unknown>> {
  /** Absolute path of its file; null for one that a program made. */
  readonly file: string | null;
  readonly title: string | null;
  /** What an event that is not in the plan is; names that begin with `$` belong to the SDKs and are let pass. */
  readonly unplanned: "error" | "ignore";
  readonly events: ReadonlyMap<string, PlannedEvent>;
  /** What `#/$defs/…` refers to. */
  readonly definitions: JsonObject;
  /** The checks by event, made when first asked for. @throws PlanError */
  checks(): Promise<ReadonlyMap<string, Check>>;
  /** Only a type: the properties by event; see `PlanEvents`. */
  readonly "~events"?: Events;
}

/** What came of a check. */
export interface PlanResult {
  /** In order of the events; at most 10,000. */
  readonly violations: Violation[];
  /** How many there are; more than `violations` holds when they are very many. */
  readonly total: number;
  /** How many events were looked at, and how many of them are not as planned. */
  readonly checked: number;
  readonly offending: number;
  /** Planned events that came, and that never came, in the plan's order. */
  readonly seen: string[];
  readonly unseen: string[];
}

/** The content of a plan file. */
export type PlanFile = {
  $schema?: string;
  version: 1;
  title?: string;
  description?: string;
  unplanned?: "error" | "ignore";
  events: Record<string, EventEntry>;
  $defs?: Record<string, PropertyEntry>;
};

/** JSON Schema (2020-12) of the event's properties; `type: "object"` goes without saying. */
export interface EventEntry {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, PropertyEntry>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | PropertyEntry;
  readonly [keyword: string]: unknown;
}

/** JSON Schema, or in short: a type's word such as `"string"`, `"integer|null"`, `"uuid"`, `"number[]"`, or a list of allowed values. */
export type PropertyEntry = string | readonly unknown[] | boolean | { readonly [keyword: string]: unknown };
