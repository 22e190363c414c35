import { isObject, type Json } from "../kernel/json.ts";

/**
 * Does the value fit the pattern? A literal must be equal, an object is a recursive subset, an array
 * must have the same length and fit item by item.
 */
export function fits(pattern: Json, value: Json | undefined): boolean {
  if (isObject(pattern)) {
    return (
      isObject(value) &&
      Object.keys(pattern).every((key) => Object.hasOwn(value, key) && fits(pattern[key] ?? null, value[key]))
    );
  }
  if (Array.isArray(pattern)) {
    return (
      Array.isArray(value) &&
      value.length === pattern.length &&
      pattern.every((item, i) => fits(item, value[i]))
    );
  }
  return pattern === value;
}

/** Paths of operators (`@gte` …) in a pattern: they are not built yet and must not pass as property names. */
export function operatorsIn(pattern: Json, path = ""): string[] {
  if (Array.isArray(pattern)) return pattern.flatMap((item, i) => operatorsIn(item, `${path}/${i}`));
  if (!isObject(pattern)) return [];
  return Object.keys(pattern).flatMap((key) =>
    key.startsWith("@") ? [`${path}/${key}`] : operatorsIn(pattern[key] ?? null, `${path}/${key}`),
  );
}
