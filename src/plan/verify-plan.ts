import { isObject, type Json } from "../kernel/json.ts";
import { findingsOf } from "./findings.ts";
import { oneSchema, schemaList, schemaMap } from "./keywords.ts";
import { meant } from "./oddity.ts";
import { planSchema } from "./plan-schema.ts";
import type { Finding } from "./types.ts";
import type { Compile } from "./validator.ts";
import { propertiesOf } from "./wanted.ts";

/** Something that is wrong with the content of a plan. */
export interface Flaw {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint: string | null;
  readonly isAboutKey: boolean;
}

// The validator speaks a later draft, which takes the same for the same.
const { $schema: _, ...schema } = planSchema;

/** Everything that is wrong with what a plan file says. */
export function flawsOf(value: Json, compile: Compile): Flaw[] {
  const flaws = findingsOf(compile(schema)(value)).map(flawOf);
  // Names are looked up in what is a plan at all.
  return flaws.length > 0 || !isObject(value) ? flaws : [...strayRefs(value), ...strayRequired(value)];
}

const last = (finding: Finding): string => JSON.stringify(finding.path.at(-1) ?? "");

function flawOf(finding: Finding): Flaw {
  const { kind, path, expected, actual, hint } = finding;
  if (kind === "unknown_property") {
    const message =
      expected === "another name" ? `${last(finding)} cannot be a name` : `unknown key ${last(finding)}`;
    return { path, message, hint, isAboutKey: true };
  }
  if (kind === "missing_property")
    return { path: path.slice(0, -1), message: `${last(finding)} is missing`, hint, isAboutKey: false };
  // What is odd about null is said of events.
  const meaning = actual === "null" ? null : hint;
  return {
    path,
    message: `expected ${expected}, not ${actual ?? "nothing"}`,
    hint: meaning,
    isAboutKey: false,
  };
}

/** Every schema in a plan, with the way there. */
function* schemasIn(
  value: Json,
  path: readonly string[],
): Generator<[schema: Json, path: readonly string[]]> {
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
    for (const [name, it] of Object.entries(isObject(plan[part]) ? plan[part] : {}))
      yield* schemasIn(it, [part, name]);
  }
}

/** References to definitions that are not there. */
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

/** Required names that are no property's, but nearly one's. */
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
