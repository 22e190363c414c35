import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import { nearest } from "../../../kernel/base/nearest.ts";
import { isMinimalFlagCall } from "../../../state/journal/sdk-properties.ts";
import { describePattern, describeValue } from "./describe.ts";
import { keyFor, operators, propertyOf } from "./operators.ts";
import { fits, type PatternShape, shapeOf } from "./pattern.ts";
import { readMatcher, testWith } from "./predicates.ts";
import { pathTo, printable, quoted } from "./printable.ts";
import { expressionOf } from "./regex-operand.ts";
import type { Difference } from "./report-shapes.ts";
import type { Pattern } from "./types.ts";
import { hintFor, lengthHint, readings } from "./value-hints.ts";
import { isJson } from "./values.ts";

const most = 50;
const deepest = 100;

interface Walk {
  found: Difference[];
  /** The whole value: what is missing may be elsewhere in it. */
  root: Json | undefined;
}

type Keys = { readonly [key: string]: Pattern };

const add = (walk: Walk, path: string, pattern: Pattern, value: Json | undefined, hint: string | null) =>
  walk.found.push({ path, expected: describePattern(pattern), actual: describeValue(value), hint });

/** Another place of a property, `properties.$set.plan`, up to three objects deep. */
function placeOf(property: string, pattern: Pattern, root: Json | undefined, not: string): string | null {
  let level: { path: string; value: Json | undefined }[] = [{ path: "", value: root }];
  for (let depth = 0; depth <= 3; depth++) {
    const objects = level.flatMap(({ path, value }) => (isObject(value) ? [{ path, value }] : []));
    for (const { path, value } of objects) {
      const place = pathTo(path, property);
      if (place !== not && Object.hasOwn(value, property) && fits(pattern, value[property])) return place;
    }
    level = objects.flatMap(({ path, value }) =>
      Object.entries(value).map(([key, it]) => ({ path: pathTo(path, key), value: it })),
    );
  }
  return null;
}

/** True for a `$feature_flag_called` without what an SDK usually adds. */
const isMinimal = (root: Json | undefined): boolean =>
  isObject(root) &&
  typeof root.event === "string" &&
  isObject(root.properties) &&
  isMinimalFlagCall(root.event, root.properties);

/** Where a missing property may be: at another place, or under a similar name that is not expected itself. */
function missingHint(walk: Walk, path: string, property: string, object: Keys, there: JsonObject) {
  const place = placeOf(property, object[keyFor(property)], walk.root, path);
  if (place !== null) return `it is at ${place}`;
  const near = nearest(
    property,
    Object.keys(there).filter((key) => !Object.hasOwn(object, keyFor(key))),
  );
  if (near !== undefined) return `did you mean ${quoted(near, 60)}?`;
  return path.startsWith("properties") && isMinimal(walk.root)
    ? "the SDK leaves it out: the project has minimal_flag_called_events, and no experiment uses the flag"
    : null;
}

function inObject(walk: Walk, object: Keys, value: Json | undefined, path: string, depth: number): void {
  if (!isObject(value)) {
    add(walk, path, object, value, isJson(object) && value !== undefined ? hintFor(object, value) : null);
    return;
  }
  for (const [key, pattern] of Object.entries(object)) {
    const property = propertyOf(key);
    const at = pathTo(path, property);
    if (Object.hasOwn(value, property)) visit(walk, pattern, value[property], at, depth + 1);
    else if (!fits(pattern, undefined))
      add(walk, at, pattern, undefined, missingHint(walk, at, property, object, value));
  }
}

function inList(walk: Walk, items: readonly Pattern[], value: Json | undefined, path: string, depth: number) {
  const isComparable = Array.isArray(value) && value.length === items.length;
  const hint = isJson(items) && value !== undefined ? hintFor([...items], value) : null;
  if (!isComparable || hint === "another order") {
    add(walk, path, items, value, hint ?? (Array.isArray(value) ? lengthHint(value.length, items.length) : null));
    return;
  }
  for (const [i, item] of items.entries()) visit(walk, item, value[i], pathTo(path, i), depth + 1);
}

/** Operators whose operands are compared part by part. */
const inner: Readonly<
  Record<string, (walk: Walk, operand: Pattern, value: Json | undefined, path: string, depth: number) => void>
> = {
  "@all": (walk, operand, value, path, depth) => {
    for (const pattern of Array.isArray(operand) ? operand : []) visit(walk, pattern, value, path, depth + 1);
  },
  "@each": (walk, operand, value, path, depth) => {
    const at = Array.isArray(value) ? value.findIndex((item) => !fits(operand, item)) : -1;
    if (!Array.isArray(value) || at === -1) add(walk, path, { "@each": operand }, value, null);
    else visit(walk, operand, value[at], pathTo(path, at), depth + 1);
  },
};

function inOperators(walk: Walk, object: Keys, value: Json | undefined, path: string, depth: number): void {
  for (const [key, operand] of Object.entries(object)) {
    const alone = { [key]: operand };
    if (fits(alone, value)) continue;
    const into = inner[key];
    if (into) into(walk, operand, value, path, depth);
    else add(walk, path, alone, value, operatorHint(key, operand, value));
  }
}

function operatorHint(key: string, operand: Pattern, value: Json | undefined): string | null {
  if (!operators.has(key)) return `there is no operator ${printable(key, 40)}`;
  if (value === undefined) return null;
  if (key === "@exists") return value === null ? "null, not absent" : null;
  if (key === "@regex") {
    const expression = expressionOf(operand);
    if (typeof expression !== "string" && expression.gaveUp) return "the pattern takes too long on such strings";
  }
  if (key === "@eq" && isJson(operand)) return hintFor(operand, value);
  return readingHint({ [key]: operand }, value);
}

/** The hint on the value that was probably meant, if that one fits. */
function readingHint(pattern: Pattern, value: Json): string | null {
  // a negation fits nearly every other value
  const denies = isObject(pattern) && ["@ne", "@nin", "@not"].some((key) => Object.hasOwn(pattern, key));
  if (denies) return null;
  return readings(value).find((reading) => reading.value !== value && fits(pattern, reading.value))?.hint ?? null;
}

/** The sample of vitest's and jest's `objectContaining`, which is compared property by property. */
function sampleOf(pattern: Pattern): Keys | undefined {
  const known = typeof pattern === "object" && pattern !== null ? readMatcher(pattern) : undefined;
  if (known?.name !== "ObjectContaining" || !isObject(known.sample)) return undefined;
  return Object.fromEntries(Object.entries(known.sample).map(([key, it]) => [keyFor(key), it]));
}

function atMatcher(
  walk: Walk,
  pattern: Pattern,
  shape: PatternShape & { is: "predicate" },
  value: Json,
  at: Place,
): void {
  const sample = sampleOf(pattern);
  const before = walk.found.length;
  if (sample && isObject(value)) inObject(walk, sample, value, at.path, at.depth + 1);
  if (walk.found.length > before) return;
  const { note } = testWith(shape.predicate, value);
  add(walk, at.path, pattern, value, note === null ? readingHint(pattern, value) : printable(note, 120));
}

interface Place {
  path: string;
  depth: number;
}

function visit(walk: Walk, pattern: Pattern, value: Json | undefined, path: string, depth: number): void {
  if (walk.found.length >= most || depth > deepest || fits(pattern, value)) return;
  const shape = shapeOf(pattern);
  if (shape.is === "object") inObject(walk, shape.object, value, path, depth);
  else if (shape.is === "list") inList(walk, shape.items, value, path, depth);
  else if (shape.is === "operators") inOperators(walk, shape.object, value, path, depth);
  else if (shape.is === "converted") visit(walk, shape.pattern, value, path, depth + 1);
  else if (shape.is === "predicate" && value !== undefined) atMatcher(walk, pattern, shape, value, { path, depth });
  else add(walk, path, pattern, value, leafHint(shape, value));
}

function leafHint(shape: PatternShape, value: Json | undefined): string | null {
  if (shape.is === "absent") return value === null ? "null, not absent" : null;
  if (value === undefined) return null;
  if (shape.is === "literal" && isJson(shape.value)) return hintFor(shape.value, value);
  if (shape.is === "regex") return readingHint(shape.regex, value);
  if (shape.is === "moment" && typeof value === "number") {
    const time = shape.date.getTime();
    return value === time || value * 1000 === time ? "epoch, not ISO time" : null;
  }
  return null;
}

/**
 * The places where a value does not fit a pattern, in the pattern's order. Paths are as in code, from the value on:
 * `properties.items[2].sku`.
 */
export function differences(pattern: Pattern, value: Json | undefined): Difference[] {
  const walk: Walk = { found: [], root: value };
  visit(walk, pattern, value, "", 0);
  return walk.found.slice(0, most);
}
