import { isObject, isTooDeep, type Json, type JsonObject, mapMembers, own } from "../../../kernel/base/json.ts";
import { itemsPerStep, type Work } from "../../../kernel/base/work.ts";
import { coversAll, flagMaps, isGrantCode, loginNames, type NameSecrecy } from "./names.ts";

export interface Spot {
  /** `req.body.batch[0].properties` */
  path: string;
  /** Name of the secret it is, if its own name or that of something around it says so. */
  secret?: string;
  name?: string | undefined;
  /** Names of the objects around it, the nearest last; for rules that depend on them. */
  around: readonly string[];
}

export interface Leaves {
  named(name: string, value: string, path: string): string;
  text(text: string, path: string): string;
  digits(digits: string, path: string): string;
  key(name: string, path: string): string;
  secrecy(name: string): NameSecrecy | undefined;
  /** A value that is personal; undefined: it is not. */
  personal(value: string | number, spot: Spot): string | number | undefined;
}

/** `a.b`, `a["b c"]`. */
const pathOf = (path: string, key: string): string =>
  /^[\w$-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

function walkString(value: string, spot: Spot, leaves: Leaves): Json {
  const digits = digitsOf(value);
  if (digits !== undefined) return walkDigits(value, digits, spot, leaves);
  if (spot.secret !== undefined) return leaves.named(spot.secret, value, spot.path);
  return leaves.personal(value, spot) ?? leaves.text(value, spot.path);
}

/** A number that travels as text, see `rewriteJson`. */
function walkDigits(value: string, digits: string, spot: Spot, leaves: Leaves): Json {
  const number = Number(digits);
  const after = walkNumber(number, digits, spot, leaves);
  return after === number ? value : after;
}

/** @param digits The number as it was written: a long one has more digits than a value can hold */
function walkNumber(value: number, digits: string, spot: Spot, leaves: Leaves): Json {
  const changed = (after: string): Json => (after === digits ? value : after);
  if (spot.secret !== undefined && leaves.secrecy(spot.secret) === "strong") {
    return changed(leaves.named(spot.secret, digits, spot.path));
  }
  return leaves.personal(value, spot) ?? changed(leaves.digits(digits, spot.path));
}

const pairNames = ["name", "key", "field", "property"];

/** `{"name": "password", "value": "…"}`: how forms and headers are written down. */
const nameOfPair = (object: JsonObject, { secrecy }: Leaves): string | undefined =>
  pairNames
    .map((key) => own(object, key))
    .find((it): it is string => typeof it === "string" && secrecy(it) !== undefined);

const isDestination = (spot: Spot, object: JsonObject): boolean =>
  typeof own(object, "type") === "string" && isObject(own(object, "config")) && spot.name !== "config";

/** `flags` is a word for much; the service's answers have objects in it. */
const isFlag = (key: string, object: JsonObject, { name }: Spot): boolean =>
  name !== undefined && flagMaps.has(name) && (name !== "flags" || isObject(own(object, key)));

function secretName(key: string, object: JsonObject, spot: Spot, leaves: Leaves): string | undefined {
  if (isFlag(key, object, spot)) return undefined;
  if (leaves.secrecy(key) !== undefined || isGrantCode(key, object)) return key;
  if (key === "value" || key === "content") return nameOfPair(object, leaves) ?? spot.secret;
  return spot.around.at(-1) === "config()" && loginNames.has(key.toLowerCase()) ? key : spot.secret;
}

function memberSpot(key: string, value: Json, object: JsonObject, spot: Spot, leaves: Leaves): [string, Spot] {
  const safeKey = leaves.key(key, spot.path);
  const secret = secretName(key, object, spot, leaves);
  const isLeaf = typeof value !== "object" || value === null || Array.isArray(value);
  const inherits = secret !== undefined && (isLeaf || secret === spot.secret || coversAll(secret));
  const inside = key === "config" && isDestination(spot, object) ? "config()" : key;
  const at: Spot = { path: pathOf(spot.path, safeKey), name: key, around: [...spot.around, inside] };
  if (inherits) at.secret = secret;
  return [safeKey, at];
}

/** What is in a list has the list's name, but members of objects in it are no members of the list. */
const itemSpot = (item: Json, i: number, spot: Spot): Spot => {
  const path = `${spot.path}[${i}]`;
  return isObject(item) ? { ...spot, path, name: undefined } : { ...spot, path };
};

/** The value with its leaves replaced, itself if none was; recursion is as deep as the value, see `mostDepth`. */
export function walk(value: Json, spot: Spot, leaves: Leaves): Json {
  if (typeof value === "string") return walkString(value, spot, leaves);
  if (typeof value === "number") return walkNumber(value, String(value), spot, leaves);
  if (Array.isArray(value)) return value.map((it, i) => walk(it, itemSpot(it, i, spot), leaves));
  if (!isObject(value)) return value;
  return mapMembers(value, (key, it) => {
    const [name, at] = memberSpot(key, it, value, spot, leaves);
    return [name, walk(it, at, leaves)];
  });
}

/** A large value is a list in an object, or in an object in one: what is deeper is one step. */
const levelsInSteps = 3;

export function* walkInSteps(value: Json, spot: Spot, leaves: Leaves, levels: number = levelsInSteps): Work<Json> {
  if (levels === 0 || typeof value !== "object" || value === null) return walk(value, spot, leaves);
  let count = 0;
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const [i, it] of value.entries()) {
      items.push(yield* walkInSteps(it, itemSpot(it, i, spot), leaves, levels - 1));
      if (isObject(it) || ++count % itemsPerStep === 0) yield undefined;
    }
    return items;
  }
  const members: [string, Json][] = [];
  for (const [key, it] of Object.entries(value)) {
    const [name, at] = memberSpot(key, it, value, spot, leaves);
    const isLeaf = typeof it !== "object" || it === null;
    members.push([name, isLeaf ? walk(it, at, leaves) : yield* walkInSteps(it, at, leaves, levels - 1)]);
    if (++count % itemsPerStep === 0) yield undefined;
  }
  return Object.fromEntries(members);
}

/** Deeper values are not walked; they are searched as text. */
export const mostDepth = 200;

const startsLikeJson = /^\s*[{["]/;
const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** A private character marks numbers on their way: they must come out digit by digit as they went in. */
const mark = "\ue0f7";
const marked = new RegExp(`"${mark}([-+.\\deE]+)"`, "g");

/** The digits of a number that is kept as text while a JSON text is rewritten; undefined for any other string. */
const digitsOf = (value: string): string | undefined => (value.startsWith(mark) ? value.slice(mark.length) : undefined);

function parsed(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text.replace(token, (it) => (it.startsWith('"') ? it : `"${mark}${it}"`)));
    return isTooDeep(value, mostDepth) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** A text without changes keeps digits and whitespace. Undefined: no JSON, or too deep. Numbers: see `digitsOf`. */
export function rewriteJson(text: string, rewrite: (value: Json) => Json): string | undefined {
  if (!startsLikeJson.test(text) || text.includes(mark)) return undefined;
  const value = parsed(text);
  if (value === undefined) return undefined;
  const before = JSON.stringify(value);
  const after = JSON.stringify(rewrite(value));
  // A key that came twice is gone after parsing: what it held must not stay behind.
  if (after === before && !hasDoubleKeys(text, before)) return text;
  return after.replace(marked, "$1");
}

/** Fewer strings and numbers than the text has: a later key has replaced an earlier one. */
const hasDoubleKeys = (text: string, parsedText: string): boolean =>
  (text.match(token) ?? []).length !== (parsedText.match(token) ?? []).length;
