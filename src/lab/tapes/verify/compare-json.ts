import { isObject, type Json, type JsonObject, own as ownKey, sortedText } from "../../../kernel/base/json.ts";
import { getOrMake } from "../../../kernel/base/recent-map.ts";
import type { HeaderPairs, TapeBody } from "../format/exchange.ts";
import type { DifferenceGroup } from "../shapes.ts";

/** `break`: what clients rely on is missing or null; `additive`: one side has more; `value`: another value only. */
export type Severity = DifferenceGroup["severity"];

export type DifferenceKind = DifferenceGroup["kind"];

export interface AnswerLike {
  readonly status: number;
  readonly headers: HeaderPairs;
  readonly body?: TapeBody | undefined;
}

export type AnswerDifference = Omit<DifferenceGroup, "route" | "count" | "of" | "first">;

export interface CompareOptions {
  route: string;
  /** Paths whose values (and below) do not count: `res.body.results[].name`, as tapes have them. */
  noise?: readonly string[];
}

type Finding = Omit<AnswerDifference, "detail">;
type Report = (difference: Finding) => void;

/**
 * `recorded` is the service's: a key or type that it has and `own` has not is a break, and null in its place; what only
 * `own` has is additive.
 */
export function compareShapes(recorded: Shape, own: Shape, path: string, report: Report): void {
  compareTypes(recorded, own, path, report);
  for (const [key, { shape, times }] of recorded.keys) {
    const at = `${path}.${key}`;
    const mine = own.keys.get(key);
    if (mine) {
      compareKey(key, shape, mine.shape, at, report);
      const lacking = own.objects - mine.times;
      if (times === recorded.objects && lacking > 0)
        report({ ...missing(shape, false, at), own: `nothing in ${lacking} of ${own.objects}` });
    } else if (own.objects > 0) report(missing(shape, times === recorded.objects, at));
  }
  for (const [key, { shape }] of own.keys)
    if (!recorded.keys.has(key) && recorded.objects > 0) report(extra(shape, `${path}.${key}`));
  if (recorded.element && own.element) compareShapes(recorded.element, own.element, `${path}[]`, report);
}

function compareKey(key: string, recorded: Shape, own: Shape, at: string, report: Report): void {
  if (!freeForm.has(key) && !maps.has(key)) {
    compareShapes(recorded, own, at, report);
    return;
  }
  compareTypes(recorded, own, at, report);
  if (freeForm.has(key)) return;
  const [left, right] = [valuesOf(recorded), valuesOf(own)];
  // A list where the other one has a map was reported above.
  if (left && right) compareShapes(left, right, `${at}.*`, report);
  else if (recorded.element && own.element) compareShapes(recorded.element, own.element, `${at}[]`, report);
}

function valuesOf({ keys }: Shape): Shape | undefined {
  const all = [...keys.values()].map(({ shape }) => shape);
  return all.length > 0 ? all.reduce(united) : undefined;
}

function united(a: Shape, b: Shape): Shape {
  const keys = new Map(a.keys);
  for (const [key, { shape, times }] of b.keys) {
    const known = keys.get(key);
    keys.set(key, known ? { shape: united(known.shape, shape), times: known.times + times } : { shape, times });
  }
  const element = a.element && b.element ? united(a.element, b.element) : (a.element ?? b.element);
  return { types: new Set([...a.types, ...b.types]), objects: a.objects + b.objects, keys, element };
}

/** A key that only some of the recorded objects have is not promised. */
const missing = (shape: Shape, isInAll: boolean, path: string): Finding => ({
  severity: isInAll ? "break" : "additive",
  kind: "missing",
  path,
  recorded: shownTypes(shape),
  own: "nothing",
});

const extra = (shape: Shape, path: string): Finding => ({
  severity: "additive",
  kind: "extra",
  path,
  recorded: "nothing",
  own: shownTypes(shape),
});

function compareTypes(recorded: Shape, own: Shape, path: string, report: Report): void {
  const values = { path, recorded: shownTypes(recorded), own: shownTypes(own) };
  const left = withoutNull(recorded);
  const right = withoutNull(own);
  if (left.size > 0 && right.size > 0) {
    if ([...left].every((it) => !right.has(it))) {
      report({ severity: "break", kind: "type", ...values });
      return;
    }
    if (!isSame(left, right)) report({ severity: "additive", kind: "elements", ...values });
  }
  if (recorded.types.has("null") !== own.types.has("null"))
    report({ severity: isNullBreaking(recorded, own, path) ? "break" : "additive", kind: "null", ...values });
}

/**
 * True where a client reads null instead of what it relies on: all values are null, or some instead of a list or
 * object. Times, links and ids are null and not null in any two answers.
 */
function isNullBreaking(recorded: Shape, own: Shape, path: string): boolean {
  if (recorded.types.has("null")) return false;
  if (recorded.types.has("list") || recorded.types.has("object")) return true;
  return own.types.size === 1 && !isVolatileName(path.slice(path.lastIndexOf(".") + 1));
}

const withoutNull = ({ types }: Shape): Set<string> => new Set([...types].filter((it) => it !== "null"));

const isSame = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((it) => b.has(it));

type JsonType = "null" | "boolean" | "number" | "string" | "list" | "object";

interface Shape {
  readonly types: ReadonlySet<JsonType>;
  readonly objects: number;
  /** Of its objects: each key's shape, and in how many of them it is. */
  readonly keys: ReadonlyMap<string, { shape: Shape; times: number }>;
  /** Of its lists; undefined if they have no element. */
  readonly element: Shape | undefined;
}

/** Most elements of a list that are looked at: further ones rarely add to its shape. */
const mostSampled = 1000;

function typeOf(value: Json): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value as Exclude<JsonType, "null" | "list">;
}

export function shapeOf(values: readonly Json[]): Shape {
  const objects = values.filter(isObject);
  const elements = values.flatMap((it) => (Array.isArray(it) ? it.slice(0, mostSampled) : []));
  return {
    types: new Set(values.map(typeOf)),
    objects: objects.length,
    keys: keysOf(objects),
    element: elements.length > 0 ? shapeOf(elements.slice(0, mostSampled)) : undefined,
  };
}

function keysOf(objects: readonly { [key: string]: Json }[]): Shape["keys"] {
  const values = new Map<string, Json[]>();
  for (const [key, value] of objects.flatMap((it) => Object.entries(it))) {
    getOrMake(values, key, (): Json[] => []).push(value);
  }
  return new Map([...values].map(([key, all]) => [key, { shape: shapeOf(all), times: all.length }]));
}

const shownTypes = ({ types }: Pick<Shape, "types">): string =>
  [...types].sort((a, b) => Number(a === "null") - Number(b === "null") || (a < b ? -1 : 1)).join(" or ");

/** Long lists differ in the same way again and again. */
const mostElements = 200;
const longest = 60;

/** Where values of the same shape differ, outside of what differs always. Shapes are not its business. */
export function compareValues(recorded: Json, own: Json, path: string, report: Report): void {
  if (Array.isArray(recorded) && Array.isArray(own)) compareLists(recorded, own, path, report);
  else if (isObject(recorded) && isObject(own)) compareObjects(recorded, own, path, report);
  else if (typeOf(recorded) === typeOf(own) && recorded !== own && !isNoise(recorded, own))
    report(differing(recorded, own, path));
}

function compareLists(recorded: Json[], own: Json[], path: string, report: Report): void {
  if (recorded.length !== own.length)
    report({ severity: "value", kind: "length", path, recorded: String(recorded.length), own: String(own.length) });
  const both = Math.min(recorded.length, own.length, mostElements);
  for (const [i, value] of recorded.slice(0, both).entries()) compareValues(value, own[i] ?? null, `${path}[]`, report);
}

function compareObjects(recorded: JsonObject, own: JsonObject, path: string, report: Report): void {
  for (const key of Object.keys(recorded)) {
    const [left, right] = [ownKey(recorded, key), ownKey(own, key)];
    if (left === undefined || right === undefined || isVolatileName(key)) continue;
    const at = `${path}.${key}`;
    if (freeForm.has(key)) compareWhole(left, right, at, report);
    else if (maps.has(key) && isObject(left) && isObject(right)) compareMaps(left, right, at, report);
    else compareValues(left, right, at, report);
  }
}

/** What a user wrote is the same, or it is not. */
function compareWhole(recorded: Json, own: Json, path: string, report: Report): void {
  const isSameType = typeOf(recorded) === typeOf(own);
  if (!isSameType || hasPlaceholder(recorded) || sortedText(recorded) === sortedText(own)) return;
  report(differing(recorded, own, path));
}

const hasPlaceholder = (value: Json): boolean => /\{\{[\w-]+:|\*{3}/.test(JSON.stringify(value));

function compareMaps(recorded: JsonObject, own: JsonObject, path: string, report: Report): void {
  const names = new Set([...Object.keys(recorded), ...Object.keys(own)]);
  for (const name of names) {
    const [left, right] = [ownKey(recorded, name), ownKey(own, name)];
    if (left === undefined || right === undefined)
      report({
        severity: "value",
        kind: left === undefined ? "extra" : "missing",
        path: `${path}.${name}`,
        recorded: left === undefined ? "nothing" : shown(left),
        own: right === undefined ? "nothing" : shown(right),
      });
    else compareValues(left, right, `${path}.${name}`, report);
  }
}

const differing = (recorded: Json, own: Json, path: string): Finding => ({
  severity: "value",
  kind: "value",
  path,
  recorded: shown(recorded),
  own: shown(own),
});

function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** Keys whose objects hold what users wrote: the service promises nothing of their inner shape. */
const freeForm: ReadonlySet<string> = new Set([
  "properties",
  "filters",
  "query",
  "layouts",
  "variables",
  "persisted_filters",
  "persisted_variables",
  "breakdown_colors",
  "config",
  "schema",
  "result",
  "hedgehog_config",
  "session_recording_trigger_groups",
  "available_product_features",
  "featureFlagPayloads",
  "featureFlags",
  "group_type_mapping",
  "payloads",
]);

/** Keys whose objects are maps: their keys are data, all their values have one shape. */
const maps: ReadonlySet<string> = new Set(["flags", "cohorts"]);

/** Names of what differs between any two answers: ids, times, tokens, links. */
const volatileName =
  /^(?:id|uuid|.*_ids?|short_id|.*_at|timestamp|time|last_refresh|last_accessed.*|.*_timestamp|data_interval_(?:start|end)|requestId|request_id|evaluatedAt|evaluated_at|next|previous|.*token|etag|nonce|instance_id|log_source_id|cursor|api_key|secret_api_token.*|timezone_offset)$/;
/** Of these, names whose values matter. */
const tellingName = /^distinct_ids?$/;

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const moment = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;
const placeholder = /\{\{[\w-]+:[^{}]*\}\}|\bph[a-z]_|\*{3}/;

const texts: readonly ((text: string) => boolean)[] = [
  (it) => uuid.test(it),
  (it) => moment.test(it),
  (it) => URL.canParse(it),
];

const isVolatileName = (key: string): boolean => volatileName.test(key) && !tellingName.test(key);

function isNoise(recorded: Json, own: Json): boolean {
  if (typeof recorded === "string" && placeholder.test(recorded)) return true;
  if (typeof recorded !== "string" || typeof own !== "string") return false;
  return texts.some((matches) => matches(recorded) && matches(own));
}

/** `res.body.x[].y` and `body.x[].y` alike; a path is noise with all that is below it. */
export function noiseTest(noise: readonly string[]): (path: string) => boolean {
  const paths = new Set(noise.map((it) => it.replace(/^res\./, "").replaceAll(/\[\d+\]/g, "[]")));
  if (paths.size === 0) return () => false;
  return (path) => startsOf(path).some((it) => paths.has(it));
}

/** `a`, `a.b`, `a.b[]` for `a.b[]`. */
function startsOf(path: string): string[] {
  const ends = [...path.matchAll(/\.|\[\]/g)].map(({ index }) => index);
  return [...ends.map((end) => path.slice(0, end)), path];
}
