import { SimError } from "../../kernel/base/errors.ts";
import { bytesPerStep, type Work } from "../../kernel/base/work.ts";
import { fromBase64, isBase64, isLooseBase64 } from "../../kernel/codec/base64.ts";
import { formType, looksLikeForm, readForm } from "../../kernel/codec/form.ts";
import { gunzip, inflated, isGzip, tooLarge, undecodable } from "../../kernel/codec/inflate.ts";
import { unpackLz64 } from "../../kernel/codec/lz64.ts";
import type { DecodeStep } from "../../state/journal/request-shapes.ts";
import type { JsonText } from "../../state/journal/traffic.ts";
import { parseJson, utf8Text } from "./json-text.ts";
import type { Packet } from "./packet.ts";

/** Compressions by the names that clients use for them; any other name is ignored, as upstream. */
const compressions: Readonly<Record<string, Compression>> = {
  gzip: "gzip",
  "gzip-js": "gzip",
  lz64: "lz64",
  "lz-string": "lz64",
  base64: "base64",
  b64: "base64",
};
type Compression = "gzip" | "lz64" | "base64";

const compressionOf = (name: string | null | undefined): Compression | undefined => {
  const key = name?.toLowerCase() ?? "";
  return Object.hasOwn(compressions, key) ? compressions[key] : undefined;
};

interface Wrapped {
  bytes: Buffer;
  /** Announced compression that is not undone yet: of the query, else the form, else Content-Encoding. */
  hint: Compression | undefined;
  /** True if the query announces it: the form's is then ignored. */
  readonly queryHint: boolean;
  form: boolean;
  readonly limit: number;
  /** True if the work may wait for a thread of the system. */
  readonly mayWait: boolean;
}

interface Layer {
  step: DecodeStep;
  found(body: Wrapped): boolean;
  undo(body: Wrapped): Work<void> | void;
}

const brace = 0x7b;
const bracket = 0x5b;
const startsLikeJson = (bytes: Buffer): boolean => bytes[0] === brace || bytes[0] === bracket;

/** Base64 whose pluses were read as blanks. */
const withPluses = (bytes: Buffer): Buffer => Buffer.from(bytes.toString("latin1").replaceAll(" ", "+"));

function undoForm(body: Wrapped): void {
  const { data, compression } = readForm(utf8Text(body.bytes));
  if (data === undefined) throw undecodable("expected form data in POST request payload");
  body.form = false;
  if (!body.queryHint) body.hint = compressionOf(compression) ?? body.hint;
  body.bytes = isLooseBase64(data) ? withPluses(data) : data;
}

function* undoGzip(body: Wrapped): Work<void> {
  const { bytes, limit, mayWait } = body;
  body.bytes = mayWait ? yield* inflated("gzip", bytes, limit) : gunzip(bytes, limit);
  if (body.hint === "gzip") body.hint = undefined;
}

function undoBase64(body: Wrapped): void {
  body.bytes = fromBase64(body.bytes);
  if (body.hint === "base64") body.hint = undefined;
}

function* undoLz64(body: Wrapped): Work<void> {
  body.bytes = yield* unpackLz64(body.bytes, body.limit);
  body.hint = undefined;
}

/** In this order. Bytes before headers: posthog-js sends gzip as text/plain, base64 without `compression=`. */
const layers: readonly Layer[] = [
  { step: "gzip", found: (body) => isGzip(body.bytes), undo: undoGzip },
  { step: "form", found: (body) => looksLikeForm(body.bytes), undo: undoForm },
  { step: "lz64", found: (body) => body.hint === "lz64" && !body.form, undo: undoLz64 },
  { step: "base64", found: (body) => isBase64(body.bytes), undo: undoBase64 },
  { step: "form", found: (body) => body.form, undo: undoForm },
  { step: "base64", found: (body) => body.hint === "base64" && isLooseBase64(body.bytes), undo: undoBase64 },
  { step: "gzip", found: (body) => body.hint === "gzip", undo: undoGzip },
];

/** Nested encodings, such as base64 of base64, end here. */
const mostLayers = 6;

const isBare = (body: Wrapped): boolean =>
  startsLikeJson(body.bytes) && !body.form && body.hint !== "gzip" && body.hint !== "lz64";

function* unwrap(body: Wrapped, steps: DecodeStep[]): Work<void> {
  for (let round = 0; round < mostLayers && !isBare(body); round++) {
    const layer = layers.find((candidate) => candidate.found(body));
    if (!layer) return;
    // before the step: a journal line shows the step that failed
    steps.push(layer.step);
    const work = layer.undo(body);
    if (work) yield* work;
    if (body.bytes.length > bytesPerStep) yield;
  }
}

/** Plain JSON, as server SDKs without compression send. */
const isPlain = (packet: Packet): boolean =>
  startsLikeJson(packet.body) &&
  packet.headers["content-encoding"] === undefined &&
  packet.query.size === 0 &&
  packet.headers["content-type"] !== formType;

function wrapped(packet: Packet, limit: number, steps: DecodeStep[], mayWait: boolean): Wrapped {
  const { query, headers } = packet;
  const data = query.get("data");
  if (data) steps.push("query");
  const bytes = data ? Buffer.from(data) : packet.body;
  if (bytes.length === 0) throw new SimError("missing_payload", "request missing data payload");
  const queryHint = compressionOf(query.get("compression"));
  return {
    bytes: data && isLooseBase64(bytes) ? withPluses(bytes) : bytes,
    hint: queryHint ?? compressionOf(data ? undefined : headers["content-encoding"]),
    queryHint: queryHint !== undefined,
    form: !data && headers["content-type"] === formType,
    limit,
    mayWait,
  };
}

/**
 * Decodes a body like the legacy endpoints. `steps` receives the undone encodings, in order. The bytes have priority
 * over the headers, which upstream does not do. Upstream capture, payload/common.rs and payload/decompression.rs.
 * @throws SimError missing_payload, undecodable_payload, unparsable_payload, payload_too_large
 */
export function* decodeLegacy(packet: Packet, limit: number, steps: DecodeStep[], mayWait: boolean): Work<JsonText> {
  let { body } = packet;
  if (!isPlain(packet)) {
    const rest = wrapped(packet, limit, steps, mayWait);
    yield* unwrap(rest, steps);
    body = rest.bytes;
  }
  if (body.length > limit) throw tooLarge(limit);
  return yield* parseJson(body);
}
