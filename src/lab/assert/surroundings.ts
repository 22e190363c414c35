import { setImmediate as turn } from "node:timers/promises";
import { type ErrorCode, SimError } from "../../kernel/base/errors.ts";
import { inSlices } from "../../kernel/base/work.ts";
import { headerIn } from "../../kernel/http/client-address.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { EventFilter } from "../../state/journal/log/traffic-log.ts";
import { countsFor, slice } from "../../state/journal/search.ts";
import { showEvent } from "../../state/journal/show.ts";
import type { TrafficLine } from "../../state/journal/traffic.ts";
import { isUnmatched } from "../../state/journal/unmatched.ts";
import { indexFilter } from "./dispatcher.ts";
import { type KeyUse, keysInReport, keyUse } from "./ended-keys.ts";
import { joinSignals } from "./event-watch.ts";
import { type Evaluation, fitsEvent, sightingOf } from "./match/evaluate.ts";
import { reportOf } from "./match/failure-report.ts";
import type { Complaint, Sighting, Surroundings } from "./match/report-shapes.ts";
import type { Pattern, Terms, Verdict } from "./match/types.ts";
import type { AssertPorts } from "./ports.ts";
import { mostSearched, newest, type RequestsSeen } from "./recent-requests.ts";

/** The part of the log that counts: a project's events, or all, after a cursor. */
export interface LogScope {
  project: number | undefined;
  since: number;
}

interface ReportSubject {
  match: Pattern | undefined;
  scope: LogScope;
  outcome: "kept" | "dropped";
  /** The end of the wait: the cursor, and the sim's time in ms. */
  until: number;
  endedAt: number;
  waited: number | null;
  url: string;
}

type Ports = AssertPorts;

const mostListed = 10;

/** How late it came; undefined for a request that was already in flight. */
function lateness({ received_at }: Sighting, endedAt: number): { ms_late?: number } {
  const ms = Date.parse(received_at) - endedAt;
  return ms > 0 ? { ms_late: ms } : {};
}

/** True for projects of tests. Events in another test's project do not explain a failure. */
function isOfTest(worlds: Ports["worlds"], id: number | undefined): boolean {
  if (id === undefined) return false;
  const project = worlds.projectById(id);
  return project === undefined || project.ephemeral !== undefined;
}

async function sightings(
  { log, worlds }: Ports,
  { match, scope: { project, since }, outcome, until, endedAt }: ReportSubject,
): Promise<Pick<Surroundings, "early" | "late" | "elsewhere">> {
  if (match === undefined) return { early: [], late: [], elsewhere: [] };
  const find = async (filter: EventFilter, isWanted = (_: StoredEvent) => true): Promise<Sighting[]> => {
    const fits = (event: StoredEvent) => isWanted(event) && fitsEvent(match, event);
    return (await newest(log, { ...indexFilter(match), ...filter }, fits, mostListed)).map(sightingOf);
  };
  const own: EventFilter = { outcome, project };
  const early = since === 0 ? [] : await find({ ...own, until: since });
  const late = await find({ ...own, since: Math.max(until, since) });
  const isElsewhere = ({ project: other }: StoredEvent) =>
    other !== null && other !== project && !(isOfTest(worlds, project) && isOfTest(worlds, other));
  const elsewhere = project === undefined ? [] : await find({ outcome: "kept", since }, isElsewhere);
  const keyOf = (id: number | null) => (id === null ? undefined : worlds.projectById(id)?.api_key);
  return {
    early,
    late: late.map((it) => ({ ...it, ...lateness(it, endedAt) })),
    elsewhere: elsewhere.map((it) => ({ ...it, api_key: keyOf(it.project) ?? null })),
  };
}

type Sender = Surroundings["senders"][number];

const productPattern = /^([\w.@/-]*posthog[\w.@/-]*?)\/([\w.+-]+)/i;

/** From `posthog-node/5.70.0`, a header of SDKs. */
function senderIn(text: string | undefined): Sender | undefined {
  const [, lib, version] = productPattern.exec(text ?? "") ?? [];
  return lib === undefined || version === undefined ? undefined : { lib, version };
}

/** The library that sent a request, by its first event, else by the headers. */
function senderOf(line: TrafficLine): Sender | undefined {
  const properties = line.events && line.events.length > 0 ? showEvent(line, 0).properties : {};
  const { $lib: lib, $lib_version: version } = properties;
  if (typeof lib === "string") return { lib, version: typeof version === "string" ? version : null };
  return senderIn(headerIn(line.headers, "posthog-sdk-info")) ?? senderIn(headerIn(line.headers, "user-agent"));
}

/** Requests of the scope after the cursor, and those without a project, newest first. */
export async function* requestsAfter(ports: Ports, { project, since }: LogScope): AsyncGenerator<TrafficLine> {
  const { log } = ports;
  let searched = 0;
  for (const n of log.requests({})) {
    const line = await inSlices(log.reading(n));
    if (line?.seq !== undefined && line.seq <= since) return;
    if (line && (project === undefined || countsFor(ports, line, project))) yield line;
    if (++searched >= mostSearched) return;
    if (searched % slice === 0) await turn();
  }
}

async function requestsSeen(ports: Ports, scope: LogScope): Promise<RequestsSeen> {
  const rejected: Surroundings["rejected"] = [];
  const unmatched: Surroundings["unmatched"] = [];
  const senders = new Map<string, Sender>();
  const touched = new Map<string, number>();
  const uses: KeyUse[] = [];
  let requests = 0;
  for await (const line of requestsAfter(ports, scope)) {
    const use = keyUse(ports, line, scope.project);
    if (use) uses.push(use);
    // what ended projects send late explains nothing
    if (use?.isLate) continue;
    requests++;
    const { n, method, target } = line;
    const { hint } = line.rejected ?? {};
    if (isUnmatched(line)) unmatched.push({ n, method, target, ...(hint !== undefined && { hint }) });
    else if (line.rejected) rejected.push({ n, method, target, ...line.rejected });
    const sender = senders.size < mostListed ? senderOf(line) : undefined;
    if (sender) senders.set(`${sender.lib} ${sender.version}`, sender);
    for (const name of line.fault?.split(", ") ?? []) touched.set(name, (touched.get(name) ?? 0) + 1);
  }
  return {
    rejected: rejected.slice(0, mostListed),
    unmatched: unmatched.slice(0, mostListed),
    requests,
    senders: [...senders.values()],
    touched,
    ...keysInReport(uses),
  };
}

function faultsOf({ faults }: Ports, { project }: LogScope, touched: ReadonlyMap<string, number>) {
  const named = new Map<string, number>();
  for (const { name, state, match } of faults.list()) {
    const concerns = project === undefined || match.project === undefined || match.project === project;
    const times = touched.get(name) ?? 0;
    if ((state === "active" && concerns) || times > 0) named.set(name, times);
  }
  return [...named].map(([name, times]) => ({ name, touched: times }));
}

function projectOf({ worlds }: Ports, { project: id }: LogScope): Surroundings["project"] {
  if (id === undefined) return null;
  const project = worlds.projectById(id);
  // it may be deleted during the wait
  return { id, name: project?.name ?? "(deleted)", api_key: project?.api_key ?? "" };
}

export async function surroundingsOf(ports: Ports, subject: ReportSubject): Promise<Surroundings> {
  const { scope, waited, url } = subject;
  const { log, gauge, inspectable, recent } = ports;
  const { touched, ...seen } = await recent.requests(JSON.stringify(scope), () => requestsSeen(ports, scope));
  // without requests after the cursor, the last one was before it
  const idle = seen.requests === 0 ? null : gauge.idleFor(scope.project);
  return {
    project: projectOf(ports, scope),
    since: scope.since,
    waited_ms: waited,
    url,
    inspectable,
    ...(await sightings(ports, subject)),
    ...seen,
    in_flight: gauge.inFlightOf(scope.project),
    last_request_ms_ago: idle === null ? null : Math.round(idle),
    faults: faultsOf(ports, scope, touched),
    evicted: log.lost(scope.since, scope.project),
  };
}

export interface Wait {
  terms: Terms;
  scope: LogScope;
  outcome: "kept" | "dropped";
  timeout: number;
  /** First line of the report. */
  title: string;
}

interface Failed {
  wait: Wait;
  evaluation: Evaluation;
  waited: number;
  /** The sim's address as the caller knows it. */
  url: string;
  /** Ends when the caller goes away or the sim closes. */
  gone: AbortSignal;
  /** Events with keys that no project has. */
  shared?: readonly Complaint[];
}

/** Time for requests in flight to end, ms: the report then shows that their events came too late. */
const grace = 250;

async function letEnd({ gauge }: AssertPorts, project: number | undefined, gone: AbortSignal): Promise<void> {
  if (gauge.inFlightOf(project) === 0) return;
  const over = joinSignals([gone], grace);
  await gauge.drained(over.signal, project).catch(() => {});
  over.release();
}

function firstMissed({ complaints }: Verdict, { expect }: Terms): Pattern | undefined {
  for (const complaint of complaints) if ("expectation" in complaint) return expect[complaint.expectation]?.match;
  return undefined;
}

/** Remembers missing events, which can still come. */
function remember({ lateEvents }: AssertPorts, { scope, outcome, terms }: Wait, verdict: Verdict): void {
  for (const complaint of verdict.complaints) {
    if (complaint.kind !== "too_few") continue;
    lateEvents.remember({ match: terms.expect[complaint.expectation]?.match, ...scope, outcome });
  }
}

export async function failure(
  ports: AssertPorts,
  code: Extract<ErrorCode, "wait_timeout" | "expectation_failed">,
  { wait, evaluation, gone, url, waited: elapsed, shared = [] }: Failed,
): Promise<SimError> {
  const { log, closing, clock, recent } = ports;
  const { terms, title, scope, outcome, timeout } = wait;
  const waited = Math.round(elapsed);
  const cursor = log.lastSeq;
  const data = { waited_ms: waited, cursor };
  if (gone.aborted) {
    const detail = closing.aborted ? "the sim is closing" : "the caller went away";
    return new SimError(code, detail, { data });
  }
  const endedAt = clock.now();
  const evaluated = evaluation.verdict();
  const verdict = { ...evaluated, complaints: [...evaluated.complaints, ...shared] };
  if (timeout > 0) await letEnd(ports, scope.project, gone);
  const match = firstMissed(verdict, terms);
  const subject: ReportSubject = { match, scope, outcome, until: cursor, endedAt, waited, url };
  const { project, since } = scope;
  const filter: EventFilter = { since, until: cursor, project };
  const report = reportOf({
    title,
    terms,
    verdict,
    kept: await recent.events({ ...filter, outcome: "kept" }),
    dropped: await recent.events({ ...filter, outcome: "dropped" }),
    surroundings: await surroundingsOf(ports, subject),
  });
  if (timeout > 0 && report.late.length === 0 && !gone.aborted) remember(ports, wait, verdict);
  const [detail = ""] = report.text.split("\n", 1);
  return new SimError(code, detail, { data: { ...data, report } });
}
