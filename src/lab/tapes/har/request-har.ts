import { STATUS_CODES } from "node:http";
import { z } from "zod";
import { decodingText, joiningBytes } from "../../../kernel/base/bytes-turns.ts";
import { isoOf } from "../../../kernel/base/clock.ts";
import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import { writingJson } from "../../../kernel/base/json-turns.ts";
import { inSlices, type Stepwise } from "../../../kernel/base/work.ts";
import { headerIn } from "../../../kernel/http/client-address.ts";
import { jsonText } from "../../../kernel/http/reply.ts";
import { row } from "../../../kernel/http/row.ts";
import { slice } from "../../../kernel/http/slice.ts";
import { parseRequestFilter } from "../../../state/journal/filter-parameter.ts";
import { Limit, UntilRequest } from "../../../state/journal/query-shapes.ts";
import { RequestListQuery } from "../../../state/journal/request-shapes.ts";
import { resultsOf } from "../../../state/journal/results.ts";
import { examineRequests, type RequestSearchPorts } from "../../../state/journal/search.ts";
import { replyHeadersOf, type TrafficLine } from "../../../state/journal/traffic.ts";
import { isUnmatched } from "../../../state/journal/unmatched.ts";
import { creator, nameValue, notKnown, queryOf } from "./entry.ts";

const httpVersion = "HTTP/1.1";

const headersOf = (flat: readonly string[]): JsonObject[] =>
  Array.from({ length: flat.length / 2 }, (_, i) => nameValue([flat[2 * i] ?? "", flat[2 * i + 1] ?? ""]));

/** The journal keeps no scheme: a proxy in front may have had another one. */
const urlOf = ({ headers, target }: TrafficLine): string =>
  `http://${headerIn(headers, "host") ?? "localhost"}${target.startsWith("/") ? target : `/${target}`}`;

function sizeOf({ headers, raw }: TrafficLine): number {
  const length = headerIn(headers, "content-length");
  if (length !== undefined && /^\d{1,15}$/.test(length)) return Number(length);
  return raw !== undefined && "bytes" in raw ? raw.bytes : notKnown;
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
      headersSize: notKnown,
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
      headersSize: notKnown,
      bodySize: notKnown,
    },
    cache: {},
    timings: { send: 0, wait: ms, receive: 0 },
    _phx_sim: ours(line),
  };
}

export function harBytes(entries: readonly Buffer[], comment: string | undefined): Stepwise<Buffer> {
  const facts = JSON.stringify({ version: "1.2", creator, ...(comment !== undefined && { comment }) });
  const between = Buffer.from(",\n");
  return joiningBytes([
    Buffer.from(`{"log":${facts.slice(0, -1)},"entries":[`),
    ...entries.flatMap((it, i) => (i === 0 ? [it] : [between, it])),
    Buffer.from("]}}"),
  ]);
}

const { before: _, ...listFields } = RequestListQuery.shape;
const HarQuery = z.strictObject({ ...listFields, until: UntilRequest.optional(), limit: Limit.default(1_000) });

const Har = z
  .strictObject({
    log: z.looseObject({
      version: z.literal("1.2"),
      creator: z.strictObject({ name: z.string(), version: z.string() }),
      comment: z.string().optional(),
      entries: z.array(z.looseObject({})),
    }),
  })
  .meta({ title: "Har" });

/** Bytes of a HAR: it must fit into memory several times. */
const largestHar = 200 * 1024 * 1024;

function* writingEntry(line: TrafficLine): Stepwise<Buffer> {
  const body = line.body === undefined ? undefined : yield* decodingText(yield* writingJson(line.body));
  return yield* writingJson(harEntry(line, body));
}

export const requestHarSlice = slice(["log", "clock", "worlds"], (ports: RequestSearchPorts) => [
  row({
    method: "GET",
    path: "/__sim/requests.har",
    access: "control",
    summary: "Exports the newest requests of the journal as HAR 1.2, oldest first",
    query: HarQuery,
    replies: { 200: { description: "The newest requests, oldest first", shape: Har } },
    async handle({ query: { until, limit, filter, ...selection } }) {
      const before = until === undefined ? undefined : until + 1;
      // each entry becomes text as soon as it is read, because bodies may be large
      const entries: Buffer[] = [];
      let size = 0;
      let comment: string | undefined;
      for await (const { head } of examineRequests(ports, {
        ...selection,
        before,
        filter: parseRequestFilter(filter),
      })) {
        const line = head && (await inSlices(ports.log.reading(head.n)));
        if (!line) continue;
        const entry = await inSlices(writingEntry(line));
        size += entry.length;
        if (size > largestHar && entries.length > 0) {
          comment = `requests up to ${line.n} are left out: a HAR has at most ${largestHar / 1024 / 1024} MB; ?until=${line.n} continues`;
          break;
        }
        if (entries.push(entry) === limit) break;
      }
      return { ...jsonText(""), body: await inSlices(harBytes(entries.reverse(), comment)) };
    },
  }),
]);
