import { type JsonObject, own } from "../../kernel/json.ts";
import { headerOf } from "../headers.ts";
import type { HeaderPairs, RawBody } from "../types.ts";
import { numberIn, objectIn, pairsIn, textIn } from "./fields.ts";
import type { NoteCode } from "./notes.ts";

/** A body, and what was wrong with it. */
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

const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

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
  [
    "\u001f\ufffd",
    (text) => ({ body: { omitted: "not_kept", bytes: Buffer.byteLength(text) }, note: "damaged_body" }),
  ],
];

function fromText(text: string): FoundBody {
  const found = gzipAsText.find(([prefix]) => text.startsWith(prefix));
  if (found) return found[1](text);
  return { body: loneSurrogate.test(text) ? fromEscaped(text) : Buffer.from(text), isDecoded: true };
}

const loneSurrogate = /(?<![\ud800-\udbff])[\udc80-\udcff]/;

const isBase64 = (object: JsonObject): boolean =>
  [textIn(object, "encoding"), textIn(object, "_encoding")].some((it) => it?.toLowerCase() === "base64");

const read = (object: JsonObject, text: string): FoundBody =>
  isBase64(object) ? fromBase64(text) : fromText(text);

/** A part of a form as text; a file's contents are not in a HAR. */
const partOf = ([name, value]: readonly [string, string]): string =>
  `Content-Disposition: form-data; name="${name.replaceAll('"', "%22").replace(/[\r\n]+/g, " ")}"\r\n\r\n${value}\r\n`;

/** The body that a form's fields were, where only they are told. */
function fromParams(params: [string, string][], type: string): FoundBody {
  const [, boundary] = /^multipart\/form-data.*?boundary="?([^";]+)/i.exec(type) ?? [];
  if (boundary === undefined) {
    return { body: Buffer.from(new URLSearchParams(params).toString()), isDecoded: true };
  }
  const parts = params.map((it) => `--${boundary}\r\n${partOf(it)}`).join("");
  return { body: Buffer.from(`${parts}--${boundary}--\r\n`), isDecoded: true };
}

/** A body that is not there, where one was sent. */
const missing = (bytes: number, note: NoteCode): FoundBody =>
  bytes > 0
    ? { body: { omitted: "not_kept", bytes: Math.min(Math.ceil(bytes), Number.MAX_SAFE_INTEGER) }, note }
    : { body: nothing };

/**
 * What was sent. HAR 1.2 has no place for bytes: looked for are the text (also bytes that a tool wrote as text), the
 * encodings of later proposals, HTTP Toolkit's `_content`, and the fields of a form.
 */
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

/** What was answered. */
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
