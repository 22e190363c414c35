import { isUtf8 } from "node:buffer";
import { SimError } from "../../../kernel/base/errors.ts";
import {
  firstOf,
  isObject,
  isTooDeep,
  type Json,
  type JsonObject,
  own,
  textOrNumber,
} from "../../../kernel/base/json.ts";
import { parseBounded, TooManyNodes } from "../../../kernel/base/json-bounds.ts";
import { maskKeys } from "../../../kernel/base/secrets.ts";
import { gunzipWithin, isGzip } from "../../../kernel/codec/inflate.ts";
import { mediaType } from "../../../kernel/codec/media-type.ts";
import type { Call } from "../../../kernel/http/call.ts";
import { forwardedAddress } from "../../../kernel/http/client-address.ts";
import { defaultBodyLimit } from "../../../kernel/http/endpoint.ts";
import type { DecodeStep } from "../../../state/journal/request-shapes.ts";
import { withExactIds } from "../../capture/exact-ids.ts";

export interface FlagsBody {
  readonly json: JsonObject;
  readonly text: string;
  /** The same text as UTF-8, if it arrived like that and has no keys that must not be kept. */
  readonly bytes: Buffer | undefined;
  readonly steps: DecodeStep[];
}

const undecodable = (why: string, cause?: unknown): SimError =>
  new SimError("undecodable_payload", `Failed to decode request: ${why}.`, { cause });

const brokenJson = (): SimError =>
  new SimError(
    "unparsable_payload",
    "Failed to decode request: invalid JSON. Please check your request format and try again.",
  );

/** Values of `?compression=`, and whether they require gzip. */
const compressions: ReadonlyMap<string, { gzip: boolean }> = new Map([
  ["gzip", { gzip: true }],
  ["gzip-js", { gzip: true }],
  ["base64", { gzip: false }],
]);

const form = "application/x-www-form-urlencoded";
const contentTypes: ReadonlySet<string> = new Set(["", "application/json", "text/plain", form]);

function contentTypeOf(call: Call): string {
  const type = mediaType(call.headers["content-type"]);
  if (!contentTypes.has(type)) throw undecodable(`unsupported content type: ${type}`);
  return type;
}

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
    isTooLarge ? new SimError("payload_too_large", tooLarge, { cause }) : undecodable("invalid gzip data", cause),
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
    return { json: parseBounded(withExactIds(text) ?? text), text: onOneLine(text) };
  } catch (error) {
    if (error instanceof TooManyNodes) throw new SimError("payload_too_large", `Request has ${error.message}`);
    return undefined;
  }
}

function parseTolerantly(text: string): { json: Json; text: string } | undefined {
  try {
    const json = parseBounded(text.replace(tokens, strict));
    return { json, text: JSON.stringify(json) };
  } catch {
    return undefined;
  }
}

/** The journal keeps one request a line. */
const onOneLine = (text: string): string =>
  text.includes("\n") || text.includes("\r") ? JSON.stringify(JSON.parse(text)) : text;

/** Repairs base64 whose pluses a form decoder replaced. */
const unpackBase64 = (text: string): string => Buffer.from(text.trim().replaceAll(" ", "+"), "base64").toString("utf8");

/** @param bytes What the text was decoded from, if they are UTF-8 */
function readText(text: string, steps: DecodeStep[], bytes: Buffer | undefined): FlagsBody {
  const plain = parse(text);
  const found = plain ?? parse(unpackBase64(text));
  if (!found || !isObject(found.json)) throw brokenJson();
  const isVerbatim = found.text === text && maskKeys(text) === text;
  return {
    json: found.json,
    text: found.text,
    bytes: isVerbatim ? bytes : undefined,
    steps: plain ? steps : [...steps, "base64"],
  };
}

function readForm(text: string, steps: DecodeStep[]): FlagsBody {
  const data = new URLSearchParams(text).get("data");
  if (data === null) throw undecodable("missing data field in the form");
  return readText(data, [...steps, "form"], undefined);
}

/**
 * Unpacks the body of a flags request: gzip (declared or recognised), a form's `data=`, JSON, base64 of JSON.
 * Upstream PostHog rust/feature-flags, flag_request and handler/decoding.
 * @throws SimError undecodable_payload, unparsable_payload, payload_too_large
 */
export function flagsBodyOf(call: Call): FlagsBody {
  const type = contentTypeOf(call);
  const packed = isPacked(call);
  const bytes = packed ? inflate(call.body) : call.body;
  const text = bytes.toString("utf8");
  const steps: DecodeStep[] = packed ? ["gzip"] : [];
  return type === form ? readForm(text, steps) : readText(text, steps, isUtf8(bytes) ? bytes : undefined);
}

export interface FlagsRequest {
  readonly token: string | undefined;
  /** undefined if it is missing or null; "" is a distinct id. */
  readonly distinctId: string | undefined;
  readonly anonymousId: string | undefined;
  readonly deviceId: string | undefined;
  readonly personProperties: JsonObject;
  /** Group type → key, as sent. */
  readonly groups: JsonObject;
  readonly groupProperties: JsonObject;
  /** Only these flags; undefined: all. */
  readonly flagKeys: ReadonlySet<string> | undefined;
  readonly runtime: "all" | "client" | "server" | undefined;
  /** Contexts of the client: flags with contexts need one of these. Empty: no filter. */
  readonly contexts: readonly string[];
  readonly isDisabled: boolean;
  readonly isGeoipDisabled: boolean;
}

const maxDistinctId = 200;

/** A string or a number; "" is the same as absent. */
const filled = (value: Json | undefined): string | undefined => textOrNumber(value) || undefined;

const none: JsonObject = Object.freeze({});

/** PHP sends `[]` for an empty map. */
const objectIn = (value: Json | undefined): JsonObject => (isObject(value) ? value : none);

function distinctIdIn(value: Json | undefined): string | undefined {
  const text = textOrNumber(value);
  if (text === undefined || text.length <= maxDistinctId) return text;
  return Array.from(text).slice(0, maxDistinctId).join("");
}

const textsIn = (value: Json | undefined): string[] | undefined =>
  Array.isArray(value) ? value.filter((it) => typeof it === "string") : undefined;

function keysIn(value: Json | undefined): ReadonlySet<string> | undefined {
  const keys = textsIn(value);
  return keys && new Set(keys);
}

/** In any case; an unknown word is the same as `all`. */
function runtimeIn(value: Json | undefined): FlagsRequest["runtime"] {
  if (typeof value !== "string") return undefined;
  const word = value.toLowerCase();
  return word === "client" || word === "server" ? word : "all";
}

type Fits = (value: Json) => boolean;
const isText: Fits = (value) => typeof value === "string";
const isTexts: Fits = (value) => Array.isArray(value) && value.every(isText);
const isBoolean: Fits = (value) => typeof value === "boolean";
const isObjects: Fits = (value) => isObject(value) && Object.values(value).every((it) => isObject(it));

/** The fields of a request, each with all its names, and which values but null it may have. */
const fields: readonly { readonly names: readonly string[]; readonly fits: Fits }[] = [
  { names: ["token", "$token", "api_key"], fits: isText },
  { names: ["distinct_id", "$distinct_id"], fits: (value) => textOrNumber(value) !== undefined },
  { names: ["$anon_distinct_id", "anon_distinct_id"], fits: isText },
  { names: ["$device_id", "device_id"], fits: isText },
  { names: ["ip_address"], fits: isText },
  { names: ["timezone"], fits: isText },
  { names: ["cookieless_hash_extra"], fits: isText },
  { names: ["evaluation_contexts", "evaluation_environments"], fits: isTexts },
  { names: ["evaluation_runtime"], fits: isText },
  { names: ["person_properties", "$properties"], fits: isObject },
  { names: ["groups", "$groups"], fits: isObject },
  { names: ["group_properties", "$group_properties"], fits: isObjects },
  { names: ["flag_keys_to_evaluate", "flag_keys"], fits: isTexts },
  { names: ["disable_flags"], fits: isBoolean },
  { names: ["geoip_disable"], fits: isBoolean },
];

/** serde takes a field of another type, or under two names, for broken JSON. @throws SimError unparsable_payload */
export function checkFields(body: JsonObject): void {
  for (const { names, fits } of fields) {
    const given = names.flatMap((name) => (Object.hasOwn(body, name) ? [body[name] ?? null] : []));
    if (given.length > 1 || given.some((value) => value !== null && !fits(value))) throw brokenJson();
  }
}

/** Reads a body's fields under all their names. Upstream PostHog rust/feature-flags, flag_request. */
export function flagsRequestOf(body: JsonObject): FlagsRequest {
  const personProperties = objectIn(firstOf(body, "person_properties", "$properties"));
  return {
    token: filled(firstOf(body, "token", "$token", "api_key")),
    distinctId: distinctIdIn(firstOf(body, "distinct_id", "$distinct_id")),
    anonymousId: filled(firstOf(body, "$anon_distinct_id", "anon_distinct_id")),
    deviceId: filled(firstOf(body, "$device_id", "device_id") ?? own(personProperties, "$device_id")),
    personProperties,
    groups: objectIn(firstOf(body, "groups", "$groups")),
    groupProperties: objectIn(firstOf(body, "group_properties", "$group_properties")),
    flagKeys: keysIn(firstOf(body, "flag_keys_to_evaluate", "flag_keys")),
    runtime: runtimeIn(own(body, "evaluation_runtime")),
    contexts: textsIn(firstOf(body, "evaluation_contexts", "evaluation_environments")) ?? [],
    isDisabled: own(body, "disable_flags") === true,
    isGeoipDisabled: own(body, "geoip_disable") === true,
  };
}

/** The contract's spelling comes before the usual one. */
const forwardedNames = ["http_x_forwarded_for", "x-forwarded-for"];

/**
 * The client's address: the first entry of `HTTP_X_FORWARDED_FOR`, else of `X-Forwarded-For`, else the peer;
 * an entry that is not an address is skipped. Upstream rust/feature-flags.
 */
export function addressOf(call: Call): string {
  for (const name of forwardedNames) {
    const address = forwardedAddress(call.headers[name]?.split(",", 1)[0] ?? "");
    if (address !== undefined) return address;
  }
  return call.peer;
}

const serverAgents = /^(?:posthog-(?:python|ruby|php|java|go|node|dotnet|elixir)\/|python-requests|curl\/)/i;
const clientAgents = /mozilla|chrome|safari|firefox|opera|^posthog-(?:js|ios|android|react-native|flutter)/i;
const browserHeaders = ["origin", "referer", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-dest"] as const;

/**
 * Where the client runs: from the request, else its User-Agent, else the headers that only browsers send; undefined if
 * it is not known. Upstream PostHog rust/feature-flags, handler/evaluation runtime.
 */
export function runtimeOf(call: Call, request: FlagsRequest): FlagsRequest["runtime"] {
  if (request.runtime) return request.runtime;
  const agent = call.headers["user-agent"] ?? "";
  if (serverAgents.test(agent)) return "server";
  if (clientAgents.test(agent)) return "client";
  return browserHeaders.some((name) => call.headers[name] !== undefined) ? "client" : undefined;
}
