import { SimError } from "../base/errors.ts";
import { isObject, isTooDeep, type Json, type JsonObject } from "../base/json.ts";
import { didYouMean, meantOf } from "../base/nearest.ts";
import type { Call } from "./call.ts";

const invalid = (detail: string, pointer: string, hint?: string): SimError =>
  new SimError("invalid_input", detail, hint === undefined ? { pointer } : { pointer, hint });

/** The call's JSON body; no body is `{}`. @throws SimError parse_error, invalid_input */
export function bodyOf(call: Call): JsonObject {
  if (call.body.length === 0) return {};
  const text = call.body.toString("utf8");
  const value = parse(text);
  if (!isObject(value)) throw invalid("the body must be a JSON object", "");
  return value;
}

function parse(text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new SimError("parse_error", `the body is not JSON: ${(cause as Error).message}`, { cause });
  }
  if (isTooDeep(value)) throw new SimError("parse_error", "the body is nested too deeply");
  return value;
}

/**
 * Unknown keys are mistakes, not extensions: a misspelt `timeout` must not wait for the default.
 * @param pointer Where in the body the object is
 * @throws SimError invalid_input naming the nearest key
 */
export function allowKeys(body: JsonObject, keys: readonly string[], pointer = ""): void {
  const unknown = Object.keys(body).find((key) => !keys.includes(key));
  if (unknown !== undefined)
    throw invalid(
      `unknown key "${unknown}"${didYouMean(unknown, keys)}`,
      `${pointer}/${unknown}`,
      keys.length === 0 ? "it takes none" : `known keys: ${keys.join(", ")}`,
    );
}

interface Range {
  min: number;
  max: number;
}

const inRange = (value: unknown, { min, max }: Range): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;

/** A whole number from the body. @throws SimError invalid_input */
export function wholeNumber(body: JsonObject, key: string, fallback: number, range: Range): number {
  const value = body[key] ?? fallback;
  if (inRange(value, range)) return value;
  throw invalid(`"${key}" must be a whole number from ${range.min} to ${range.max}`, `/${key}`);
}

/** The same from the query. @throws SimError invalid_input */
export function queryNumber(call: Call, key: string, range: Range): number | undefined {
  const text = call.query.get(key);
  if (text === null || text === "") return undefined;
  const value = Number(text);
  if (inRange(value, range)) return value;
  throw invalid(`"${key}" must be a whole number from ${range.min} to ${range.max}`, `?${key}`);
}

/** One of a few words from the query. @throws SimError invalid_input */
export function queryChoice<T extends string>(call: Call, key: string, choices: readonly T[]): T | undefined {
  const text = call.query.get(key);
  if (text === null || text === "") return undefined;
  const found = choices.find((it) => it === text);
  if (found !== undefined) return found;
  throw invalid(`"${key}" must be one of ${choices.join(", ")}`, `?${key}`);
}

/** A JSON object from the query, e.g. `where={"properties":{"plan":"pro"}}`. @throws SimError invalid_input */
export function queryObject(call: Call, key: string): JsonObject | undefined {
  const text = call.query.get(key);
  if (text === null || text === "") return undefined;
  let value: Json;
  try {
    value = parse(text);
  } catch {
    throw invalid(
      `"${key}" must be a JSON object`,
      `?${key}`,
      `for example ${key}={"properties":{"plan":"pro"}}`,
    );
  }
  if (!isObject(value)) throw invalid(`"${key}" must be a JSON object`, `?${key}`);
  return value;
}

/** A number that counts from 1 in the path. @throws SimError not_found when it is none */
export function pathNumber(call: Call, name: string, what: string): number {
  const text = call.params[name] ?? "";
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new SimError("not_found", `there is no ${what} ${text}`);
}

/** The error for a thing that does not exist, with the nearest name as a hint. */
export function notFound(what: string, name: string, known: readonly string[]): SimError {
  const hint = meantOf(name, known, (it) => it);
  return new SimError("not_found", `there is no ${what} "${name}"`, hint === undefined ? {} : { hint });
}
