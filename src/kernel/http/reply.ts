import { isQuick, writingJson } from "../base/json-turns.ts";
import { inSlices } from "../base/work.ts";
import { headerIn } from "./client-address.ts";

/** The answer does not arrive whole: reset, nothing, half of the body, or all of it without its end. */
export type TransportFault = "reset" | "hang" | "truncate" | "cut";

export interface Rejection {
  readonly reason: string;
  readonly detail: string;
  readonly hint?: string;
}

export interface Reply {
  status: number;
  /** name, value, name, value …, without content-length. */
  headers: string[];
  /** null sends no body and no content-type. */
  body: string | Buffer | null;
  /** A body that is made as it is read, until the sender goes away or it ends. `body` is null, or the whole of it. */
  stream?: AsyncIterable<string | Uint8Array> | undefined;
  /** The end of a stream whose client is disconnected because it received nothing for too long. */
  stalled?: string | undefined;
  fault?: string | undefined;
  scripted?: true | undefined;
  /** What answered where it was neither the emulator nor a script: `tape:checkout#12`, `upstream`. */
  source?: string | undefined;
  rejection?: Rejection | undefined;
  /** What the transport does to it; then `status` is 0 unless some of it is sent. */
  transport?: TransportFault | undefined;
}

/** Of whatever is below /__sim, errors as well: no other page embeds it, and no browser takes it for markup or code. */
export const sameOriginOnly: readonly string[] = [
  ...["x-content-type-options", "nosniff"],
  ...["cross-origin-resource-policy", "same-origin"],
];

export const embeddable: readonly string[] = [
  ...["x-content-type-options", "nosniff"],
  ...["cross-origin-resource-policy", "cross-origin"],
];

const jsonType = ["content-type", "application/json"];
const textType = ["content-type", "text/plain; charset=utf-8"];
const scriptType = ["content-type", "application/javascript; charset=utf-8"];

/** JSON that is made already, and too long to be made again: `json` sends it as it is, wherever it is in a value. */
export class MadeJson {
  readonly bytes: Buffer;
  readonly mark: string;

  /** @param mark No other text of a reply has it */
  constructor(bytes: Buffer, mark: string) {
    this.bytes = bytes;
    this.mark = mark;
  }

  toJSON(): unknown {
    if (!found) return JSON.parse(this.bytes.toString("utf8"));
    found.push(this);
    return this.mark;
  }
}

let found: MadeJson[] | undefined;

function bodyOf(value: unknown): string | Buffer {
  const made: MadeJson[] = [];
  found = made;
  try {
    const text = JSON.stringify(value);
    return made.length === 0 ? text : filled(text, made);
  } finally {
    found = undefined;
  }
}

function filled(text: string, made: readonly MadeJson[]): Buffer {
  let at = 0;
  const parts = made.flatMap(({ bytes, mark }) => {
    const place = text.indexOf(`"${mark}"`, at);
    const before = Buffer.from(text.slice(at, place));
    at = place + mark.length + 2;
    return [before, bytes];
  });
  return Buffer.concat([...parts, Buffer.from(text.slice(at))]);
}

export const json = (value: unknown, status = 200): Reply => ({ status, headers: jsonType, body: bodyOf(value) });

export async function jsonInTurns(value: unknown, status = 200): Promise<Reply> {
  if (isQuick(value)) return json(value, status);
  return { status, headers: jsonType, body: await inSlices(writingJson(value)) };
}

export const jsonText = (text: string, status = 200): Reply => ({ status, headers: jsonType, body: text });

export const text = (body: string, status = 200): Reply => ({ status, headers: textType, body });

export const script = (body: string | Buffer): Reply => ({ status: 200, headers: scriptType, body });

export const empty = (status: number): Reply => ({ status, headers: [], body: null });

/** The reply with further headers; shared header lists are never changed in place. */
export const withHeaders = (reply: Reply, ...more: string[]): Reply => ({
  ...reply,
  headers: [...reply.headers, ...more],
});

export const headerOf = ({ headers }: Reply, name: string): string | undefined => headerIn(headers, name);

/** A flat list of headers without those of some names, in lower case; order, case and duplicates stay. */
export const headersWithout = (flat: readonly string[], isOut: (name: string) => boolean): string[] =>
  flat.filter((_, i) => !isOut((flat[i - (i % 2)] ?? "").toLowerCase()));

/** Headers that speak of one connection only (RFC 9110 §7.6.1), in lower case. */
export const hopHeaders: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
