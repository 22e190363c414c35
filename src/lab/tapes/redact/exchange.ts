import { isUtf8 } from "node:buffer";
import type { Work } from "../../../kernel/base/work.ts";
import { isGzip } from "../../../kernel/codec/inflate.ts";
import type { Exchange, HeaderPairs, TapeBody, WireForm } from "../format/exchange.ts";
import { routeOf } from "../format/routes.ts";
import { decodedPart } from "./fields.ts";
import { grantText, isNothing, isSecretParameter } from "./names.ts";
import { repackable } from "./packed.ts";
import { isPlaceholder } from "./placeholders.ts";
import type { SecretFilter, Take } from "./secret-filter.ts";

/** `a=1; b=2`: names stay, values go. What has no name goes as a whole. */
const cookiePairs = (text: string, cookie: (value: string) => string): string =>
  text
    .split(/(;\s*)/)
    .map((part, i) => {
      if (i % 2 === 1 || part === "") return part;
      const at = part.indexOf("=");
      return part.slice(0, at + 1) + cookie(part.slice(at + 1));
    })
    .join("");

/** The first pair is the cookie, the rest are its attributes (RFC 6265 §4.1.1). */
function setCookie(text: string, cookie: (value: string) => string): string {
  const end = text.indexOf(";");
  const first = end === -1 ? text : text.slice(0, end);
  return cookiePairs(first, cookie) + text.slice(first.length);
}

/** Headers that hold a URL: placeholders in them are percent-encoded. */
const urls = new Set(["location", "content-location", "referer", "link"]);

function headerValue(name: string, value: string, path: string, filter: SecretFilter, take: Take): string {
  const cookie = (secret: string): string => {
    const bare = secret.trim();
    return isNothing(bare) || isPlaceholder(bare) ? secret : take("cookie", bare, path);
  };
  if (filter.secretRules.kindOfPlace(path) !== undefined) return filter.text(value, path);
  if (name === "cookie") return filter.text(cookiePairs(value, cookie), path);
  if (name === "set-cookie") return filter.text(setCookie(value, cookie), path);
  if (filter.secretRules.headerSecrecy(name) !== undefined) return filter.named(name, value, path);
  if (urls.has(name) && /^[a-z]+:\/\/|^\//i.test(value)) return filterUrl(value, path, path, filter, take);
  return filter.value(value, { path, name, around: [] });
}

const filterHeaders = (headers: HeaderPairs, path: string, filter: SecretFilter, take: Take): HeaderPairs =>
  headers.map((header) => {
    const [name, value] = header;
    const whole = `${path}.${name}: ${value}`;
    if (filter.clean.has(whole)) return header;
    const plain = name.toLowerCase();
    const safeName = filter.text(name, path);
    const safeValue = headerValue(plain, value, `${path}.${plain}`, filter, take);
    if (safeName !== name || safeValue !== value) return [safeName, safeValue];
    filter.clean.add(whole);
    return header;
  });

/** The part of a URL as it was, unless something was found in it. */
function filterUrlPart(part: string, look: (plain: string) => string): string {
  const plain = decodedPart(part);
  const after = look(plain);
  return after === plain ? part : encodeURIComponent(after);
}

function filterQuery(query: string, path: string, filter: SecretFilter): string {
  const all = grantText(query);
  return query
    .split("&")
    .map((pair) => {
      const at = pair.indexOf("=");
      if (at === -1) return filterUrlPart(pair, (plain) => filter.text(plain, path));
      const name = decodedPart(pair.slice(0, at));
      const spot = { path: `${path}.${name}`, name, around: [] };
      const isSecret =
        filter.secretRules.secrecy(name) !== undefined || isSecretParameter(name, pair.slice(at + 1), all);
      const safeName = filterUrlPart(pair.slice(0, at), (plain) => filter.text(plain, path));
      const value = filterUrlPart(pair.slice(at + 1), (plain) =>
        isSecret ? filter.named(name, plain, spot.path) : filter.value(plain, spot),
      );
      return `${safeName}=${value}`;
    })
    .join("&");
}

const urlParts = /^([a-z][a-z\d+.-]*:\/\/)?(?:([^/?#]*)@)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is;
const shared = /(\/(?:shared|embedded|shared_dashboard)\/)([^/]{8,})/;

function filterPath(path: string, where: string, filter: SecretFilter, take: Take): string {
  const tokens = path.replace(shared, (whole, lead: string, token: string) =>
    isPlaceholder(decodedPart(token)) ? whole : lead + encodeURIComponent(take("sharing_token", token, where)),
  );
  return tokens
    .split("/")
    .map((part) => filterUrlPart(part, (plain) => filter.text(plain, where)))
    .join("/");
}

/** An absolute or relative URL: login, path, parameters and fragment one by one, placeholders percent-encoded. */
export function filterUrl(url: string, where: string, query: string, filter: SecretFilter, take: Take): string {
  const [, scheme = "", login, path = "", parameters, fragment] = urlParts.exec(url) ?? [];
  // A rule for the path does not take away where a request went.
  const host = scheme === "" ? "" : path.replace(/\/.*$/s, "");
  const safeLogin = (it: string): string =>
    `${it === "" || isPlaceholder(decodedPart(it)) ? it : encodeURIComponent(take("userinfo", it, where))}@`;
  return [
    scheme,
    login === undefined ? "" : safeLogin(login),
    filterUrlPart(host, (plain) => filter.text(plain, where.replace(/\.path$/, ".host"))),
    filterPath(path.slice(host.length), where, filter, take),
    parameters === undefined ? "" : `?${filterQuery(parameters, query, filter)}`,
    fragment === undefined ? "" : `#${filterQuery(fragment, query, filter)}`,
  ].join("");
}

interface Bulk {
  body: TapeBody;
  headers: HeaderPairs;
  wire: WireForm;
  path: string;
  /** An answer's pictures and fonts are the service's own. */
  isAnswer: boolean;
  hint: string | null;
}

const headerIn = ({ headers }: Bulk, name: string): string =>
  headers.find(([it]) => it.toLowerCase() === name)?.[1] ?? "";

const code = /javascript|ecmascript|text\/css|text\/html|\bxml\b|wasm/i;
const media = /^(?:image|font|audio|video)\/(?!svg)/i;
/** Compressions of whole bodies that a decoder has to know; what lz64 makes is text, the others make bytes. */
const announced = { b64: /gzip|br|deflate|zstd|compress|lz64|lz-string/i, text: /lz64|lz-string/i };

const omitted = (bytes: number): TapeBody => ({ omitted: "redacted", bytes });

/** True for a body that is announced as compressed and could not be unpacked: its secrets cannot be found. */
function isLocked(bulk: Bulk, form: "b64" | "text"): boolean {
  const pattern = announced[form];
  if (bulk.wire.encodings.some((it) => pattern.test(it))) return false;
  return pattern.test(headerIn(bulk, "content-encoding")) || pattern.test(bulk.hint ?? "");
}

/** The boundary that the header names, else the one that the body begins with. Undefined: the body has no parts. */
const boundaryOf = (type: string, latin1: string): string | undefined => {
  if (!/^multipart\//i.test(type)) return undefined;
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]{1,200})"|([^;\s]{1,200}))/i.exec(type) ?? [];
  const named = quoted ?? bare;
  if (named !== undefined && latin1.includes(`--${named}`)) return named;
  return /^--([^\r\n]{1,200})\r?\n/.exec(latin1)?.[1];
};

/** One part: its name may make it secret, its content may be anything. Undefined: bytes that hold a secret. */
function filterFormPart(part: string, path: string, filter: SecretFilter): string | undefined {
  const split = /\r?\n\r?\n/.exec(part);
  // What stands around the parts, or a part that was cut off.
  if (split === null) return filterLatin1(part, path, filter);
  const head = part.slice(0, split.index);
  const lead = part.slice(0, split.index + split[0].length);
  const content = part.slice(lead.length).replace(/\r?\n$/, "");
  const end = part.slice(lead.length + content.length);
  const name = /\bname="([^"]*)"/i.exec(head)?.[1] ?? /\bname=([^;\s]+)/i.exec(head)?.[1] ?? "part";
  // a place is on the tape, too
  const at = `${path}.${filter.text(name, path)}`;
  const safeHead = filterLatin1(lead, at, filter);
  if (safeHead === undefined) return undefined;
  if (filter.secretRules.secrecy(name) !== undefined) {
    const value = Buffer.from(content, "latin1").toString("utf8");
    return safeHead + Buffer.from(filter.named(name, value, at)).toString("latin1") + end;
  }
  const after = filterLatin1(content, at, filter);
  return after === undefined ? undefined : safeHead + after + end;
}

const filterLatin1 = (bytes: string, path: string, filter: SecretFilter): string | undefined =>
  filterBytes(Buffer.from(bytes, "latin1"), path, filter)?.toString("latin1");

function filterParts(latin1: string, boundary: string, path: string, filter: SecretFilter): string | undefined {
  const parts = latin1.split(`--${boundary}`).map((part) => filterFormPart(part, path, filter));
  return parts.some((part) => part === undefined) ? undefined : parts.join(`--${boundary}`);
}

/** Bytes that are no text: looked at as text of one and of two bytes per character, in either order. */
const seenAs: readonly ((bytes: Buffer) => string)[] = [
  (bytes) => bytes.toString("latin1"),
  (bytes) => bytes.toString("utf16le"),
  (bytes) =>
    Buffer.from(bytes.subarray(bytes.length % 2))
      .swap16()
      .toString("utf16le"),
];

/** The bytes with their secrets replaced; undefined: they hold some that cannot be replaced, or cannot be read. */
export function filterBytes(bytes: Buffer, path: string, filter: SecretFilter): Buffer | undefined {
  const packed = repackable(bytes);
  if (packed === "unreadable") return undefined;
  const text = packed?.text ?? (isUtf8(bytes) ? bytes.toString("utf8") : undefined);
  if (text !== undefined) {
    const after = filter.text(text, path);
    if (after === text) return bytes;
    return packed ? packed.pack(after) : Buffer.from(after);
  }
  const isClean = seenAs.every((seen) => {
    const text = seen(bytes);
    return filter.text(text, path) === text;
  });
  return isClean ? bytes : undefined;
}

function filterText(text: string, bulk: Bulk, filter: SecretFilter): TapeBody {
  const type = headerIn(bulk, "content-type");
  const boundary = boundaryOf(type, text);
  if (boundary === undefined) {
    return { text: bulk.isAnswer && code.test(type) ? filter.code(text, bulk.path) : filter.text(text, bulk.path) };
  }
  const bytes = Buffer.from(text);
  const after = filterParts(bytes.toString("latin1"), boundary, bulk.path, filter);
  return after === undefined ? omitted(bytes.length) : { text: Buffer.from(after, "latin1").toString("utf8") };
}

function filterBase64(b64: string, bulk: Bulk, filter: SecretFilter): TapeBody {
  const bytes = Buffer.from(b64, "base64");
  const type = headerIn(bulk, "content-type");
  if (bulk.isAnswer && media.test(type) && !isGzip(bytes)) return { b64 };
  const latin1 = bytes.toString("latin1");
  const boundary = boundaryOf(type, latin1);
  const parts = boundary === undefined ? undefined : filterParts(latin1, boundary, bulk.path, filter);
  const after = boundary === undefined ? filterBytes(bytes, bulk.path, filter) : parts && Buffer.from(parts, "latin1");
  return after === undefined ? omitted(bytes.length) : { b64: after.toString("base64") };
}

/** A body without its secrets; what cannot be read is left out. A side file was redacted when it was written. */
function* filterBody(bulk: Bulk, filter: SecretFilter): Work<TapeBody> {
  const { body, path } = bulk;
  if ("file" in body || "omitted" in body) return body;
  if ("json" in body) {
    const json = yield* filter.json(body.json, path);
    return json === undefined ? omitted(bulk.wire.bytes) : { json };
  }
  if (isLocked(bulk, "text" in body ? "text" : "b64")) return omitted(bulk.wire.bytes);
  return "text" in body ? filterText(body.text, bulk, filter) : filterBase64(body.b64, bulk, filter);
}

const hintOf = (url: string): string | null => /[?&]compression=([^&#]*)/.exec(url)?.[1] ?? null;

type Side = Pick<Exchange["req"], "headers" | "wire" | "body">;

function* sideOf(side: Side, path: "req" | "res", hint: string | null, filter: SecretFilter, take: Take): Work<Side> {
  const headers = filterHeaders(side.headers, `${path}.headers`, filter, take);
  const { body: given, wire } = side;
  const { trouble } = wire;
  const safe = trouble === undefined ? wire : { ...wire, trouble: filter.text(trouble, `${path}.wire.trouble`) };
  if (given === undefined) return { headers, wire: safe };
  const bulk = { body: given, headers: side.headers, wire, path: `${path}.body`, isAnswer: path === "res", hint };
  const body = yield* filterBody(bulk, filter);
  return { headers, wire: safe, body };
}

/** An exchange without its secrets; headers first, because what is secret there is secret in the body as well. */
export function* filterExchange(exchange: Exchange, filter: SecretFilter, take: Take): Work<Exchange> {
  const { req, res } = exchange;
  const request = yield* sideOf(req, "req", hintOf(req.url), filter, take);
  const answer = res && {
    ...res,
    ...(yield* sideOf(res, "res", null, filter, take)),
    reason: filter.text(res.reason, "res.reason"),
  };
  const url = filter.clean.has(req.url) ? req.url : filterUrl(req.url, "req.path", "req.query", filter, take);
  if (url === req.url) filter.clean.add(url);
  const hasSafeRoute = filter.text(exchange.route, "route") === exchange.route;
  const safe: Exchange = {
    ...exchange,
    route: hasSafeRoute ? exchange.route : routeOf(req.method, url),
    req: { ...req, ...request, url },
    res: answer,
  };
  if (exchange.client !== undefined) safe.client = filter.text(exchange.client, "client");
  return safe;
}
