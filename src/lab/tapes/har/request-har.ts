import { STATUS_CODES } from "node:http";
import { joiningBytes } from "../../../kernel/base/bytes-turns.ts";
import { isoOf } from "../../../kernel/base/clock.ts";
import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import { version } from "../../../kernel/base/version.ts";
import type { Stepwise } from "../../../kernel/base/work.ts";
import { headerIn } from "../../../kernel/http/client-address.ts";
import { resultsOf } from "../../../state/journal/results.ts";
import { replyHeadersOf, type TrafficLine } from "../../../state/journal/traffic.ts";
import { isUnmatched } from "../../../state/journal/unmatched.ts";

/** The journal in the terms of HTTP Archive 1.2 (software-is-hard.com/blog/har-12-spec). */

const httpVersion = "HTTP/1.1";
const unknownSize = -1;

type NameValue = { name: string; value: string };

const headersOf = (flat: readonly string[]): NameValue[] =>
  Array.from({ length: flat.length / 2 }, (_, i) => ({ name: flat[2 * i] ?? "", value: flat[2 * i + 1] ?? "" }));

function queryOf(target: string): NameValue[] {
  const mark = target.indexOf("?");
  const query = new URLSearchParams(mark === -1 ? "" : target.slice(mark + 1));
  return Array.from(query, ([name, value]) => ({ name, value }));
}

/** The journal keeps no scheme: a proxy in front may have had another one. */
const urlOf = ({ headers, target }: TrafficLine): string =>
  `http://${headerIn(headers, "host") ?? "localhost"}${target.startsWith("/") ? target : `/${target}`}`;

function sizeOf({ headers, raw }: TrafficLine): number {
  const length = headerIn(headers, "content-length");
  if (length !== undefined && /^\d{1,15}$/.test(length)) return Number(length);
  return raw !== undefined && "bytes" in raw ? raw.bytes : unknownSize;
}

/** What was sent: decoded where the journal could decode it, else the bytes as they came. */
function postDataOf({ headers, raw, body, steps = [] }: TrafficLine, made: string | undefined): JsonObject | undefined {
  const mimeType = headerIn(headers, "content-type") ?? "";
  if (body !== undefined) {
    const text = made ?? JSON.stringify(body);
    if (steps.length === 0) return { mimeType, params: [], text };
    return { mimeType: "application/json", params: [], text, comment: `decoded: ${steps.join(", ")}` };
  }
  if (raw === undefined) return undefined;
  if ("text" in raw) return { mimeType, params: [], text: raw.text };
  if ("base64" in raw) return { mimeType, params: [], text: raw.base64, _encoding: "base64" };
  return { mimeType, params: [], text: "", comment: `not kept: ${raw.omitted}, ${raw.bytes} bytes` };
}

/** What the journal keeps for a large or binary answer. */
const isOmitted = (reply: Json): reply is { omitted: string; bytes: number } =>
  isObject(reply) &&
  Object.keys(reply).length === 2 &&
  typeof reply.omitted === "string" &&
  typeof reply.bytes === "number";

function contentOf({ reply = null }: TrafficLine, mimeType = "x-unknown"): JsonObject {
  if (reply === null) return { size: 0, mimeType };
  if (isOmitted(reply)) return { size: reply.bytes, mimeType, comment: `not kept: ${reply.omitted}` };
  const text = typeof reply === "string" ? reply : JSON.stringify(reply);
  return { size: Buffer.byteLength(text), mimeType, text };
}

/** What only we know of a request; names of one's own begin with `_`. */
const ours = (line: TrafficLine, results = resultsOf(line)): JsonObject => ({
  n: line.n,
  project: line.project,
  outcome: isUnmatched(line) ? "unmatched" : line.rejected ? "rejected" : "answered",
  rejected: line.rejected ? { ...line.rejected } : null,
  fault: line.fault ?? null,
  scripted: line.scripted === true,
  source: line.source ?? null,
  partition: line.partition ?? null,
  events: line.events?.length ?? 0,
  dropped: line.events?.filter((it) => it.dropped !== undefined).length ?? 0,
  ...(results && { results: results.map((it) => ({ ...it })) }),
});

/** A request as an entry of a HAR; secrets are masked, as in the journal. @param body Its body as JSON, if that is made */
export function harEntry(line: TrafficLine, body?: string): JsonObject {
  const ms = line.us / 1000;
  const postData = postDataOf(line, body);
  const headers = replyHeadersOf(line);
  return {
    startedDateTime: isoOf(line.at),
    time: ms,
    request: {
      method: line.method,
      url: urlOf(line),
      httpVersion,
      cookies: [],
      headers: headersOf(line.headers),
      queryString: queryOf(line.target),
      ...(postData && { postData }),
      headersSize: unknownSize,
      bodySize: postData ? sizeOf(line) : 0,
    },
    response: {
      status: line.status,
      statusText: STATUS_CODES[line.status] ?? "",
      httpVersion,
      cookies: [],
      headers: headersOf(headers),
      content: contentOf(line, headerIn(headers, "content-type")),
      redirectURL: headerIn(headers, "location") ?? "",
      headersSize: unknownSize,
      bodySize: unknownSize,
    },
    cache: {},
    timings: { send: 0, wait: ms, receive: 0 },
    _phx_sim: ours(line),
  };
}

const creator = { name: "phx-sim", version };

/** A HAR of requests in the order they are given. */
export const harOf = (lines: Iterable<TrafficLine>): JsonObject => ({
  log: { version: "1.2", creator, entries: Array.from(lines, (it) => harEntry(it)) },
});

/** The same as bytes of JSON, made of entries that are bytes already. */
export function harBytes(entries: readonly Buffer[], comment: string | undefined): Stepwise<Buffer> {
  const facts = JSON.stringify({ version: "1.2", creator, ...(comment !== undefined && { comment }) });
  const between = Buffer.from(",\n");
  return joiningBytes([
    Buffer.from(`{"log":${facts.slice(0, -1)},"entries":[`),
    ...entries.flatMap((it, i) => (i === 0 ? [it] : [between, it])),
    Buffer.from("]}}"),
  ]);
}
