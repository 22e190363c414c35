import { isObject, type Json, type JsonObject } from "../kernel/json.ts";
import { pointerTo } from "../kernel/json-pointer.ts";
import { isSdkProperty } from "../kernel/sdk-properties.ts";
import { findingsOf } from "./findings.ts";
import { PlanError, type PlanProblem, type Position } from "./problems.ts";
import { schemaFrom } from "./shorthand.ts";
import { standardCheck } from "./standard-check.ts";
import type { Check, Plan, PlannedEvent } from "./types.ts";
import { type Compile, loadCompiler } from "./validator.ts";
import { flawsOf } from "./verify-plan.ts";
import { propertiesOf } from "./wanted.ts";

/** What a plan is made of, before anything is checked. */
export interface Parts extends Pick<Plan, "file" | "title" | "unplanned"> {
  readonly events: readonly PlannedEvent[];
  readonly definitions: JsonObject;
  /** Its content as a plan file would say it, to be checked before it is used; null when that is done. */
  readonly content: JsonObject | null;
}

/** The event as a plan's JSON says it; shorthands are spelled out. */
export function plannedEvent(name: string, entry: Json): PlannedEvent {
  const given = schemaFrom(entry);
  const schema = isObject(given) ? { ...given, type: "object" } : { type: "object" };
  const { description } = schema as JsonObject;
  return { name, description: typeof description === "string" ? description : null, schema, standard: null };
}

/** Makes a plan; what is wrong with its content is told when it is first used. */
export function planOf({ file, title, unplanned, events, definitions, content }: Parts): Plan {
  let checks: Promise<ReadonlyMap<string, Check>> | undefined;
  const make = async () => {
    const compile = await loadCompiler();
    if (content) verify(content, compile);
    return new Map(events.map((it) => [it.name, checkOf(it, definitions, compile)]));
  };
  return {
    file,
    title,
    unplanned,
    events: new Map(events.map((it) => [it.name, it])),
    definitions,
    checks: () => (checks ??= make()),
  };
}

const nowhere: Position = { line: null, column: null };

/** @throws PlanError with everything that is wrong */
export function verify(
  content: Json,
  compile: Compile,
  file: string | null = null,
  positionOf: (path: readonly (string | number)[], isAboutKey: boolean) => Position = () => nowhere,
  also: readonly PlanProblem[] = [],
): void {
  const problems = flawsOf(content, compile).map(({ path, message, hint, isAboutKey }) => ({
    file,
    ...positionOf(path, isAboutKey),
    pointer: pointerTo(path),
    message,
    hint,
  }));
  const all = [...also, ...problems].sort(inOrder);
  if (all.length > 0) throw new PlanError(all);
}

const inOrder = (a: Position, b: Position): number =>
  (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);

/** How the event's properties are looked at. */
function checkOf(event: PlannedEvent, definitions: JsonObject, compile: Compile): Check {
  const { schema, standard, name } = event;
  if (standard) return standardCheck(standard);
  const validate = compiled(name, { ...schema, $defs: definitions }, compile);
  const planned = new Set(Object.keys(propertiesOf(schema)));
  return (properties) => {
    try {
      return findingsOf(validate(appsOwn(properties, planned)));
    } catch (error) {
      if (error instanceof RangeError)
        throw unusable(name, "a definition refers to itself without end", error);
      throw error;
    }
  };
}

function compiled(name: string, schema: JsonObject, compile: Compile) {
  try {
    return compile(schema);
  } catch (error) {
    throw unusable(name, error instanceof Error ? error.message : String(error), error);
  }
}

function unusable(name: string, message: string, cause: unknown): PlanError {
  const problem = { file: null, ...nowhere, pointer: pointerTo(["events", name]), message, hint: null };
  return Object.assign(new PlanError([problem]), { cause });
}

/** Without what SDKs add and the plan does not name. `__proto__` is no name that could be planned. */
const appsOwn = (properties: JsonObject, planned: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(
    Object.entries(properties).filter(
      ([name]) => name !== "__proto__" && (planned.has(name) || !isSdkProperty(name)),
    ),
  );
