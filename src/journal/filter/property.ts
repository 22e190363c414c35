import { isObject, type Json } from "../../base/json.ts";

/** The value itself, and where it is a list its items. */
const spread = (value: Json): readonly Json[] => (Array.isArray(value) ? value : [value]);

const isPlace = (step: string): boolean => /^\d+$/.test(step);

function stepInto(value: Json, step: string): readonly Json[] {
  if (Array.isArray(value) && isPlace(step)) return value.slice(Number(step), Number(step) + 1);
  return spread(value).flatMap((it) => {
    const inner = isObject(it) && Object.hasOwn(it, step) ? it[step] : undefined;
    return inner === undefined ? [] : [inner];
  });
}

/**
 * What is at a path: `items.0.sku` is the first item's, `items.sku` every item's. Undefined where there is nothing.
 * Names that every object inherits are absent unless they were sent.
 */
export function valuesAt(
  properties: Readonly<Record<string, Json>>,
  path: readonly string[],
): Json | undefined {
  let found: readonly Json[] = [properties];
  for (const step of path) found = found.flatMap((it) => stepInto(it, step));
  return found.length === 0 ? undefined : [...found];
}
