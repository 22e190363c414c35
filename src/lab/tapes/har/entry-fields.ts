import { isObject, type Json, type JsonObject, objectIn, own } from "../../../kernel/base/json.ts";
import { isGzip } from "../../../kernel/codec/inflate.ts";
import { type HeaderPairs, headerOf } from "../format/exchange.ts";
import type { RawBody } from "../format/raw-exchange.ts";

export const textIn = (object: JsonObject, key: string): string | undefined => {
  const value = own(object, key);
  return typeof value === "string" ? value : undefined;
};

/** Also where it was written as text. */
export const numberIn = (object: JsonObject, key: string): number | undefined => {
  const value = own(object, key);
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
};

const scalarText = (value: Json | undefined): string =>
  typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? `${value}` : "";

function pairsIn(object: JsonObject, key: string): [name: string, value: string][] {
  const rows = own(object, key);
  if (!Array.isArray(rows)) return [];
  return rows.filter(isObject).flatMap((row): [string, string][] => {
    const name = textIn(row, "name");
    return name ? [[name, scalarText(own(row, "value"))]] : [];
  });
}

const versions: readonly (readonly [RegExp, string])[] = [
  [/^(?:http\/)?0\.9$/i, "0.9"],
  [/^(?:http\/)?1\.0$/i, "1.0"],
  [/^(?:h2|h2c|(?:http\/)?2(?:\.0)?)$/i, "2.0"],
  [/^(?:h3(?:-\w+)?|(?:http\/)?3(?:\.0)?|http\/2\+quic.*|quic)$/i, "3.0"],
];

/** `HTTP/1.1`, `h2`, `http/2.0`, `h3-29` as `1.1`, `2.0`, `3.0`; `1.1` for anything else. */
export const httpVersionOf = (text: string | undefined): string =>
  versions.find(([pattern]) => pattern.test(text ?? ""))?.[1] ?? "1.1";

const token = /^[!#$%&'*+.^`|~\w-]+$/;

/** What would end a line or a message, and what is beyond Latin-1; a tab may stay. */
const unfit = /[^\t\x20-\x7e\x80-\xff]/g;

/** Text as a header or a status line can carry it: what is beyond Latin-1 as its UTF-8 bytes, as Node has it. */
export const wireText = (text: string): string =>
  (/[^\0-\xff]/.test(text) ? Buffer.from(text).toString("latin1") : text).replace(unfit, "").trim();

/**
 * Without HTTP/2 pseudo-headers (`:path`); several of one name that a browser joined by line breaks are several again.
 */
export const headersIn = (message: JsonObject): [name: string, value: string][] =>
  pairsIn(message, "headers")
    .filter(([name]) => token.test(name))
    .flatMap(([name, value]) => value.split(/\r?\n/).map((line): [string, string] => [name, wireText(line)]));

/** From arrival to the answer's first byte and to its last, ms. */
interface Timing {
  ttfb: number;
  total: number;
  /** True if there were times below zero, except the -1 that means "does not apply". */
  isOdd: boolean;
}

const beforeAnswer = ["blocked", "dns", "connect", "send", "wait"];

/** Longer than any request takes; sums of absurd times stay numbers. */
const mostMs = 7 * 24 * 60 * 60 * 1000;
const capped = (ms: number): number => Math.min(ms, mostMs);

/** `ssl` is part of `connect`. */
export function timingOf(entry: JsonObject): Timing {
  const timings = objectIn(entry, "timings");
  const given = (key: string) => numberIn(timings, key) ?? 0;
  const isOdd = [...beforeAnswer, "receive"].some((key) => given(key) < 0 && given(key) !== -1);
  const ttfb = beforeAnswer.reduce((sum, key) => sum + Math.max(0, given(key)), 0);
  const sum = ttfb + Math.max(0, given("receive"));
  return { ttfb: capped(ttfb), total: capped(Math.max(sum, numberIn(entry, "time") ?? 0)), isOdd };
}

export interface FoundBody {
  body: RawBody;
  note?: NoteCode;
  /** The text is what was inside the encoding that the headers name. */
  isDecoded?: boolean;
}

const nothing = Buffer.alloc(0);
const base64 = /^[A-Za-z0-9+/_\-\s]*={0,2}\s*$/;

function fromBase64(text: string): FoundBody {
  if (!base64.test(text)) return { body: Buffer.from(text), note: "odd_base64", isDecoded: true };
  const bytes = Buffer.from(text, "base64");
  return { body: bytes, isDecoded: !isGzip(bytes) };
}

/** Lone surrogates that stand for single bytes: how Python (mitmproxy) writes what is no UTF-8. */
const escapedByte = /[\udc80-\udcff]/;
const fromEscaped = (text: string): Buffer =>
  Buffer.concat(
    text
      .split(/([\udc80-\udcff]+)/)
      .map((part) =>
        escapedByte.test(part[0] ?? "")
          ? Buffer.from(Array.from(part, (char) => char.charCodeAt(0) & 0xff))
          : Buffer.from(part),
      ),
  );

/** How gzip looks where bytes became text: rows of first characters, and how to have the bytes back. */
const gzipAsText: readonly (readonly [prefix: string, read: (text: string) => FoundBody])[] = [
  ["\u001f\u008b", (text) => ({ body: Buffer.from(text, "latin1") })],
  ["\u001f\udc8b", (text) => ({ body: fromEscaped(text) })],
  ["\u001f\ufffd", (text) => ({ body: { omitted: "not_kept", bytes: Buffer.byteLength(text) }, note: "damaged_body" })],
];

function fromText(text: string): FoundBody {
  const found = gzipAsText.find(([prefix]) => text.startsWith(prefix));
  if (found) return found[1](text);
  return { body: loneSurrogate.test(text) ? fromEscaped(text) : Buffer.from(text), isDecoded: true };
}

const loneSurrogate = /(?<![\ud800-\udbff])[\udc80-\udcff]/;

const isBase64 = (object: JsonObject): boolean =>
  [textIn(object, "encoding"), textIn(object, "_encoding")].some((it) => it?.toLowerCase() === "base64");

const read = (object: JsonObject, text: string): FoundBody => (isBase64(object) ? fromBase64(text) : fromText(text));

/** A part of a form as text; a file's contents are not in a HAR. */
const partOf = ([name, value]: readonly [string, string]): string =>
  `Content-Disposition: form-data; name="${name.replaceAll('"', "%22").replace(/[\r\n]+/g, " ")}"\r\n\r\n${value}\r\n`;

function fromParams(params: [string, string][], type: string): FoundBody {
  const [, boundary] = /^multipart\/form-data.*?boundary="?([^";]+)/i.exec(type) ?? [];
  if (boundary === undefined) {
    return { body: Buffer.from(new URLSearchParams(params).toString()), isDecoded: true };
  }
  const parts = params.map((it) => `--${boundary}\r\n${partOf(it)}`).join("");
  return { body: Buffer.from(`${parts}--${boundary}--\r\n`), isDecoded: true };
}

const missing = (bytes: number, note: NoteCode): FoundBody =>
  bytes > 0
    ? { body: { omitted: "not_kept", bytes: Math.min(Math.ceil(bytes), Number.MAX_SAFE_INTEGER) }, note }
    : { body: nothing };

/** HAR 1.2 has no place for bytes: texts, encodings of later proposals, HTTP Toolkit's `_content`, fields of a form. */
export function requestBody(request: JsonObject, headers: HeaderPairs): FoundBody {
  const postData = objectIn(request, "postData");
  const extra = objectIn(request, "_content");
  const extraText = textIn(extra, "text");
  if (extraText !== undefined) return read(extra, extraText);
  const text = textIn(postData, "text");
  const params = pairsIn(postData, "params");
  if (text) return read(postData, text);
  const type = headerOf(headers, "content-type") ?? textIn(postData, "mimeType") ?? "";
  if (params.length > 0) return fromParams(params, type);
  const length = Number(headerOf(headers, "content-length") ?? "");
  const size = numberIn(request, "bodySize") ?? -1;
  return missing(size > 0 ? size : length || 0, "no_request_body");
}

const isBare = (method: string, status: number): boolean =>
  method === "HEAD" || status === 204 || status === 304 || (status >= 100 && status < 200);

export function answerBody(response: JsonObject, method: string, status: number): FoundBody {
  const content = objectIn(response, "content");
  const text = textIn(content, "text");
  if (isBare(method, status)) return { body: nothing };
  if (text !== undefined && (text !== "" || numberIn(content, "size") === 0)) return read(content, text);
  if (own(content, "_file") !== undefined) return missing(sizeOf(response, content) || 1, "body_elsewhere");
  return missing(sizeOf(response, content), "no_answer_body");
}

/** Sizes are wrong in many ways: -1 where they are not known, 0 from a cache, only the transfer's. */
const sizeOf = (response: JsonObject, content: JsonObject): number =>
  Math.max(0, numberIn(content, "size") ?? 0, numberIn(response, "bodySize") ?? 0);

export type NoteCode =
  | "no_request_body"
  | "no_answer_body"
  | "body_elsewhere"
  | "damaged_body"
  | "odd_base64"
  | "odd_times"
  | "no_start"
  | "blocked";

export type SkipCode = "elsewhere" | "websocket" | "tunnel" | "not_http" | "preflight" | "no_request" | "not_json";

export const noteTexts: Readonly<Record<NoteCode | SkipCode, readonly [detail: string, hint: string]>> = {
  no_request_body: [
    "the request's body is not in the HAR",
    "Browsers leave out binary bodies (gzip): record with phx-sim record, or with compression off",
  ],
  no_answer_body: [
    "the response's body is not in the HAR",
    'Export with contents ("Save all as HAR with content"), before the page is left',
  ],
  body_elsewhere: ["the response's body is in a file of its own", 'Record with content: "embed"'],
  damaged_body: [
    "the request's body was binary and its bytes are lost",
    "The tool wrote bytes as text: record with phx-sim record, or with compression off",
  ],
  odd_base64: ["a body that claims to be base64 is not; taken as text", "Look at it with phx-sim tape show"],
  odd_times: ["times below zero, counted as zero", "Replay with recorded timing may be too quick"],
  no_start: ["no start time; taken for that of the entry before", "Only the recorded times are wrong"],
  blocked: ["a browser's extension blocked the request", "Record without ad blockers"],
  elsewhere: ["a request to another service", "--all imports every entry"],
  websocket: ["a websocket", "Tapes contain requests and responses only"],
  tunnel: ["a CONNECT to a proxy", "The requests inside are entries of their own"],
  not_http: ["an address that is no http", "Nothing is lost: there was no request"],
  preflight: ["a CORS preflight", "phx-sim answers them itself; --all imports them"],
  no_request: ["an entry without a method or an address", "Nothing can be made of it"],
  not_json: ["an entry that is not an object", "The file was damaged or edited"],
};
