import type { Json, JsonObject } from "../../kernel/json.ts";
import { plainBytes } from "../encode.ts";
import { headerOf } from "../headers.ts";
import type { Exchange, HeaderPairs, TapeBody, Wire } from "../types.ts";

/** Exchanges in the terms of HTTP Archive 1.2 (software-is-hard.com/blog/har-12-spec). */

/** How the format says "not known", or "does not apply". */
const unknown = -1;

/** A message as a tape has it. */
interface Message {
  http: string;
  headers: HeaderPairs;
  wire: Wire;
  body?: TapeBody;
}

const nameValue = ([name, value]: readonly [string, string]): JsonObject => ({ name, value });

const versionText = (http: string): string => (http === "" ? "HTTP/1.1" : `HTTP/${http}`);

/** Bodies stand here decoded: what says that they are packed, or how long they were then, is no longer true. */
const untrue = /^(?:content-encoding|transfer-encoding|content-length)$/i;

const hasText = (body: TapeBody | undefined): body is { json: Json } | { text: string } =>
  body !== undefined && ("json" in body || "text" in body);

const wasUnpacked = ({ body, wire }: Message): boolean => body !== undefined && wire.trouble === undefined;

const headersOf = (message: Message): JsonObject[] =>
  message.headers.filter(([name]) => !(wasUnpacked(message) && untrue.test(name))).map(nameValue);

function queryOf(url: string): JsonObject[] {
  const mark = url.indexOf("?");
  return mark === -1 ? [] : Array.from(new URLSearchParams(url.slice(mark + 1)), nameValue);
}

const pairIn = (text: string): [string, string] => {
  const at = text.indexOf("=");
  return at === -1 ? ["", text.trim()] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
};

const requestCookies = (headers: HeaderPairs): JsonObject[] =>
  headers
    .filter(([name]) => name.toLowerCase() === "cookie")
    .flatMap(([, value]) => value.split(";").filter((it) => it.trim() !== ""))
    .map((it) => nameValue(pairIn(it)));

function expiresAt(text: string): JsonObject {
  const at = Date.parse(text);
  return Number.isNaN(at) ? {} : { expires: new Date(at).toISOString() };
}

/** A cookie's attribute in the words of the format. */
const attributes: Readonly<Record<string, (value: string) => JsonObject>> = {
  path: (value) => ({ path: value }),
  domain: (value) => ({ domain: value }),
  httponly: () => ({ httpOnly: true }),
  secure: () => ({ secure: true }),
  samesite: (value) => ({ sameSite: value }),
  expires: expiresAt,
};

function setCookie(text: string): JsonObject {
  const [first = "", ...rest] = text.split(";");
  const found = rest.map((it) => {
    const at = it.indexOf("=");
    const name = (at === -1 ? it : it.slice(0, at)).trim().toLowerCase();
    const read = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    return read?.(at === -1 ? "" : it.slice(at + 1).trim()) ?? {};
  });
  return Object.assign(nameValue(pairIn(first)), ...found);
}

const answerCookies = (headers: HeaderPairs): JsonObject[] =>
  headers.filter(([name]) => name.toLowerCase() === "set-cookie").map(([, value]) => setCookie(value));

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

/** What was answered: text as text, bytes as base64, what was not kept as a comment. */
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
  cookies: requestCookies(req.headers),
  headers: headersOf(req),
  queryString: queryOf(req.url),
  headersSize: unknown,
  bodySize: req.wire.bytes,
  ...sentBody(req),
});

/** How browsers write that no answer came. */
const noAnswer = (aborted: string | undefined): JsonObject => ({
  status: 0,
  statusText: "",
  httpVersion: "",
  cookies: [],
  headers: [],
  content: { size: 0, mimeType: "x-unknown" },
  redirectURL: "",
  headersSize: unknown,
  bodySize: unknown,
  _error: aborted === "client" ? "net::ERR_ABORTED" : "net::ERR_FAILED",
});

function responseOf({ res, aborted }: Exchange): JsonObject {
  if (!res) return noAnswer(aborted);
  return {
    status: res.status,
    statusText: res.reason,
    httpVersion: versionText(res.http),
    cookies: answerCookies(res.headers),
    headers: headersOf(res),
    content: contentOf(res),
    redirectURL: headerOf(res.headers, "location") ?? "",
    headersSize: unknown,
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
      blocked: unknown,
      dns: unknown,
      connect: unknown,
      ssl: unknown,
      send: 0,
      wait,
      receive: total - wait,
    },
    _phx_sim: ours(exchange),
  };
}
