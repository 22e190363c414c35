import type { ErrorObject } from "ajv";
import { bounded } from "../../kernel/base/bounded-regexp.ts";
import { isObject, type Json, type JsonObject, pointerTo } from "../../kernel/base/json.ts";
import { isSdkProperty } from "../../state/journal/sdk-properties.ts";
import { findingsOf, standardCheck } from "./findings.ts";
import {
  type Plan,
  PlanError,
  type PlannedEvent,
  type PlanProblem,
  type Position,
  type PropertiesCheck,
  type ValueFinding,
} from "./plan.ts";
import { oneSchema, planSchema, schemaFrom, schemaList, schemaMap } from "./plan-schema.ts";
import { meant, propertiesOf } from "./wording.ts";

/** The parts of a plan, before they are checked. */
interface Parts extends Pick<Plan, "file" | "title" | "unplanned"> {
  readonly events: readonly PlannedEvent[];
  readonly definitions: JsonObject;
  /** Its content in the form of a plan file, to be checked before it is used; null if that is done. */
  readonly content: JsonObject | null;
}

/** An event from a plan's JSON; shorthands are expanded. */
export function plannedEvent(name: string, entry: Json): PlannedEvent {
  const given = schemaFrom(entry);
  const schema = isObject(given) ? { ...given, type: "object" } : { type: "object" };
  const { description } = schema as JsonObject;
  return { name, description: typeof description === "string" ? description : null, schema, standard: null };
}

/** Makes a plan; mistakes in its content are reported when it is first used. */
export function planOf({ file, title, unplanned, events, definitions, content }: Parts): Plan {
  let checks: Promise<ReadonlyMap<string, PropertiesCheck>> | undefined;
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

function checkOf(event: PlannedEvent, definitions: JsonObject, compile: Compile): PropertiesCheck {
  const { schema, standard, name } = event;
  if (standard) return standardCheck(standard);
  const validate = compiled(name, { ...schema, $defs: definitions }, compile);
  const planned = new Set(Object.keys(propertiesOf(schema)));
  return (properties) => {
    try {
      return findingsOf(validate(appsOwn(properties, planned)));
    } catch (error) {
      if (error instanceof RangeError) throw unusable(name, "a definition refers to itself without end", error);
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

/** Without what SDKs add and the plan does not name. `__proto__` cannot be planned. */
const appsOwn = (properties: JsonObject, planned: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(
    Object.entries(properties).filter(([name]) => name !== "__proto__" && (planned.has(name) || !isSdkProperty(name))),
  );

type Validate = (value: unknown) => readonly ErrorObject[];

/** Makes validators; each schema is compiled once. @throws for an invalid schema */
type Compile = (schema: JsonObject) => Validate;

/** A pattern of a schema; the validator caches patterns by their text. */
const patternWithin = (source: string, flags: string) =>
  Object.assign(bounded(new RegExp(source, flags)), { toString: () => `/${source}/${flags}` });

/**
 * Loads the JSON Schema validator (2020-12), which is large and seldom needed. Not zod: its `fromJSONSchema` rejects
 * `not`, `if`, `dependentRequired` and `unevaluatedProperties`, and ignores keywords that stand without a `type`.
 */
export async function loadCompiler(): Promise<Compile> {
  const [{ Ajv2020 }, formats] = await Promise.all([import("ajv/dist/2020.js"), import("ajv-formats")]);
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    // Captured properties may have the name `constructor`.
    ownProperties: true,
    strict: false,
    logger: false,
    validateSchema: false,
    addUsedSchema: false,
    // a pattern of the plan may take exponentially long for a captured value
    code: { regExp: Object.assign(patternWithin, { code: "patternWithin" }) },
  });
  // Its types describe the CommonJS form.
  const addFormats = formats.default as unknown as typeof formats.default.default;
  addFormats(ajv);
  return (schema) => {
    const validate = ajv.compile(schema);
    return (value) => (validate(value) ? [] : (validate.errors ?? []));
  };
}

interface Flaw {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint: string | null;
  readonly isAboutKey: boolean;
}

// The validator implements a later draft, in which these keywords mean the same.
const { $schema: _, ...schema } = planSchema;

export function flawsOf(value: Json, compile: Compile): Flaw[] {
  const flaws = findingsOf(compile(schema)(value)).map(flawOf);
  // References are only checked in a valid plan.
  return flaws.length > 0 || !isObject(value) ? flaws : [...strayRefs(value), ...strayRequired(value)];
}

const last = (finding: ValueFinding): string => JSON.stringify(finding.path.at(-1) ?? "");

function flawOf(finding: ValueFinding): Flaw {
  const { kind, path, expected, actual, hint } = finding;
  if (kind === "unknown_property") {
    const message = expected === "another name" ? `${last(finding)} cannot be a name` : `unknown key ${last(finding)}`;
    return { path, message, hint, isAboutKey: true };
  }
  if (kind === "missing_property")
    return { path: path.slice(0, -1), message: `${last(finding)} is missing`, hint, isAboutKey: false };
  // The hint on null is for events.
  const meaning = actual === "null" ? null : hint;
  return { path, message: `expected ${expected}, got ${actual ?? "nothing"}`, hint: meaning, isAboutKey: false };
}

function* schemasIn(value: Json, path: readonly string[]): Generator<[schema: Json, path: readonly string[]]> {
  yield [value, path];
  if (!isObject(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    const isOne = oneSchema.some((it) => it === key);
    const isMany = [...schemaList, ...schemaMap].some((it) => it === key);
    if (isOne) yield* schemasIn(inner, [...path, key]);
    if (isMany && typeof inner === "object" && inner !== null)
      for (const [name, it] of Object.entries(inner)) yield* schemasIn(it, [...path, key, name]);
  }
}

function* allSchemas(plan: { readonly [key: string]: Json }) {
  for (const part of ["events", "$defs"]) {
    for (const [name, it] of Object.entries(isObject(plan[part]) ? plan[part] : {})) yield* schemasIn(it, [part, name]);
  }
}

function strayRefs(plan: { readonly [key: string]: Json }): Flaw[] {
  const known = Object.keys(isObject(plan.$defs) ? plan.$defs : {});
  return [...allSchemas(plan)].flatMap(([schema, path]) => {
    const ref = isObject(schema) && typeof schema.$ref === "string" ? schema.$ref : undefined;
    const name = ref?.replace("#/$defs/", "");
    if (ref === undefined || name === undefined || known.includes(name)) return [];
    const message = `there is no ${JSON.stringify(name)} in the plan's $defs`;
    return [{ path: [...path, "$ref"], message, hint: meant(name, known), isAboutKey: false }];
  });
}

/** Required names that are nearly those of a property. */
const strayRequired = (plan: { readonly [key: string]: Json }): Flaw[] =>
  [...allSchemas(plan)].flatMap(([schema, path]) => {
    const known = Object.keys(propertiesOf(schema));
    const required = isObject(schema) && Array.isArray(schema.required) ? schema.required : [];
    return required.flatMap((name, i) => {
      const hint = known.includes(String(name)) ? null : meant(String(name), known);
      const message = `${JSON.stringify(name)} is required, but not among the properties`;
      return hint === null ? [] : [{ path: [...path, "required", i], message, hint, isAboutKey: false }];
    });
  });
