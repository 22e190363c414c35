import type { z } from "zod";
import { SimError } from "../../kernel/base/errors.ts";
import { isObject, isTooDeep, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { parseBounded, TooManyNodes } from "../../kernel/base/json-bounds.ts";
import { syntaxErrorAt } from "../../kernel/base/json-syntax.ts";
import { safeParse } from "../../kernel/base/safe-parse.ts";
import { mediaType } from "../../kernel/codec/media-type.ts";
import { boundaryOf, readParts } from "../../kernel/codec/multipart.ts";
import type { Call } from "../../kernel/http/call.ts";
import { firstInvalid, isTrue, typeName } from "./fields.ts";

const expectations: Record<NonNullable<ReturnType<typeof syntaxErrorAt>>["expected"], string> = {
  value: "Expecting value",
  valueOrEnd: "Expecting value",
  key: "Expecting property name enclosed in double quotes",
  keyOrEnd: "Expecting property name enclosed in double quotes",
  colon: "Expecting ':' delimiter",
  next: "Expecting ',' delimiter",
  end: "Extra data",
};

function parseFailure(text: string): SimError {
  const { expected, line, column, offset } = syntaxErrorAt(text) ?? {
    expected: "value" as const,
    line: 1,
    column: 1,
    offset: 0,
  };
  const place = `line ${line} column ${column} (char ${offset})`;
  return new SimError("parse_error", `JSON parse error - ${expectations[expected]}: ${place}`);
}

function parseJson(call: Call): Json {
  const text = call.body.toString("utf8");
  let value: Json;
  try {
    value = parseBounded(text);
  } catch (error) {
    if (error instanceof TooManyNodes) throw new SimError("parse_error", `JSON parse error - ${error.message}`);
    throw parseFailure(text);
  }
  if (isTooDeep(value)) throw new SimError("parse_error", "JSON parse error - nested too deeply");
  return value;
}

const parseForm = (call: Call): JsonObject => Object.fromEntries(new URLSearchParams(call.body.toString("utf8")));

/** Text fields of a form; files have no place in the management API. */
function parseMultipart(call: Call): JsonObject {
  try {
    const parts = readParts(call.body, boundaryOf(call.headers["content-type"] ?? ""));
    return Object.fromEntries(parts.map(({ name, content }) => [name, content.toString("utf8")]));
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new SimError("parse_error", `Multipart form parse error - ${detail}`, { cause });
  }
}

/** How each kind of body is read. Upstream Django REST framework's default parsers. */
const parsers: Readonly<Record<string, (call: Call) => Json>> = {
  "application/json": parseJson,
  "application/x-www-form-urlencoded": parseForm,
  "multipart/form-data": parseMultipart,
};

export const bodyTypes = Object.keys(parsers);

const parsed = new WeakMap<Call, Json>();

function bodyOf(call: Call): Json {
  if (call.body.length === 0) return {};
  const known = parsed.get(call);
  if (known !== undefined) return known;
  const parse = Object.hasOwn(parsers, mediaType(call.headers["content-type"]))
    ? parsers[mediaType(call.headers["content-type"])]
    : undefined;
  if (!parse) {
    const type = call.headers["content-type"] ?? "";
    throw new SimError("unsupported_media_type", `Unsupported media type "${type}" in request.`);
  }
  const value = parse(call);
  parsed.set(call, value);
  return value;
}

/** The body's fields as sent, unchecked; none when it is not an object. */
export function fieldsOf(call: Call): JsonObject {
  const value = bodyOf(call);
  return isObject(value) ? value : {};
}

/** The same; none when the body cannot be read, which the row did not need to. */
export function sentFields(call: Call): JsonObject {
  try {
    return fieldsOf(call);
  } catch {
    return {};
  }
}

/** True if the body restores a deleted document: only then deleted ones are found. */
export function isRestoring(call: Call): boolean {
  const { deleted = null } = fieldsOf(call);
  return deleted !== null && !isTrue(deleted);
}

/** The body as its shape reads it, without unknown keys. @throws SimError for the first field that is wrong */
export function readBody<Body>(call: Call, schema: z.ZodType<Body>): Body {
  const value = bodyOf(call);
  if (!isObject(value)) {
    throw new SimError("invalid_input", `Invalid data. Expected a dictionary, but got ${typeName(value)}.`);
  }
  const result = safeParse(schema, value, { reportInput: true });
  if (!result.success) throw firstInvalid(result.error);
  return result.data;
}

/** The fields that a body has, of those named: spread over a document they change only what was sent. */
export function given<T extends object, K extends keyof T & string>(
  fields: T,
  names: readonly K[],
): { [N in K]?: Exclude<T[N], undefined> } {
  const entries = names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]] as const]));
  return Object.fromEntries(entries) as { [N in K]?: Exclude<T[N], undefined> };
}
