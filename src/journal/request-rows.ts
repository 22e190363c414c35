import { countsFor } from "../assert/requests-seen.ts";
import { SimError } from "../base/errors.ts";
import type { Call } from "../http/call.ts";
import { headerIn } from "../http/client-address.ts";
import { pathNumber, queryChoice, queryNumber } from "../http/control-body.ts";
import { type ControlRow, endpointsOf } from "../http/control-row.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { json, jsonText, type Reply } from "../http/reply.ts";
import { projectHeader } from "../ingest/project.ts";
import type { ControlDesk } from "../sim/control-desk.ts";
import { harEntry, harText } from "../tapes/har/request-har.ts";
import { requestSubject } from "./feed/feed-rows.ts";
import type { Filter, RequestSubject } from "./filter/types.ts";
import { queryRequestFilter } from "./filter-parameter.ts";
import { headOf, type RequestHead } from "./log/traffic-log.ts";
import { createBudget, createPauses } from "./search.ts";
import { showEvent } from "./show.ts";
import { replyHeadersOf, type TrafficLine } from "./traffic.ts";
import { isUnmatched } from "./unmatched.ts";

const most = Number.MAX_SAFE_INTEGER;
const mostShown = 10_000;

/** A request in a list: what happened, without headers and bodies. */
const showInList = (line: RequestHead) => ({
  n: line.n,
  at: new Date(line.at).toISOString(),
  method: line.method,
  target: line.target,
  status: line.status,
  ms: line.us / 1000,
  project: line.project,
  outcome: line.rejected ? ("rejected" as const) : ("answered" as const),
  rejected: line.rejected ?? null,
  fault: line.fault ?? null,
  scripted: line.scripted === true,
  source: line.source ?? null,
  partition: line.partition ?? null,
  events: line.carried,
  dropped: line.dropped,
});

/** The flat header list as pairs. */
const pairs = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? "", flat[2 * i + 1] ?? ""]);

const showInFull = (line: TrafficLine) => ({
  ...showInList(headOf(line)),
  peer: line.peer,
  project_header: headerIn(line.headers, projectHeader) ?? null,
  headers: pairs(line.headers),
  decode_steps: line.steps ?? [],
  raw: line.raw ?? null,
  body: line.body ?? null,
  reply_headers: pairs(replyHeadersOf(line)),
  reply: line.reply ?? null,
  carried: (line.events ?? []).map((_, i) => showEvent(line, i)),
});

/** The answer of GET /__sim/requests/{n}. */
export type ShownRequestInFull = ReturnType<typeof showInFull> & { readonly nearest: readonly string[] };

const outcomes = ["answered", "rejected", "unmatched"] as const;

/** Which requests; absent keys do not restrict. */
interface RequestFilter {
  project: number | undefined;
  partition: string | undefined;
  outcome: (typeof outcomes)[number] | undefined;
  /** Only requests before, and after, this number. */
  before: number | undefined;
  since: number | undefined;
  /** In the filter's grammar. */
  wanted: Filter<RequestSubject> | undefined;
}

const filterOf = (call: Call): RequestFilter => ({
  project: queryNumber(call, "project", { min: 0, max: most }),
  partition: call.query.get("partition") || undefined,
  outcome: queryChoice(call, "outcome", outcomes),
  before: queryNumber(call, "before", { min: 1, max: most }),
  since: queryNumber(call, "since", { min: 0, max: most }),
  wanted: queryRequestFilter(call),
});

const suits = (line: RequestHead, { partition, outcome }: RequestFilter): boolean =>
  (partition === undefined || line.partition === partition) && (outcome !== "unmatched" || isUnmatched(line));

/** A request that was looked at, newest first; `fits` is undefined where it is not what the filter wants. */
interface Looked {
  readonly n: number;
  readonly fits: RequestHead | undefined;
}

/** Looks at requests with pauses for other calls. */
async function* lookAt(desk: ControlDesk, filter: RequestFilter): AsyncGenerator<Looked> {
  const { log, clock } = desk;
  const { outcome, partition, before, since = 0, wanted } = filter;
  const indexed = wanted?.indexed ?? {};
  const shared = outcome === "unmatched" ? filter.project : undefined;
  const project = shared === undefined ? (filter.project ?? indexed.project) : indexed.project;
  const numbers = log.requests({
    ...(indexed.rejected !== undefined && { rejected: indexed.rejected }),
    ...(project !== undefined && { project }),
    ...(partition !== undefined && { partition }),
    ...(before !== undefined && { before }),
    ...(outcome !== undefined && { rejected: outcome !== "answered" }),
  });
  const pause = createPauses();
  for (const n of numbers) {
    if (n <= since) return;
    const head = log.head(n);
    const line = () => log.line(n);
    const isIt =
      head !== undefined &&
      suits(head, filter) &&
      (shared === undefined || countsFor(desk, head, shared)) &&
      (!wanted || wanted.test(requestSubject(head, line), clock.now()));
    yield { n, fits: isIt ? head : undefined };
    const turn = pause(log.sizeOf(n));
    if (turn) await turn;
  }
}

/** The first requests that fit, and where the next page begins: after `limit` of them, or after enough was looked at. */
async function pageOf(desk: ControlDesk, filter: RequestFilter, limit: number) {
  const isSpent = createBudget();
  const requests: ReturnType<typeof showInList>[] = [];
  for await (const { n, fits } of lookAt(desk, filter)) {
    if (fits) requests.push(showInList(fits));
    if (requests.length === limit || isSpent(desk.log.sizeOf(n))) return { requests, before: n };
  }
  return { requests, before: null };
}

async function list(desk: ControlDesk, call: Call): Promise<Reply> {
  const limit = queryNumber(call, "limit", { min: 1, max: mostShown }) ?? 100;
  return json(await pageOf(desk, filterOf(call), limit));
}

/** The newest requests in the order of their arrival. Each becomes text as soon as it is read: bodies may be large. */
async function har(desk: ControlDesk, call: Call): Promise<Reply> {
  const limit = queryNumber(call, "limit", { min: 1, max: mostShown }) ?? 1_000;
  const until = queryNumber(call, "until", { min: 1, max: most });
  const filter = { ...filterOf(call), ...(until !== undefined && { before: until + 1 }) };
  const entries: string[] = [];
  for await (const { n, fits } of lookAt(desk, filter)) {
    const line = fits && desk.log.line(n);
    if (line && entries.push(JSON.stringify(harEntry(line))) === limit) break;
  }
  return jsonText(harText(entries.reverse()));
}

/** The rows that are most like a path that is not there. */
async function nearestTo({ endpoints }: ControlDesk, line: TrafficLine): Promise<readonly string[]> {
  if (!isUnmatched(line)) return [];
  const { explainUnknownPath } = await import("../http/unknown-path.ts");
  const path = line.target.split("?", 1)[0] ?? "";
  const isControl = path.startsWith("/__sim");
  const known = (await endpoints()).filter((it) => isControl || it.family !== "control");
  return explainUnknownPath(known, path).nearest;
}

async function one(desk: ControlDesk, call: Call): Promise<Reply> {
  const n = pathNumber(call, "n", "request");
  const line = desk.log.line(n);
  if (!line) throw new SimError("not_found", `there is no request ${n}`);
  const answer: ShownRequestInFull = { ...showInFull(line), nearest: await nearestTo(desk, line) };
  return json(answer);
}

const rows: readonly ControlRow<ControlDesk>[] = [
  [
    "GET",
    "/__sim/requests",
    "The journal, newest first: project, partition, outcome=answered|rejected|unmatched, filter, before, since, limit",
    list,
  ],
  [
    "GET",
    "/__sim/requests.har",
    "The journal as HAR 1.2: project, partition, outcome, filter, since, until, limit",
    har,
  ],
  [
    "GET",
    "/__sim/requests/:n",
    "One request: headers (secrets masked), raw and decoded body, the answer with its headers, and the events it carried",
    one,
  ],
];

export const requestEndpoints = (desk: ControlDesk): Endpoint[] => endpointsOf(rows, desk);
