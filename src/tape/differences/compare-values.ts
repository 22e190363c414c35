import { isObject, type Json, type JsonObject, own as ownKey } from "../../kernel/json.ts";
import { isFreeForm, isMap } from "./data-paths.ts";
import { isNoise, isVolatileName } from "./noise.ts";
import { typeOf } from "./shape.ts";
import type { AnswerDifference } from "./types.ts";

type Told = Omit<AnswerDifference, "detail">;
type Tell = (difference: Told) => void;

/** Long lists differ in the same way again and again. */
const mostElements = 200;
const longest = 60;

/** Where values of the same shape differ, outside of what differs always. Shapes are not its business. */
export function compareValues(recorded: Json, own: Json, path: string, tell: Tell): void {
  if (Array.isArray(recorded) && Array.isArray(own)) {
    compareLists(recorded, own, path, tell);
    return;
  }
  if (isObject(recorded) && isObject(own)) {
    compareObjects(recorded, own, path, tell);
    return;
  }
  if (typeOf(recorded) !== typeOf(own) || recorded === own || isNoise(recorded, own)) return;
  tell(differing(recorded, own, path));
}

function compareLists(recorded: Json[], own: Json[], path: string, tell: Tell): void {
  if (recorded.length !== own.length)
    tell({
      severity: "value",
      kind: "length",
      path,
      recorded: String(recorded.length),
      own: String(own.length),
    });
  const both = Math.min(recorded.length, own.length, mostElements);
  for (const [i, value] of recorded.slice(0, both).entries())
    compareValues(value, own[i] ?? null, `${path}[]`, tell);
}

function compareObjects(recorded: JsonObject, own: JsonObject, path: string, tell: Tell): void {
  for (const key of Object.keys(recorded)) {
    const [left, right] = [ownKey(recorded, key), ownKey(own, key)];
    if (left === undefined || right === undefined || isVolatileName(key)) continue;
    const at = `${path}.${key}`;
    if (isFreeForm(key)) compareWhole(left, right, at, tell);
    else if (isMap(key) && isObject(left) && isObject(right)) compareMaps(left, right, at, tell);
    else compareValues(left, right, at, tell);
  }
}

/** What a user wrote is the same, or it is not. */
function compareWhole(recorded: Json, own: Json, path: string, tell: Tell): void {
  const isSameType = typeOf(recorded) === typeOf(own);
  if (!isSameType || hasPlaceholder(recorded) || sortedText(recorded) === sortedText(own)) return;
  tell(differing(recorded, own, path));
}

const hasPlaceholder = (value: Json): boolean => /\{\{[\w-]+:|\*{3}/.test(JSON.stringify(value));

const sortedText = (value: Json): string =>
  JSON.stringify(value, (_, it) =>
    isObject(it) ? Object.fromEntries(Object.entries(it).sort(([a], [b]) => (a < b ? -1 : 1))) : it,
  );

function compareMaps(recorded: JsonObject, own: JsonObject, path: string, tell: Tell): void {
  const names = new Set([...Object.keys(recorded), ...Object.keys(own)]);
  for (const name of names) {
    const [left, right] = [ownKey(recorded, name), ownKey(own, name)];
    if (left === undefined || right === undefined)
      tell({
        severity: "value",
        kind: left === undefined ? "extra" : "missing",
        path: `${path}.${name}`,
        recorded: left === undefined ? "nothing" : shown(left),
        own: right === undefined ? "nothing" : shown(right),
      });
    else compareValues(left, right, `${path}.${name}`, tell);
  }
}

const differing = (recorded: Json, own: Json, path: string): Told => ({
  severity: "value",
  kind: "value",
  path,
  recorded: shown(recorded),
  own: shown(own),
});

/** A value in a few characters. */
function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
