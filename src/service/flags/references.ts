import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { referenceIn } from "./engine/values.ts";

/** Old id → new id. */
export type Renumbered = ReadonlyMap<number, number>;

/** Where a condition refers to another document, by its type. A flag's key, instead of its id, stays. */
export type References = ReadonlyMap<unknown, { readonly field: string; readonly numbers: Renumbered }>;

export const conditionReferences = (cohorts: Renumbered, flags: Renumbered): References =>
  new Map([
    ["cohort", { field: "value", numbers: cohorts }],
    ["flag", { field: "key", numbers: flags }],
  ]);

/** A reference with the new id, as a number or a string like the old one. */
export function renumbered(value: Json | undefined, numbers: Renumbered): Json | undefined {
  const old = referenceIn(value);
  const next = old === undefined ? undefined : numbers.get(old);
  if (next === undefined) return value;
  return typeof value === "string" ? String(next) : next;
}

function withReferences(value: JsonObject, references: References): JsonObject {
  const reference = references.get(value.type);
  if (!reference || !Object.hasOwn(value, reference.field)) return value;
  const next = renumbered(value[reference.field], reference.numbers);
  return next === undefined || next === value[reference.field] ? value : { ...value, [reference.field]: next };
}

/** The value with its conditions rewritten; parts without conditions are shared with the original. */
function rewritten(value: Json, references: References): Json {
  if (Array.isArray(value)) {
    const items = value.map((it) => rewritten(it, references));
    return items.some((it, i) => it !== value[i]) ? items : value;
  }
  if (!isObject(value)) return value;
  const own = withReferences(value, references);
  const entries = Object.entries(own).map(([key, it]): [string, Json] => [key, rewritten(it, references)]);
  return entries.some(([key, it]) => it !== own[key]) ? Object.fromEntries(entries) : own;
}

/** Conditions are JSON, whatever the schema's type is; an irregular document is returned unchanged. */
export const rewrite = <T>(value: T, references: References): T =>
  rewritten(value as unknown as Json, references) as unknown as T;

export const isFlagField = (name: string): boolean => /(?:^|_)flag_id$/.test(name);
