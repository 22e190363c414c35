import { isoOf } from "../../kernel/base/clock.ts";
import { SimError } from "../../kernel/base/errors.ts";
import { inSlices, itemsPerStep, type Work } from "../../kernel/base/work.ts";
import { headerIn } from "../../kernel/http/client-address.ts";
import { pathNumber } from "../../kernel/http/control-body.ts";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import { isControlPath } from "../../kernel/http/family.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import type { StoredEvent } from "./event.ts";
import { parseRequestFilter } from "./filter-parameter.ts";
import { headOf, type RequestHead } from "./log/traffic-log.ts";
import { RequestInFull, RequestListQuery, RequestPage, type SimRequest } from "./request-shapes.ts";
import { resultsOf } from "./results.ts";
import { createBudget, examineRequests, type RequestSearchPorts, type RequestSelection } from "./search.ts";
import { showEvent } from "./show.ts";
import { projectHeader, replyHeadersOf, type TrafficLine } from "./traffic.ts";
import { isUnmatched } from "./unmatched.ts";

export interface RequestPorts extends RequestSearchPorts {
  endpoints(): Promise<readonly Endpoint[]>;
}

const showInList = (line: RequestHead): SimRequest => ({
  n: line.n,
  at: isoOf(line.at),
  method: line.method,
  target: line.target,
  status: line.status,
  ms: line.us / 1000,
  project: line.project,
  outcome: line.rejected ? "rejected" : "answered",
  rejected: line.rejected ?? null,
  fault: line.fault ?? null,
  scripted: line.scripted === true,
  source: line.source ?? null,
  partition: line.partition ?? null,
  events: line.carried,
  dropped: line.dropped,
});

const pairs = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? "", flat[2 * i + 1] ?? ""]);

function* showInFull(line: TrafficLine): Work<Omit<RequestInFull, "nearest">> {
  const carried: StoredEvent[] = [];
  for (let i = 0; i < (line.events ?? []).length; i++) {
    carried.push(showEvent(line, i));
    if (i % itemsPerStep === 0) yield;
  }
  return {
    ...showInList(headOf(line)),
    peer: line.peer,
    project_header: headerIn(line.headers, projectHeader) ?? null,
    headers: pairs(line.headers),
    decode_steps: line.steps ?? [],
    raw: line.raw ?? null,
    body: line.body ?? null,
    reply_headers: pairs(replyHeadersOf(line)),
    reply: line.reply ?? null,
    carried,
    results: resultsOf(line),
  };
}

async function pageOf(ports: RequestPorts, selection: RequestSelection, limit: number): Promise<RequestPage> {
  const isSpent = createBudget();
  const requests: SimRequest[] = [];
  for await (const { n, head } of examineRequests(ports, selection)) {
    if (head) requests.push(showInList(head));
    if (requests.length === limit || isSpent(ports.log.sizeOf(n))) return { requests, before: n };
  }
  return { requests, before: null };
}

async function nearestTo({ endpoints }: RequestPorts, line: TrafficLine): Promise<readonly string[]> {
  if (!isUnmatched(line)) return [];
  const { explainUnknownPath } = await import("../../kernel/http/unknown-path.ts");
  const path = line.target.split("?", 1)[0] ?? "";
  const isControl = isControlPath(path);
  const known = (await endpoints()).filter((it) => isControl || it.family !== "control");
  return explainUnknownPath(known, path).nearest;
}

export const requestSlice = slice(["log", "clock", "worlds", "endpoints"], (ports: RequestPorts) => [
  row({
    method: "GET",
    path: "/__sim/requests",
    access: "control",
    summary: "Lists the requests of the journal, newest first",
    query: RequestListQuery,
    reply: RequestPage,
    handle: ({ query: { filter, limit, ...selection } }) =>
      pageOf(ports, { ...selection, filter: parseRequestFilter(filter) }, limit),
  }),
  row({
    method: "GET",
    path: "/__sim/requests/:n",
    access: "control",
    summary:
      "Returns one request: headers (secrets masked), raw and decoded body, the response with its headers, and its events",
    errors: [404],
    reply: RequestInFull,
    async handle({ call }) {
      const n = pathNumber(call, "n", "request");
      const line = await inSlices(ports.log.reading(n));
      if (!line) throw new SimError("not_found", `there is no request ${n}`);
      return { ...(await inSlices(showInFull(line))), nearest: await nearestTo(ports, line) };
    },
  }),
]);
