import { readableCodings, unpackedBytes } from "../format/bodies.ts";
import { pairsOf } from "../format/exchange.ts";
import type { Upstreams } from "./upstreams.ts";

type Flat = readonly string[];

/** Headers that speak of one connection only (RFC 9110 §7.6.1); `connection` itself is rewritten in its place. */
const hopByHop = new Set(["keep-alive", "proxy-connection", "proxy-authorization", "te", "upgrade"]);

/** The lengths differ for most headers: no text is made to compare them. */
const isNamed = (header: string, name: string): boolean =>
  header.length === name.length && header.toLowerCase() === name;

export const hasHeader = (flat: Flat, name: string): boolean => flat.some((it, i) => i % 2 === 0 && isNamed(it, name));

/** Framing that a sender's `Connection: content-length` must not take away. */
const framing = new Set(["content-length", "transfer-encoding", "host"]);

/** Headers that the sender's Connection header names as meant for the next hop only. */
function namedInConnection(flat: Flat): ReadonlySet<string> {
  if (!hasHeader(flat, "connection")) return nothing;
  const names = flat
    .filter((_, i) => i % 2 === 1 && isNamed(flat[i - 1] ?? "", "connection"))
    .flatMap((value) => value.split(","))
    .map((name) => name.trim().toLowerCase());
  return new Set(names.filter((name) => !framing.has(name)));
}

const nothing: ReadonlySet<string> = new Set();

/** The list with some values replaced and some headers left out (null); order, case and duplicates stay. */
function rewritten(flat: Flat, rewrite: (name: string, value: string) => string | null): string[] {
  const result: string[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i] ?? "";
    const value = rewrite(name.toLowerCase(), flat[i + 1] ?? "");
    if (value !== null) result.push(name, value);
  }
  return result;
}

/** As received, with the upstream's Host, and without what was meant for our connection or cannot be unpacked here. */
export function toUpstream(flat: Flat, { host, method }: { host: string; method: string }): string[] {
  const named = namedInConnection(flat);
  let hosts = 0;
  const headers = rewritten(flat, (name, value) => {
    if (name === "host") return hosts++ === 0 ? host : null;
    if (name === "connection") return "keep-alive";
    if (name === "accept-encoding") return readableCodings(value);
    return hopByHop.has(name) || named.has(name) ? null : value;
  });
  if (hosts === 0) headers.unshift("Host", host);
  // Node would send a body of no length in chunks; the sender declared that there is none.
  const isFramed = hasHeader(flat, "content-length") || hasHeader(flat, "transfer-encoding");
  if (!isFramed && !bodiless.has(method)) headers.push("Content-Length", "0");
  return headers;
}

/** Methods whose requests Node sends without a body by default. */
const bodiless = new Set(["GET", "HEAD", "OPTIONS", "DELETE", "TRACE", "CONNECT"]);

interface Hop {
  readonly staysOpen: boolean;
  /** HTTP/1.0 knows no chunks. */
  readonly takesChunks: boolean;
}

/** An answer's headers on their way to the client: as received, without what was meant for our connection. */
export function toClient(flat: Flat, { staysOpen, takesChunks }: Hop): string[] {
  const named = namedInConnection(flat);
  const headers = rewritten(flat, (name, value) => {
    if (name === "connection") return staysOpen ? "keep-alive" : "close";
    if (name === "transfer-encoding") return takesChunks ? value : null;
    return hopByHop.has(name) || named.has(name) ? null : value;
  });
  return [...headers, "x-phx-source", "upstream"];
}

export const relinkedHeaders = (flat: Flat, bases: Bases): string[] =>
  flat.map((it, i) => (i % 2 === 0 ? it : rebasedHeader(flat[i - 1] ?? "", it, bases)));

/** Larger answers pass unchanged, in bytes. */
export const mostRelinked = 16 * 1024 * 1024;

const isJson = (flat: readonly string[]): boolean =>
  pairsOf(flat).some(
    ([name, value]) => name.toLowerCase() === "content-type" && /^\s*application\/json\b/i.test(value),
  );

interface Answer {
  readonly status: number;
  readonly headers: readonly string[];
}

/** May the answer name further pages? Lists of the management API do. `path` as made by `pathOf`. */
export const mayHavePages = (method: string, path: string, { status, headers }: Answer): boolean =>
  method === "GET" && path.startsWith("/api/") && status === 200 && isJson(headers);

const ofBytes: ReadonlySet<string> = new Set(["content-encoding", "content-length", "transfer-encoding"]);

/** An answer whose links to further pages lead to where the client asks, unpacked; undefined: it has none. */
export function relinked(
  headers: readonly string[],
  body: Buffer,
  bases: Bases,
): { headers: string[]; body: Buffer } | undefined {
  const text = unpackedBytes(body, pairsOf(headers), mostRelinked)?.toString("utf8");
  const changed = text === undefined ? undefined : rebasedJson(text, bases);
  if (changed === undefined || changed === text) return undefined;
  const bytes = Buffer.from(changed);
  const kept = pairsOf(headers).filter(([name]) => !ofBytes.has(name.toLowerCase()));
  return { headers: [...kept.flat(), "content-length", String(bytes.length)], body: bytes };
}

export interface Bases {
  /** Origins of the service that answered, e.g. `https://us.posthog.com`. */
  readonly origins: readonly string[];
  /** A path of the service that its clients do not see, e.g. `/posthog`. */
  readonly prefix?: string;
  /** e.g. `http://127.0.0.1:7490`; undefined: not known, links stay. */
  readonly live: string | undefined;
}

/** How links in the answers of a base are rewritten. @param live Where the client believes the service to be */
export const linksOf = ({ origins }: Upstreams, base: URL, live: string | undefined): Bases => ({
  origins,
  prefix: base.pathname.replace(/\/$/, ""),
  live,
});

const pageFields: ReadonlySet<string> = new Set(["next", "previous"]);

const hostOf = (origin: string): string => origin.replace(/^https?:\/\//i, "").toLowerCase();

const isBelow = (prefix: string, path: string): boolean =>
  path.startsWith(prefix) && /^(?:$|[/?#])/.test(path.slice(prefix.length));

/** @param sameScheme A redirect from http to https of the same host must not lead back to where it came from */
function rebased(url: string, { origins, prefix = "", live }: Bases, sameScheme: boolean): string {
  const [, origin = "", path = ""] = /^(https?:\/\/[^/?#]+)(.*)$/is.exec(url) ?? [];
  if (live === undefined || origin === "" || !isBelow(prefix, path)) return url;
  const isTheirs = sameScheme
    ? origins.includes(origin.toLowerCase())
    : origins.some((it) => hostOf(it) === hostOf(origin));
  return isTheirs ? live + path.slice(prefix.length) : url;
}

/** The text of a field; the URL of another page leads to where the client asks. */
export const rebasedField = (name: string, text: string, bases: Bases): string =>
  pageFields.has(name) ? rebased(text, bases, false) : text;

const pageField = /("(?:next|previous)"\s*:\s*)("(?:[^"\\]|\\.)*")/g;

/** As `rebasedField`, in the text of a JSON document: all else stays as it is written. */
export const rebasedJson = (text: string, bases: Bases): string =>
  text.replace(pageField, (found, name: string, literal: string) => {
    const url: string = JSON.parse(literal);
    const to = rebased(url, bases, false);
    return to === url ? found : name + JSON.stringify(to);
  });

/** As `rebasedField`, in a header of an answer: redirects, and links to other pages. */
export function rebasedHeader(name: string, value: string, bases: Bases): string {
  if (isNamed(name, "location")) return rebased(value, bases, true);
  if (!isNamed(name, "link")) return value;
  return value.replace(/<([^<>]*)>/g, (_, url: string) => `<${rebased(url, bases, false)}>`);
}
