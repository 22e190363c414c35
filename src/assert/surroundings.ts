import type { StoredEvent } from "../journal/event.ts";
import type { EventFilter, TrafficLog } from "../journal/log/traffic-log.ts";
import { searchEvents } from "../journal/search.ts";
import type { ControlDesk } from "../sim/control-desk.ts";
import { distinctIdIn, namesIn } from "./asked-pattern.ts";
import { fitsEvent, sightingOf } from "./match/judge.ts";
import type { Pattern, Sighting, Surroundings } from "./match/types.ts";
import { mostNamed, reach, requestsSeen } from "./requests-seen.ts";
import type { Scope } from "./wish.ts";

/** What is told about. */
export interface About {
  /** What the events that count would be like; undefined: no event in particular. */
  match: Pattern | undefined;
  scope: Scope;
  outcome: "kept" | "dropped";
  /** When it was over: where the log ended, and the sim's time in ms. */
  until: number;
  endedAt: number;
  waited: number | null;
  /** The sim's address as the caller knows it. */
  url: string;
}

export type SurroundingsDesk = Pick<ControlDesk, "log" | "worlds" | "faults" | "gauge" | "inspectable">;

/** The newest events of a filter that satisfy the condition, oldest first; not all of the past is looked at. */
export async function newest(
  log: TrafficLog,
  filter: EventFilter,
  suits: (event: StoredEvent) => boolean,
  most: number,
): Promise<StoredEvent[]> {
  const found: StoredEvent[] = [];
  let looked = 0;
  for await (const event of searchEvents(log, { ...filter, order: "desc" })) {
    if (suits(event)) found.push(event);
    if (found.length >= most || ++looked >= reach) break;
  }
  return found.reverse();
}

/** What the index can tell of a pattern. */
function indexFilter(match: Pattern): EventFilter {
  const [name, ...others] = namesIn([match]) ?? [];
  const id = distinctIdIn([match]);
  return {
    ...(name !== undefined && others.length === 0 && { event: name }),
    ...(id !== undefined && { distinct_id: id }),
  };
}

/** How much too late it was; a request that was on its way already is not late by its arrival. */
function lateness({ received_at }: Sighting, endedAt: number): { ms_late?: number } {
  const ms = Date.parse(received_at) - endedAt;
  return ms > 0 ? { ms_late: ms } : {};
}

/** Was it made for a test? What a neighbour captured in its own project says nothing about another test's. */
function isTests(worlds: SurroundingsDesk["worlds"], id: number | undefined): boolean {
  if (id === undefined) return false;
  const project = worlds.projectById(id);
  return project === undefined || project.ephemeral !== undefined;
}

type Sightings = Pick<Surroundings, "early" | "late" | "elsewhere">;

/** Events like the pattern that did not count: of another time, or another project. */
async function sightings({ log, worlds }: SurroundingsDesk, about: About): Promise<Sightings> {
  const { match, scope, outcome, until, endedAt } = about;
  const { project, since } = scope;
  if (match === undefined) return { early: [], late: [], elsewhere: [] };
  const find = async (filter: EventFilter, where: (event: StoredEvent) => boolean): Promise<Sighting[]> => {
    const isIt = (event: StoredEvent) => where(event) && fitsEvent(match, event);
    return (await newest(log, { ...indexFilter(match), ...filter }, isIt, mostNamed)).map(sightingOf);
  };
  const own: EventFilter = { outcome, ...(project !== undefined && { project }) };
  const early = since === 0 ? [] : await find({ ...own, until: since }, () => true);
  const late = await find({ ...own, since: Math.max(until, since) }, () => true);
  const isElsewhere = ({ project: other }: StoredEvent) =>
    other !== null && other !== project && !(isTests(worlds, project) && isTests(worlds, other));
  const elsewhere = project === undefined ? [] : await find({ outcome: "kept", since }, isElsewhere);
  const keyOf = (id: number | null) => (id === null ? undefined : worlds.projectById(id)?.api_key);
  return {
    early,
    late: late.map((it) => ({ ...it, ...lateness(it, endedAt) })),
    elsewhere: elsewhere.map((it) => ({ ...it, api_key: keyOf(it.project) ?? null })),
  };
}

/** Faults that could touch the scope or did. */
function faultsOf({ faults }: SurroundingsDesk, { project }: Scope, touched: ReadonlyMap<string, number>) {
  const named = new Map<string, number>();
  for (const { name, state, match } of faults.list()) {
    const concerns = project === undefined || match.project === undefined || match.project === project;
    const times = touched.get(name) ?? 0;
    if ((state === "active" && concerns) || times > 0) named.set(name, times);
  }
  return [...named].map(([name, times]) => ({ name, touched: times }));
}

function projectOf({ worlds }: SurroundingsDesk, { project: id }: Scope): Surroundings["project"] {
  if (id === undefined) return null;
  const project = worlds.projectById(id);
  // deleted while it was waited for
  return { id, name: project?.name ?? "(deleted)", api_key: project?.api_key ?? "" };
}

/** What else there is to know when events did not come as they were wanted. */
export async function surroundingsOf(desk: SurroundingsDesk, about: About): Promise<Surroundings> {
  const { scope, waited, url } = about;
  const { log, gauge } = desk;
  const { touched, ...seen } = await requestsSeen(desk, scope);
  // of requests before the cursor, or of a log that was emptied, the journal tells nothing either
  const idle = seen.requests === 0 ? null : gauge.idleFor(scope.project);
  return {
    project: projectOf(desk, scope),
    since: scope.since,
    waited_ms: waited,
    url,
    inspectable: desk.inspectable,
    ...(await sightings(desk, about)),
    ...seen,
    in_flight: gauge.inFlightOf(scope.project),
    last_request_ms_ago: idle === null ? null : Math.round(idle),
    faults: faultsOf(desk, scope, touched),
    evicted: log.lost(scope.since, scope.project),
  };
}
