import { isUtf8 } from "node:buffer";
import { SimError } from "../../../kernel/base/errors.ts";
import type { Json, JsonObject } from "../../../kernel/base/json.ts";
import type { Work } from "../../../kernel/base/work.ts";

// OTLP has ten messages that matter here, and each becomes the object that OTLP's JSON has for it. A table of their
// fields and a reader of the wire format are less than the generated classes of a library, whose only use would be to
// be copied into such objects.

type Scalar = "string" | "bool" | "int64" | "double" | "fixed64" | "enum" | "hex" | "base64";

interface Field {
  readonly name: string;
  readonly is: Scalar | keyof typeof messages;
  readonly isList?: true;
}

const one = (name: string, is: Field["is"]): Field => ({ name, is });
const list = (name: string, is: Field["is"]): Field => ({ name, is, isList: true });

/** Messages of opentelemetry/proto by their field numbers; other fields are skipped. */
const messages: Readonly<Record<string, Readonly<Record<number, Field>>>> = {
  Request: { 1: list("resourceSpans", "ResourceSpans") },
  ResourceSpans: { 1: one("resource", "Resource"), 2: list("scopeSpans", "ScopeSpans") },
  Resource: { 1: list("attributes", "KeyValue") },
  ScopeSpans: { 1: one("scope", "Scope"), 2: list("spans", "Span") },
  Scope: { 1: one("name", "string"), 2: one("version", "string") },
  Span: {
    1: one("traceId", "hex"),
    2: one("spanId", "hex"),
    4: one("parentSpanId", "hex"),
    5: one("name", "string"),
    6: one("kind", "enum"),
    7: one("startTimeUnixNano", "fixed64"),
    8: one("endTimeUnixNano", "fixed64"),
    9: list("attributes", "KeyValue"),
    11: list("events", "Event"),
    15: one("status", "Status"),
  },
  Event: { 1: one("timeUnixNano", "fixed64"), 2: one("name", "string"), 3: list("attributes", "KeyValue") },
  Status: { 2: one("message", "string"), 3: one("code", "enum") },
  KeyValue: { 1: one("key", "string"), 2: one("value", "AnyValue") },
  AnyValue: {
    1: one("stringValue", "string"),
    2: one("boolValue", "bool"),
    3: one("intValue", "int64"),
    4: one("doubleValue", "double"),
    5: one("arrayValue", "ArrayValue"),
    6: one("kvlistValue", "KeyValueList"),
    7: one("bytesValue", "base64"),
  },
  ArrayValue: { 1: list("values", "AnyValue") },
  KeyValueList: { 1: list("values", "KeyValue") },
};

const damaged = (why: string): SimError =>
  new SimError(
    "unparsable_payload",
    `failed to parse request: Invalid protobuf: failed to decode Protobuf message: ${why}`,
  );

/** The decoder of the service stops at this depth, too. */
const mostNested = 100;

/** Messages in a request. Empty ones have two bytes, so that 4 MiB would become 2 million objects. */
const mostMessages = 500_000;

interface Reader {
  readonly bytes: Buffer;
  at: number;
  messages: number;
}

function byteOf(reader: Reader, end: number): number {
  if (reader.at >= end) throw damaged("buffer underflow");
  return reader.bytes[reader.at++] ?? 0;
}

/** Seven groups of seven bits are exact as a number; longer ones are read as 64 bits. */
function varint(reader: Reader, end: number): number {
  let value = 0;
  for (let i = 0, factor = 1; i < 7; i++, factor *= 128) {
    const byte = byteOf(reader, end);
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return value;
  }
  let long = BigInt(value);
  for (let shift = 49n; shift < 70n; shift += 7n) {
    const byte = byteOf(reader, end);
    long |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return Number(BigInt.asIntN(64, long));
  }
  throw damaged("invalid varint");
}

function taken(reader: Reader, size: number, end: number): Buffer {
  const from = reader.at;
  if (size < 0 || from + size > end) throw damaged("buffer underflow");
  reader.at = from + size;
  return reader.bytes.subarray(from, reader.at);
}

const wireTypes = { varint: 0, eight: 1, sized: 2, four: 5 } as const;

function skip(reader: Reader, wire: number, end: number): void {
  if (wire === wireTypes.varint) varint(reader, end);
  else if (wire === wireTypes.eight) taken(reader, 8, end);
  else if (wire === wireTypes.sized) taken(reader, varint(reader, end), end);
  else if (wire === wireTypes.four) taken(reader, 4, end);
  else throw damaged(`invalid wire type value: ${wire}`);
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw damaged("invalid string value: data is not UTF-8 encoded");
  return bytes.toString("utf8");
}

const scalars: Readonly<Record<Scalar, { wire: number; read(reader: Reader, end: number): Json }>> = {
  string: { wire: 2, read: (reader, end) => textOf(taken(reader, varint(reader, end), end)) },
  hex: { wire: 2, read: (reader, end) => taken(reader, varint(reader, end), end).toString("hex") },
  base64: { wire: 2, read: (reader, end) => taken(reader, varint(reader, end), end).toString("base64") },
  bool: { wire: 0, read: (reader, end) => varint(reader, end) !== 0 },
  enum: { wire: 0, read: varint },
  int64: { wire: 0, read: varint },
  fixed64: { wire: 1, read: (reader, end) => taken(reader, 8, end).readBigUInt64LE().toString() },
  // JSON has no NaN and no Infinity; the service keeps null
  double: {
    wire: 1,
    read(reader, end) {
      const value = taken(reader, 8, end).readDoubleLE();
      return Number.isFinite(value) ? value : null;
    },
  },
};

const isScalar = (is: Field["is"]): is is Scalar => Object.hasOwn(scalars, is);

function* fieldValue(reader: Reader, field: Field, wire: number, end: number, depth: number): Work<Json> {
  const scalar = isScalar(field.is) ? scalars[field.is] : undefined;
  const expected = scalar?.wire ?? wireTypes.sized;
  if (wire !== expected) throw damaged(`invalid wire type: ${wire} (expected ${expected}) for ${field.name}`);
  if (scalar) return scalar.read(reader, end);
  const size = varint(reader, end);
  if (size < 0 || reader.at + size > end) throw damaged("buffer underflow");
  return yield* message(reader, String(field.is), reader.at + size, depth + 1);
}

function* message(reader: Reader, name: string, end: number, depth: number): Work<JsonObject> {
  if (depth > mostNested) throw damaged("recursion limit reached");
  if (++reader.messages > mostMessages) throw damaged(`more than ${mostMessages} messages`);
  if (name === "Span") yield;
  const fields = messages[name] ?? {};
  const found: JsonObject = {};
  while (reader.at < end) {
    const tag = varint(reader, end);
    const wire = tag % 8;
    const number = Math.floor(tag / 8);
    if (number <= 0) throw damaged("invalid tag value: 0");
    const field = fields[number];
    if (!field) {
      skip(reader, wire, end);
      continue;
    }
    const value = yield* fieldValue(reader, field, wire, end, depth);
    const before = found[field.name];
    if (!field.isList) found[field.name] = value;
    else if (Array.isArray(before)) before.push(value);
    else found[field.name] = [value];
  }
  return found;
}

/** An ExportTraceServiceRequest as the object that OTLP's JSON has for it. @throws SimError unparsable_payload */
export const readProtobuf = (bytes: Buffer): Work<JsonObject> =>
  message({ bytes, at: 0, messages: 0 }, "Request", bytes.length, 0);
