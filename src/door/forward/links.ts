import { unpackedBytes } from "../../tape/decode.ts";
import { pairsOf } from "../../tape/headers.ts";
import { type Bases, rebasedHeader, rebasedJson } from "../../tape/page-links.ts";

/** Headers of an answer whose redirects and links lead to where the client asks. */
export const relinkedHeaders = (flat: readonly string[], bases: Bases): string[] =>
  pairsOf(flat).flatMap(([name, value]) => [name, rebasedHeader(name, value, bases)]);

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

/** What speaks of the bytes as they were sent. */
const ofBytes: ReadonlySet<string> = new Set(["content-encoding", "content-length", "transfer-encoding"]);

/**
 * An answer whose links to further pages lead to where the client asks, unpacked; undefined: it has none, and passes
 * byte for byte.
 */
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
