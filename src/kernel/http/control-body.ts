import { SimError } from "../base/errors.ts";
import { isObject, isTooDeep, type Json, type JsonObject } from "../base/json.ts";
import { parseBounded } from "../base/json-bounds.ts";
import { meantOf } from "../base/nearest.ts";
import type { Call } from "./call.ts";

export const invalid = (detail: string, pointer: string, hint?: string): SimError =>
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
    value = parseBounded(text);
  } catch (cause) {
    throw new SimError("parse_error", `the body is not JSON: ${(cause as Error).message}`, { cause });
  }
  if (isTooDeep(value)) throw new SimError("parse_error", "the body is nested too deeply");
  return value;
}

/** A number that counts from 1 in the path. @throws SimError not_found when it is none */
export function pathNumber(call: Call, name: string, what: string): number {
  const text = call.params[name] ?? "";
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new SimError("not_found", `there is no ${what} ${text}`);
}

export function notFound(what: string, name: string, known: readonly string[]): SimError {
  const hint = meantOf(name, known, (it) => it);
  return new SimError("not_found", `there is no ${what} "${name}"`, hint === undefined ? {} : { hint });
}
