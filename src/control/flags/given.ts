import type { Call } from "../../http/call.ts";
import { SimError } from "../../kernel/errors.ts";
import { isObject, type Json, type JsonObject, own } from "../../kernel/json.ts";
import { allowKeys, bodyOf, queryNumber, queryObject, wholeNumber } from "../body.ts";

interface Range {
  readonly min: number;
  readonly max: number;
}

/** Reads what was given, by name: from a JSON body or from the query. Each throws SimError invalid_input. */
export interface Given {
  text(name: string): string | undefined;
  object(name: string): JsonObject | undefined;
  number(name: string, range: Range): number | undefined;
  /** How complaints point at it. */
  pointer(name: string): string;
}

const kindError = (name: string, kind: string, pointer: string): SimError =>
  new SimError("invalid_input", `"${name}" must be ${kind}`, { pointer });

/** In the query objects are JSON; what is empty is absent. */
export const givenInQuery = (call: Call): Given => ({
  text: (name) => call.query.get(name) || undefined,
  object: (name) => queryObject(call, name),
  number: (name, range) => queryNumber(call, name, range),
  pointer: (name) => `?${name}`,
});

/** In a body null is absent. */
export function givenInBody(body: JsonObject): Given {
  const pointer = (name: string) => `/${name}`;
  function read<T extends Json>(name: string, kind: string, is: (value: Json) => value is T): T | undefined {
    const value = own(body, name);
    if (value === undefined || value === null) return undefined;
    if (is(value)) return value;
    throw kindError(name, kind, pointer(name));
  }
  return {
    text: (name) => read(name, "text", (value): value is string => typeof value === "string"),
    object: (name) => read(name, "an object", isObject),
    number: (name, range) =>
      (own(body, name) ?? undefined) === undefined ? undefined : wholeNumber(body, name, 0, range),
    pointer,
  };
}

/** A GET gives it in the query, a POST in its body, in which other names are mistakes. */
export function givenIn(call: Call, names: readonly string[]): Given {
  if (call.method !== "POST") return givenInQuery(call);
  const body = bodyOf(call);
  allowKeys(body, names);
  return givenInBody(body);
}

/** It has to be there, and not empty. @throws SimError required */
export function required(given: Given, name: string): string {
  const text = given.text(name);
  if (text) return text;
  throw new SimError("required", `"${name}" is needed`, { pointer: given.pointer(name) });
}

/** An object whose values are all of a kind. @throws SimError invalid_input */
export function objectOf(
  given: Given,
  name: string,
  kind: string,
  is: (value: Json) => boolean,
): JsonObject | undefined {
  const object = given.object(name);
  if (object && !Object.values(object).every(is)) {
    throw kindError(name, `an object whose values are ${kind}`, given.pointer(name));
  }
  return object;
}
