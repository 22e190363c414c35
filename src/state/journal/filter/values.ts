import { isObject, type Json } from "../../../kernel/base/json.ts";
import { containsText } from "../../../kernel/base/wildcard.ts";

/** True if the value contains the text: in a string, a number as written, or a key or value inside. */
export function holdsText(value: Json, lower: string): boolean {
  if (typeof value === "string") return containsText(value.toLowerCase(), lower);
  if (typeof value !== "object") return String(value).includes(lower);
  if (value === null) return false;
  if (Array.isArray(value)) return value.some((it) => holdsText(it, lower));
  for (const [name, it] of Object.entries(value))
    if (containsText(name.toLowerCase(), lower) || holdsText(it, lower)) return true;
  return false;
}

const spread = (value: Json): readonly Json[] => (Array.isArray(value) ? value : [value]);

const isIndex = (step: string): boolean => /^\d+$/.test(step);

function stepInto(value: Json, step: string): readonly Json[] {
  if (Array.isArray(value) && isIndex(step)) return value.slice(Number(step), Number(step) + 1);
  return spread(value).flatMap((it) => {
    const inner = isObject(it) && Object.hasOwn(it, step) ? it[step] : undefined;
    return inner === undefined ? [] : [inner];
  });
}

/** At a path: `items.0.sku` of the first item, `items.sku` of every item; undefined if none. Inherited names count only if sent. */
export function valuesAt(properties: Readonly<Record<string, Json>>, path: readonly string[]): Json | undefined {
  let found: readonly Json[] = [properties];
  for (const step of path) found = found.flatMap((it) => stepInto(it, step));
  return found.length === 0 ? undefined : [...found];
}
