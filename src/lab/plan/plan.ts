import type { JsonObject } from "../../kernel/base/json.ts";
import type { Problem } from "../../kernel/base/problem.ts";
import { problemLines } from "../../kernel/base/problem.ts";
import { printable } from "./wording.ts";

/** The parts of an event that a plan checks; the sim's stored events and the lines of events.ndjson have them. */
export interface PlannableEvent {
  readonly seq: number;
  readonly event: string;
  readonly distinct_id: string;
  /** Dropped events are skipped; without it an event counts as kept. */
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

export interface ValueFinding {
  readonly kind: ViolationKind;
  readonly path: readonly (string | number)[];
  /** `a number`, `"free" or "pro"`. */
  readonly expected: string;
  /** The value as JSON, or null if there is none. */
  readonly actual: string | null;
  /** What is odd about it in a few words, e.g. `number as a string`, `did you mean "plan"?`. */
  readonly hint: string | null;
}

export interface Violation extends Omit<ValueFinding, "path"> {
  readonly seq: number;
  readonly event: string;
  readonly distinct_id: string;
  /** RFC 6901, in the event: `/properties/items/2/sku`; `/event` for an event that is not planned. */
  readonly pointer: string;
}

export type PropertiesCheck = (properties: JsonObject) => readonly ValueFinding[] | Promise<readonly ValueFinding[]>;

export interface PlannedEvent {
  readonly name: string;
  readonly description: string | null;
  /** JSON Schema (2020-12) of its properties; null if only a validator is known. */
  readonly schema: JsonObject | null;
  readonly standard: StandardSchema | null;
}

/** The events that an app captures, and their properties. Made by `definePlan`, `readPlan`, `planFrom`. */
export interface Plan<Events = Record<string, unknown>> {
  /** Absolute path of its file; null for one that a program made. */
  readonly file: string | null;
  readonly title: string | null;
  /** What an event that is not in the plan is; names that begin with `$` belong to the SDKs and pass. */
  readonly unplanned: "error" | "ignore";
  readonly events: ReadonlyMap<string, PlannedEvent>;
  /** The targets of `#/$defs/…`. */
  readonly definitions: JsonObject;
  /** The checks by event, made on first use. @throws PlanError */
  checks(): Promise<ReadonlyMap<string, PropertiesCheck>>;
  /** Only a type: the properties by event; see `PlanEvents`. */
  readonly "~events"?: Events;
}

export interface PlanResult {
  /** In order of the events; at most 10,000. */
  readonly violations: Violation[];
  /** May be more than `violations` contains. */
  readonly total: number;
  /** Number of checked events, and of those with violations. */
  readonly checked: number;
  readonly offending: number;
  /** Planned events that were captured, and that never were, in the plan's order. */
  readonly seen: string[];
  readonly unseen: string[];
}

export type PlanFile = {
  $schema?: string;
  version: 1;
  title?: string;
  description?: string;
  unplanned?: "error" | "ignore";
  events: Record<string, EventEntry>;
  $defs?: Record<string, PropertyEntry>;
};

/** JSON Schema (2020-12) of the event's properties; `type: "object"` is implied. */
export interface EventEntry {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, PropertyEntry>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | PropertyEntry;
  readonly [keyword: string]: unknown;
}

/** JSON Schema, or a shorthand: a type's word such as `"string"`, `"integer|null"`, `"uuid"`, `"number[]"`, or a list of allowed values. */
export type PropertyEntry = string | readonly unknown[] | boolean | { readonly [keyword: string]: unknown };

/** The interface of validators such as zod, valibot and arktype (standardschema.dev, version 1). */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Validators may also be functions (arktype). */
export const isStandardSchema = (value: unknown): value is StandardSchema =>
  (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;

/** The validator's own JSON Schema of its input, if it provides one (zod from 4.2 on); else null. */
export function jsonSchemaOf(schema: StandardSchema): unknown {
  // An extension of the standard.
  const standard = schema["~standard"] as { jsonSchema?: { input?: (options: object) => unknown } };
  try {
    return standard.jsonSchema?.input?.({ target: "draft-2020-12" }) ?? null;
  } catch {
    // JSON Schema cannot express every validator.
    return null;
  }
}

/** From 1; null outside of files. */
export type Position = Pick<PlanProblem, "line" | "column">;

/** A mistake in a plan; `file` is null for one that a program made. */
export type PlanProblem = Problem;

/** A plan that cannot be used: the message has a line for each mistake. */
export class PlanError extends Error {
  readonly problems: readonly PlanProblem[];

  constructor(problems: readonly PlanProblem[]) {
    super(planProblemLines(problems).join("\n"));
    this.name = "PlanError";
    this.problems = problems;
  }
}

/** `file:line:col pointer: message; hint` for each problem, up to fifty, safe to print. Paths are relative to `folder`. */
export const planProblemLines = (problems: readonly PlanProblem[], folder = process.cwd()): string[] =>
  problemLines(problems, folder, "plan").map((line) => printable(line, 1000));
