import type { Json, JsonObject } from "../../../kernel/base/json.ts";
import { plainBytes } from "../format/bodies.ts";
import { type Exchange, type HeaderPairs, headerOf, type TapeBody, type WireForm } from "../format/exchange.ts";
import { readHeader, type TapeHeader } from "../format/header.ts";
import { type Placed, type ReadOptions, readPlaced } from "../format/read.ts";
import { lineOf } from "../format/tape-file.ts";
import { createRedactor } from "../redact/redactor.ts";
import { scanExchange } from "../redact/scan.ts";
import { creator, nameValue, notKnown, queryOf } from "./entry.ts";
import { HarError } from "./import.ts";

export interface ExportOptions extends Pick<ReadOptions, "onProblem"> {
  /** Also where something still looks like a secret after it was redacted again. */
  unsafe?: boolean;
  /** Bytes of the tape that were read so far, of its current file. */
  onProgress?: (bytes: number) => void;
}

/** Keys that must not get out, whatever else was found: a second look at what is about to be written. */
const knownKeys = /\bph[abd-z]_[A-Za-z0-9]{20,}|\bBearer\s+(?!\{\{)[\w.~+/=-]{16,}/;

function suspicionIn(exchange: Exchange, entry: string): string | undefined {
  const [found] = scanExchange(exchange);
  if (found) return `${found.path} has what looks like a secret (${found.kind}: ${found.detail})`;
  return knownKeys.test(entry) ? "it has what looks like a key" : undefined;
}

const start = (header: TapeHeader): string => {
  const comment = `tape ${header.id}, recorded ${header.created} by ${header.creator}; secrets are placeholders`;
  return `{"log":{"version":"1.2","creator":${lineOf(creator)},"comment":${lineOf(comment)},"pages":[],"entries":[`;
};

const end = "\n]}}\n";

function createExporter(header: TapeHeader, { unsafe = false }: ExportOptions) {
  const redactor = createRedactor({ profile: header.redaction === "pii" ? "pii" : "default" });
  /** @throws HarError when something that looks like a secret is left */
  return ({ exchange, place }: Placed): string => {
    redactor.reserve(JSON.stringify(exchange));
    const safe = redactor.redact(exchange);
    const entry = lineOf(writeEntry(safe));
    const suspicion = unsafe ? undefined : suspicionIn(safe, entry);
    if (suspicion === undefined) return entry;
    throw new HarError(
      `not exported: exchange ${exchange.i} (line ${place.line}): ${suspicion}; delete that line of the tape, or export with --unsafe`,
    );
  };
}

/**
 * A tape as HAR 1.2, in chunks of text that must all be written: decoded, redacted once more. Chrome's DevTools open
 * it, and Playwright's `routeFromHAR` answers from it.
 * @throws HarError when something that looks like a secret is left, unless `unsafe`
 * @throws TapeError when the file cannot be read, is no tape, or of a newer format
 */
export async function* exportHar(tape: string, options: ExportOptions = {}): AsyncGenerator<string> {
  const header = await readHeader(tape);
  const textOf = createExporter(header, options);
  const beginning = start(header);
  if (!options.unsafe && knownKeys.test(beginning)) {
    throw new HarError("not exported: the tape's header has what looks like a key; --unsafe exports it anyway");
  }
  let separator = "\n";
  yield beginning;
  for await (const placed of readPlaced(tape, { ...options, bodies: "whole" })) {
    yield `${separator}${textOf(placed)}`;
    separator = ",\n";
    options.onProgress?.(placed.place.offset + placed.place.length);
  }
  yield end;
}

interface Message {
  http: string;
  headers: HeaderPairs;
  wire: WireForm;
  body?: TapeBody;
}

const versionText = (http: string): string => (http === "" ? "HTTP/1.1" : `HTTP/${http}`);

/** Bodies are written decoded: headers about their packing, or their packed length, no longer hold. */
const untrue = /^(?:content-encoding|transfer-encoding|content-length)$/i;

const hasText = (body: TapeBody | undefined): body is { json: Json } | { text: string } =>
  body !== undefined && ("json" in body || "text" in body);

const wasUnpacked = ({ body, wire }: Message): boolean => body !== undefined && wire.trouble === undefined;

const headersOf = (message: Message): JsonObject[] =>
  message.headers.filter(([name]) => !(wasUnpacked(message) && untrue.test(name))).map(nameValue);

/** What a request carried; the format has no place for bytes, so they go where HTTP Toolkit puts them. */
function sentBody({ headers, body, wire }: Message): JsonObject {
  if (body === undefined) return {};
  const mimeType = headerOf(headers, "content-type") ?? "";
  if (hasText(body)) {
    const text = plainBytes(body).toString("utf8");
    const postData = { mimeType, text };
    if (wire.encodings.length === 0) return { postData };
    return { postData: { ...postData, comment: `decoded: ${wire.encodings.join(", ")}` } };
  }
  if ("b64" in body) {
    const { length } = plainBytes(body);
    return {
      _requestBodyStatus: "discarded:not-representable",
      _content: { text: body.b64, size: length, encoding: "base64" },
    };
  }
  const why = "omitted" in body && body.omitted !== "too_large" ? `not-kept:${body.omitted}` : "too-large";
  return { _requestBodyStatus: `discarded:${why}` };
}

const mimeOf = (headers: HeaderPairs, body: TapeBody | undefined): string =>
  headerOf(headers, "content-type") ?? (body && "json" in body ? "application/json" : "x-unknown");

function contentOf({ headers, body }: Message): JsonObject {
  const mimeType = mimeOf(headers, body);
  if (body === undefined) return { size: 0, mimeType };
  if (hasText(body)) {
    const text = plainBytes(body).toString("utf8");
    return { size: Buffer.byteLength(text), mimeType, text };
  }
  if ("b64" in body) return { size: plainBytes(body).length, mimeType, text: body.b64, encoding: "base64" };
  const why = "omitted" in body ? body.omitted : "too_large";
  return { size: body.bytes, mimeType, comment: `not kept: ${why}` };
}

const requestOf = ({ req }: Exchange): JsonObject => ({
  method: req.method,
  url: req.url,
  httpVersion: versionText(req.http),
  cookies: [],
  headers: headersOf(req),
  queryString: queryOf(req.url),
  headersSize: notKnown,
  bodySize: req.wire.bytes,
  ...sentBody(req),
});

const endings: Readonly<Record<string, string>> = { client: "net::ERR_ABORTED", upstream: "net::ERR_CONNECTION_RESET" };

const noAnswer = (aborted: string | undefined): JsonObject => ({
  status: 0,
  statusText: "",
  httpVersion: "",
  cookies: [],
  headers: [],
  content: { size: 0, mimeType: "x-unknown" },
  redirectURL: "",
  headersSize: notKnown,
  bodySize: notKnown,
  _error: endings[aborted ?? ""] ?? "net::ERR_FAILED",
});

function responseOf({ res, aborted }: Exchange): JsonObject {
  if (!res) return noAnswer(aborted);
  return {
    status: res.status,
    statusText: res.reason,
    httpVersion: versionText(res.http),
    cookies: [],
    headers: headersOf(res),
    content: contentOf(res),
    redirectURL: headerOf(res.headers, "location") ?? "",
    headersSize: notKnown,
    bodySize: res.wire.bytes,
    ...(aborted && { _error: "net::ERR_CONTENT_LENGTH_MISMATCH" }),
  };
}

/** What only we know of an exchange; names of one's own begin with `_`. */
const ours = (it: Exchange): JsonObject => ({
  i: it.i,
  route: it.route,
  complete: it.complete,
  redacted: [...it.redacted],
  request_encodings: [...it.req.wire.encodings],
  answer_encodings: [...(it.res?.wire.encodings ?? [])],
});

/** An exchange as an entry of a HAR 1.2, bodies decoded; one in a side file must have been read into it before. */
export function writeEntry(exchange: Exchange): JsonObject {
  const wait = Math.max(0, exchange.res?.ttfb ?? 0);
  const total = Math.max(wait, exchange.res?.total ?? 0);
  return {
    startedDateTime: exchange.at,
    time: total,
    request: requestOf(exchange),
    response: responseOf(exchange),
    cache: {},
    timings: {
      blocked: notKnown,
      dns: notKnown,
      connect: notKnown,
      ssl: notKnown,
      send: 0,
      wait,
      receive: total - wait,
    },
    _phx_sim: ours(exchange),
  };
}
