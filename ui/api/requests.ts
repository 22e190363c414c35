import type { Json } from "../../src/kernel/json.ts";
import type { RequestRow } from "../../src/model/row.ts";
import type { StoredEvent } from "../../src/model/stored-event.ts";

/** How the bytes of a body became JSON, in the order it was done (src/model/traffic.ts). */
type DecodeStep = "gzip" | "deflate" | "br" | "zstd" | "base64" | "lz64" | "form" | "query";

/** The bytes as received where the body is not their exact text. */
type RawBody =
  | { readonly text: string }
  | { readonly base64: string }
  | { readonly omitted: string; readonly bytes: number };

/** What a request's row in a list says, too. */
type SharedFacts = Pick<
  RequestRow,
  | "n"
  | "method"
  | "target"
  | "status"
  | "ms"
  | "project"
  | "outcome"
  | "fault"
  | "partition"
  | "events"
  | "dropped"
>;

/** The answer of GET /__sim/requests/{n}: what the journal has of a request. */
export interface RequestInFull extends SharedFacts {
  /** ISO 8601. */
  readonly at: string;
  readonly rejected: { readonly reason: string; readonly detail: string; readonly hint?: string } | null;
  readonly scripted: boolean;
  /** null: the emulator, a fault or a script. */
  readonly source: string | null;
  readonly peer: string;
  readonly project_header: string | null;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly decode_steps: readonly DecodeStep[];
  readonly raw: RawBody | null;
  readonly body: Json;
  /** None where the answer did not arrive. */
  readonly reply_headers: readonly (readonly [name: string, value: string])[];
  readonly reply: Json;
  readonly carried: readonly StoredEvent[];
}

/** The first header of a name; names are compared without their case. */
export const headerOf = ({ headers }: Pick<RequestInFull, "headers">, name: string): string | undefined =>
  headers.find(([it]) => it.toLowerCase() === name)?.[1];

/** Steps by the names that people know; the others are called as they are. */
const stepNames: Readonly<Partial<Record<DecodeStep, string>>> = {
  br: "Brotli",
  zstd: "Zstandard",
  lz64: "LZ-string",
  form: "form field",
};

/** How the bytes became what is shown, step by step: `text/plain`, `gzip`, `JSON`. Nothing came: nothing. */
export function decodeChain(
  request: Pick<RequestInFull, "headers" | "decode_steps" | "raw" | "body">,
): string[] {
  const { decode_steps: steps, body, raw } = request;
  if (body === null && raw === null && steps.length === 0) return [];
  const type = headerOf(request, "content-type")?.split(";", 1)[0]?.trim();
  const first = steps[0] === "query" ? [] : [type || "no content type"];
  // a body that is not kept was JSON, or there would be no steps
  const end = raw !== null && bodyOf(request) === null ? "not JSON" : "JSON";
  return [...first, ...steps.map((it) => stepNames[it] ?? it), end];
}

/**
 * The body as JSON. The journal has the bare text of a body that no endpoint read, as that of a path which is not
 * emulated: it may be JSON all the same. Null where it is none.
 */
export function bodyOf({ body, raw }: Pick<RequestInFull, "body" | "raw">): Json {
  if (body !== null || raw === null || !("text" in raw)) return body;
  try {
    return JSON.parse(raw.text);
  } catch {
    return null;
  }
}
