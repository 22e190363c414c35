/** Lists of headers as they travel: name, value, name, value … */
type Flat = readonly string[];

/** Headers that speak of one connection only (RFC 9110 §7.6.1); `connection` itself is rewritten in its place. */
const hopByHop = new Set(["keep-alive", "proxy-connection", "proxy-authorization", "te", "upgrade"]);

const valuesOf = (flat: Flat, name: string): string[] =>
  flat.filter((_, i) => i % 2 === 1 && flat[i - 1]?.toLowerCase() === name);

export const hasHeader = (flat: Flat, name: string): boolean => valuesOf(flat, name).length > 0;

/** Framing that a sender's `Connection: content-length` must not take away. */
const framing = new Set(["content-length", "transfer-encoding", "host"]);

/** What the sender's Connection header says is for the next hop only. */
function namedInConnection(flat: Flat): Set<string> {
  const names = valuesOf(flat, "connection")
    .flatMap((value) => value.split(","))
    .map((name) => name.trim().toLowerCase());
  return new Set(names.filter((name) => !framing.has(name)));
}

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

/**
 * A request's headers on their way to the upstream: as received, with the upstream's Host, and without what was meant
 * for our connection.
 */
export function toUpstream(flat: Flat, { host, method }: { host: string; method: string }): string[] {
  const named = namedInConnection(flat);
  let hosts = 0;
  const headers = rewritten(flat, (name, value) => {
    if (name === "host") return hosts++ === 0 ? host : null;
    if (name === "connection") return "keep-alive";
    return hopByHop.has(name) || named.has(name) ? null : value;
  });
  if (hosts === 0) headers.unshift("Host", host);
  // Node would send a body of no length in chunks; the sender said that there is none.
  const isFramed = hasHeader(flat, "content-length") || hasHeader(flat, "transfer-encoding");
  if (!isFramed && !bodiless.has(method)) headers.push("Content-Length", "0");
  return headers;
}

/** Methods whose requests Node sends without a body unless told. */
const bodiless = new Set(["GET", "HEAD", "OPTIONS", "DELETE", "TRACE", "CONNECT"]);

/** How the client's connection is. */
interface Hop {
  /** Does it stay open after this answer? */
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

/** Pairs, as `addTrailers` takes them. */
export const pairsOf = (flat: Flat): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? "", flat[2 * i + 1] ?? ""]);
