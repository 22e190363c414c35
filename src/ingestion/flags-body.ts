import type { Call } from "../http/call.ts";
import { defaultBodyLimit } from "../http/endpoint.ts";
import { SimError } from "../kernel/errors.ts";
import { gunzipWithin, isGzip } from "../kernel/inflate.ts";
import { isObject, isTooDeep, type Json, type JsonObject } from "../kernel/json.ts";
import type { DecodeStep } from "../model/traffic.ts";

/** The body of a flags request: a JSON object, its text on one line, and how it was unpacked. */
export interface FlagsBody {
  readonly json: JsonObject;
  readonly text: string;
  readonly steps: DecodeStep[];
}

const undecodable = (why: string, cause?: unknown): SimError =>
  new SimError("undecodable_payload", `Failed to decode request: ${why}.`, { cause });

const brokenJson = (): SimError =>
  new SimError(
    "unparsable_payload",
    "Failed to decode request: invalid JSON. Please check your request format and try again.",
  );

/** What `?compression=` may say, and whether the bytes then have to be gzip. */
const compressions: ReadonlyMap<string, { gzip: boolean }> = new Map([
  ["gzip", { gzip: true }],
  ["gzip-js", { gzip: true }],
  ["base64", { gzip: false }],
]);

const form = "application/x-www-form-urlencoded";
const contentTypes: ReadonlySet<string> = new Set(["", "application/json", "text/plain", form]);

function contentTypeOf(call: Call): string {
  const type = (call.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!contentTypes.has(type)) throw undecodable(`unsupported content type: ${type}`);
  return type;
}

/** Is the body gzip, by its query, its headers or its first bytes? */
function isPacked(call: Call): boolean {
  const named = call.query.get("compression");
  const compression = named ? compressions.get(named) : undefined;
  if (named && !compression) throw undecodable(`unsupported compression type: ${named}`);
  const declared = compression?.gzip || call.headers["content-encoding"]?.toLowerCase().includes("gzip");
  return declared || isGzip(call.body);
}

const tooLarge = "Failed to decode request: the decompressed body is too large.";

const inflate = (bytes: Buffer): Buffer =>
  gunzipWithin(bytes, defaultBodyLimit, (isTooLarge, cause) =>
    isTooLarge
      ? new SimError("payload_too_large", tooLarge, { cause })
      : undecodable("invalid gzip data", cause),
  );

/**
 * Strings, which stay as they are, and what JSON5 has on top of JSON. What is left open runs to the end,
 * so that every start is read once, however hostile the text.
 */
const tokens =
  /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|[-+]?\b(?:NaN|Infinity)\b|,(?=\s*[}\]])|\/\/[^\n]*|\/\*.*?(?:\*\/|$)/gs;

function strict(token: string): string {
  if (token.startsWith('"')) return token;
  return /(?:NaN|Infinity)$/.test(token) && !token.startsWith("/") ? "null" : "";
}

/** The JSON of a text, and its text; NaN and Infinity are null, comments and trailing commas are skipped. */
function parse(text: string): { json: Json; text: string } | undefined {
  const parsed = parseStrictly(text) ?? parseTolerantly(text);
  return parsed && !isTooDeep(parsed.json) ? parsed : undefined;
}

function parseStrictly(text: string): { json: Json; text: string } | undefined {
  try {
    return { json: JSON.parse(text), text: onOneLine(text) };
  } catch {
    return undefined;
  }
}

function parseTolerantly(text: string): { json: Json; text: string } | undefined {
  try {
    const json = JSON.parse(text.replace(tokens, strict));
    return { json, text: JSON.stringify(json) };
  } catch {
    return undefined;
  }
}

/** The journal keeps one request a line. */
const onOneLine = (text: string): string =>
  text.includes("\n") || text.includes("\r") ? JSON.stringify(JSON.parse(text)) : text;

/** Base64 that lost its pluses to a form decoder is repaired. */
const unpackBase64 = (text: string): string =>
  Buffer.from(text.trim().replaceAll(" ", "+"), "base64").toString("utf8");

function readText(text: string, steps: DecodeStep[]): FlagsBody {
  const plain = parse(text);
  const found = plain ?? parse(unpackBase64(text));
  if (!found || !isObject(found.json)) throw brokenJson();
  return { json: found.json, text: found.text, steps: plain ? steps : [...steps, "base64"] };
}

function readForm(text: string, steps: DecodeStep[]): FlagsBody {
  const data = new URLSearchParams(text).get("data");
  if (data === null) throw undecodable("missing data field in the form");
  return readText(data, [...steps, "form"]);
}

/**
 * Unpacks the body of a flags request: gzip (declared or recognised), a form's `data=`, JSON, base64 of JSON.
 * Upstream PostHog rust/feature-flags, flag_request and handler/decoding.
 * @throws SimError undecodable_payload, unparsable_payload, payload_too_large
 */
export function flagsBodyOf(call: Call): FlagsBody {
  const type = contentTypeOf(call);
  const packed = isPacked(call);
  const text = (packed ? inflate(call.body) : call.body).toString("utf8");
  const steps: DecodeStep[] = packed ? ["gzip"] : [];
  return type === form ? readForm(text, steps) : readText(text, steps);
}
