import type { Call } from "../../http/call.ts";
import { defaultBodyLimit } from "../../http/endpoint.ts";
import { SimError } from "../../kernel/errors.ts";
import { gunzipWithin, isGzip } from "../../kernel/inflate.ts";
import { isObject, isTooDeep, type Json, type JsonObject, own } from "../../kernel/json.ts";
import type { DecodeStep } from "../../model/traffic.ts";

/** A body that turned out to be JSON. */
export interface JsonBody {
  json: Json;
  /** The JSON text on one line, for the journal. */
  text: string;
  steps: DecodeStep[];
}

const inflate = (bytes: Buffer): Buffer =>
  gunzipWithin(bytes, defaultBodyLimit, (isTooLarge, cause) =>
    isTooLarge
      ? new SimError("payload_too_large", "The decompressed body is larger than 20 MB.", { cause })
      : new SimError("parse_error", "The body is not valid gzip.", { cause }),
  );

function parse(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isTooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * The body as JSON, or undefined when it is something else (protobuf, text, nothing). Gzip is recognised
 * by its first bytes: SDKs send it with and without a Content-Encoding header.
 * @throws SimError payload_too_large, parse_error when the gzip is damaged
 */
export function jsonBodyOf(call: Call): JsonBody | undefined {
  const packed = isGzip(call.body);
  const text = (packed ? inflate(call.body) : call.body).toString("utf8");
  const json = parse(text);
  if (json === undefined) return undefined;
  const line = /[\r\n]/.test(text) ? JSON.stringify(json) : text;
  return { json, text: line, steps: packed ? ["gzip"] : [] };
}

/**
 * The body as a JSON object.
 * @throws SimError parse_error when it is anything else, payload_too_large
 */
export function objectBodyOf(call: Call): JsonBody & { json: JsonObject } {
  const body = jsonBodyOf(call);
  if (!body || !isObject(body.json)) throw new SimError("parse_error", "The body has to be a JSON object.");
  return { ...body, json: body.json };
}

/** A field's text, or undefined when it is absent, empty or not a string. */
export function textField(object: JsonObject, key: string): string | undefined {
  const value = own(object, key);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * A field's text.
 * @throws SimError required
 */
export function requiredText(object: JsonObject, key: string): string {
  const value = textField(object, key);
  if (value === undefined) throw new SimError("required", "This field is required.", { attr: key });
  return value;
}
