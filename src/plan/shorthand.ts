import { isObject, type Json, type JsonObject } from "../kernel/json.ts";
import { oneSchema, schemaList, schemaMap, typeWords } from "./keywords.ts";

type Expand = (value: Json) => Json;

const each: Expand = (value) => (Array.isArray(value) ? value.map(schemaFrom) : value);
const eachEntry: Expand = (value) =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, it]) => [key, schemaFrom(it)]))
    : value;

const inner: ReadonlyMap<string, Expand> = new Map<string, Expand>([
  ...oneSchema.map((key): [string, Expand] => [key, schemaFrom]),
  ...schemaList.map((key): [string, Expand] => [key, each]),
  ...schemaMap.map((key): [string, Expand] => [key, eachEntry]),
]);

/** JSON Schema with every shorthand in it spelled out: type words, and lists of allowed values. */
export function schemaFrom(value: Json): Json {
  if (typeof value === "string") return fromWords(value);
  if (Array.isArray(value)) return { enum: value };
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, inner.get(key)?.(it) ?? it]));
}

/** `"integer|null"`, `"uuid[]"`. */
function fromWords(text: string): JsonObject {
  const schemas = text.split("|").map(fromWord);
  const [only] = schemas;
  if (schemas.length === 1 && only) return only;
  const types = schemas.map((it) => (Object.keys(it).join() === "type" ? it.type : undefined));
  return types.every((it): it is string => typeof it === "string")
    ? { type: [...new Set(types)] }
    : { anyOf: schemas };
}

function fromWord(word: string): JsonObject {
  if (word.endsWith("[]")) return { type: "array", items: fromWord(word.slice(0, -2)) };
  return { ...typeWords.get(word) };
}
