import type { Json } from "../../src/kernel/base/json.ts";
import type { DecodeStep, RequestInFull } from "../../src/state/journal/request-shapes.ts";

export type { RequestInFull };

/** The first header with a name, in any case. */
export const headerOf = ({ headers }: Pick<RequestInFull, "headers">, name: string): string | undefined =>
  headers.find(([it]) => it.toLowerCase() === name)?.[1];

/** Display names of decoding steps. */
const stepNames: Readonly<Partial<Record<DecodeStep, string>>> = {
  br: "Brotli",
  zstd: "Zstandard",
  lz64: "LZ-string",
  form: "form field",
};

/** The decoding steps of a body: `text/plain`, `gzip`, `JSON`. Empty without a body. */
export function decodeChain(request: Pick<RequestInFull, "headers" | "decode_steps" | "raw" | "body">): string[] {
  const { decode_steps: steps, body, raw } = request;
  if (body === null && raw === null && steps.length === 0) return [];
  const type = headerOf(request, "content-type")?.split(";", 1)[0]?.trim();
  const first = steps[0] === "query" ? [] : [type || "no content type"];
  // a discarded body was JSON, otherwise there were no steps
  const end = raw !== null && bodyOf(request) === null ? "not JSON" : "JSON";
  return [...first, ...steps.map((it) => stepNames[it] ?? it), end];
}

/**
 * The body as JSON; null if it is not JSON. Bodies of paths that are not emulated are kept as strings, and may be
 * JSON.
 */
export function bodyOf({ body, raw }: Pick<RequestInFull, "body" | "raw">): Json {
  if (body !== null || raw === null || !("text" in raw)) return body;
  try {
    return JSON.parse(raw.text);
  } catch {
    return null;
  }
}
