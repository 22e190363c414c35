import { SimError } from "../../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject, objectIn, own } from "../../../kernel/base/json.ts";

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: none. */
  readonly parentId: string;
  readonly name: string;
  /** Nanoseconds since 1970, in digits. */
  readonly start: string;
  readonly end: string;
  readonly attributes: JsonObject;
  readonly resource: JsonObject;
  readonly scopeVersion: string;
  /** The message of an error status, perhaps empty; undefined: no error. */
  readonly error: string | undefined;
  /** Attributes of the last `exception` among its events. */
  readonly exception: JsonObject;
}

const unreadable = (why: string): SimError =>
  new SimError("unparsable_payload", `failed to parse request: Invalid OTLP trace format: ${why}`);

/** The objects of a list. @throws SimError unparsable_payload if it is none */
function objectsIn(parent: JsonObject, key: string): JsonObject[] {
  const value = own(parent, key);
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw unreadable(`\`${key}\` is not a list`);
  return value.map((it, i) => {
    if (isObject(it)) return it;
    throw unreadable(`\`${key}[${i}]\` is not an object`);
  });
}

function textIn(parent: JsonObject, key: string): string {
  const value = own(parent, key);
  if (typeof value === "string") return value;
  return typeof value === "number" ? String(value) : "";
}

/** 64-bit numbers are text in OTLP's JSON. */
const numberOf = (value: Json): Json => {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && !Number.isFinite(number) ? null : number;
};

const readers: Readonly<Record<string, (value: Json) => Json | undefined>> = {
  stringValue: (value) => value,
  boolValue: (value) => value,
  intValue: numberOf,
  doubleValue: numberOf,
  bytesValue: (value) => (typeof value === "string" ? Buffer.from(value, "base64").toString("hex") : undefined),
  arrayValue: (value) =>
    isObject(value) ? objectsIn(value, "values").flatMap((it) => plainValue(it) ?? []) : undefined,
  kvlistValue: (value) => (isObject(value) ? attributesOf(value, "values") : undefined),
};

function plainValue(any: JsonObject): Json | undefined {
  for (const [kind, read] of Object.entries(readers)) {
    const value = own(any, kind);
    if (value !== undefined && value !== null) return read(value);
  }
  return undefined;
}

/** A list of keys and values as an object. Without prototype games: `fromEntries` defines own properties. */
const attributesOf = (parent: JsonObject, key = "attributes"): JsonObject =>
  Object.fromEntries(
    objectsIn(parent, key).flatMap((it) => {
      const value = plainValue(objectIn(it, "value"));
      return value === undefined ? [] : [[textIn(it, "key"), value]];
    }),
  );

const isException = (event: JsonObject): boolean =>
  own(event, "name") === "exception" ||
  objectsIn(event, "attributes").some((it) => /^exception\.(?:message|type)$/.test(textIn(it, "key")));

/** 2 is ERROR; JSON may have the name. */
const isError = (code: Json | undefined): boolean => code === 2 || code === "STATUS_CODE_ERROR";

function spanOf(span: JsonObject, resource: JsonObject, scopeVersion: string): OtlpSpan {
  const status = objectIn(span, "status");
  const exception = objectsIn(span, "events").findLast(isException);
  return {
    traceId: textIn(span, "traceId").toLowerCase(),
    spanId: textIn(span, "spanId").toLowerCase(),
    parentId: textIn(span, "parentSpanId").toLowerCase(),
    name: textIn(span, "name"),
    start: textIn(span, "startTimeUnixNano"),
    end: textIn(span, "endTimeUnixNano"),
    attributes: attributesOf(span),
    resource,
    scopeVersion,
    error: isError(own(status, "code")) ? textIn(status, "message") : undefined,
    exception: exception ? attributesOf(exception) : {},
  };
}

/** The service's limit; it counts before it reads a span. */
const mostSpans = 1_000;

const tooMany = (what: string, count: number, limit: number): SimError =>
  new SimError("unparsable_payload", `failed to parse request: Too many ${what}: ${count} exceeds limit of ${limit}`, {
    hint: `export at most ${limit} at once (OTEL_BSP_MAX_EXPORT_BATCH_SIZE, maxExportBatchSize)`,
  });

/** Upstream capture, otel/mod.rs and otel/fan_out.rs. @throws SimError unparsable_payload */
export function spansOf(request: JsonObject): OtlpSpan[] {
  const parts = objectsIn(request, "resourceSpans").map((it) => ({
    resource: objectIn(it, "resource"),
    scopes: objectsIn(it, "scopeSpans").map((scope) => ({
      version: textIn(objectIn(scope, "scope"), "version"),
      spans: objectsIn(scope, "spans"),
    })),
  }));
  const count = parts.flatMap((it) => it.scopes).reduce((sum, { spans }) => sum + spans.length, 0);
  if (count > mostSpans) throw tooMany("spans", count, mostSpans);
  return parts.flatMap(({ resource, scopes }) => {
    const attributes = attributesOf(resource);
    return scopes.flatMap(({ version, spans }) => spans.map((it) => spanOf(it, attributes, version)));
  });
}

/** Events that the service makes of one request. */
const mostAiSpans = 100;

export function checkCount(aiSpans: number): void {
  if (aiSpans > mostAiSpans) throw tooMany("AI spans", aiSpans, mostAiSpans);
}
