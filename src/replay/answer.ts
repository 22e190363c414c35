import type { Exchange, TapeBody } from "../tape/types.ts";
import { headersToSend } from "./headers.ts";

/** An answer as the request core sends it. */
export interface RecordedAnswer {
  status: number;
  /** Flat, without content-length. */
  headers: string[];
  body: string | Buffer | null;
}

/** Statuses whose answers have no body (RFC 9110 §15). */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** Can an answer of this status be given again? Interim ones, and what is no status, cannot. */
const isFinal = (status: number): boolean => Number.isInteger(status) && status >= 200 && status <= 599;

/** Why an exchange cannot be answered again; undefined when it can. */
export function obstacleOf({ res }: Exchange, body: TapeBody | undefined): string | undefined {
  if (res === null) return "no answer was recorded";
  if (!isFinal(res.status)) return `its status ${res.status} is none that can be sent`;
  if (body && "omitted" in body) return `its body of ${body.bytes} bytes was not kept (${body.omitted})`;
  return undefined;
}

/** The bytes of a body: decoded as the tape has it, JSON written anew. */
function contentOf(body: TapeBody | undefined): string | Buffer {
  if (body === undefined) return "";
  if ("json" in body) return JSON.stringify(body.json);
  if ("text" in body) return body.text;
  return "b64" in body ? Buffer.from(body.b64, "base64") : "";
}

/** The answer of an exchange, sent uncompressed; a body in a file must have been loaded into it. */
export function answerOf({ res }: Exchange): RecordedAnswer {
  const status = res?.status ?? 0;
  const headers = headersToSend(res?.headers ?? []);
  return { status, headers, body: bodiless.has(status) ? null : contentOf(res?.body) };
}
