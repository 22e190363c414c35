import type { TimeSource } from "../../kernel/base/clock.ts";
import { isoOf } from "../../kernel/base/clock.ts";
import { inSlices, type Stepwise } from "../../kernel/base/work.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { type Counter, countsOf, eventCounter, freshCount, isTwice, oneByOne, type RowCount } from "./counting.ts";
import { passedRequest } from "./feed/make-rows.ts";
import type { EventSubject, Filter, RequestSubject } from "./filter/types.ts";
import { parseEventFilter, parseRequestFilter } from "./filter-parameter.ts";
import { codesOfFacet } from "./log/facets.ts";
import type { IndexedEvent, IndexedRequest, TrafficLog } from "./log/traffic-log.ts";
import {
  type CodeTotal,
  type EventTotals,
  type NameTotal,
  type RequestTotals,
  Totals,
  TotalsQuery,
} from "./totals-answer.ts";

interface TotalsPorts {
  readonly log: TrafficLog;
  readonly clock: TimeSource;
  readonly people: { counts(project?: number): { readonly persons: number } };
}

const mostCounts = 16;
const mostNames = 10_000;
const namesListed = 50;

interface Sum {
  count: number;
  dropped: number;
  last: number;
  n: number;
}

interface EventCount extends RowCount {
  kept: number;
  dropped: number;
  warned: number;
  /** By the hash of the name; collisions are very unlikely. */
  readonly names: Map<number, Sum>;
  readonly codes: Map<string, Sum>;
  areNamesCut: boolean;
}

interface RequestCount extends RowCount {
  answered: number;
  rejected: number;
}

function addTo<Key>(sums: Map<Key, Sum>, key: Key, { seq, n, isDropped }: IndexedEvent): void {
  const sum = sums.get(key);
  const dropped = isDropped ? 1 : 0;
  if (!sum) sums.set(key, { count: 1, dropped, last: seq, n });
  else {
    sum.count++;
    sum.dropped += dropped;
    if (seq > sum.last) [sum.last, sum.n] = [seq, n];
  }
}

function addEvent(count: EventCount, it: IndexedEvent): void {
  const codes = codesOfFacet(it.facet);
  if (it.isDropped) count.dropped++;
  else {
    count.kept++;
    if (codes.length > 0) count.warned++;
  }
  if (count.names.has(it.name) || count.names.size < mostNames) addTo(count.names, it.name, it);
  else count.areNamesCut = true;
  for (const code of codes) addTo(count.codes, code, it);
}

function requestCounter(
  { log, clock }: TotalsPorts,
  filter: Filter<RequestSubject>,
  project: number | undefined,
): Counter<RequestCount> {
  const { rejected } = filter.indexed;
  const ofProject = project ?? filter.indexed.project;
  const within = {
    ...(ofProject !== undefined && { project: ofProject }),
    ...(rejected !== undefined && { rejected }),
  };
  const isIndexed = filter.isIndexed && !isTwice(filter, project);
  const add = (count: RequestCount, { isRejected }: IndexedRequest) => {
    if (isRejected) count.rejected++;
    else count.answered++;
  };
  const now = clock.now();
  function* range(count: RequestCount, from: number, to: number, isDown: boolean) {
    if (isIndexed) return log.eachRequest(from, to, within, (it) => add(count, it));
    for (const it of oneByOne<IndexedRequest>((use) => log.eachRequest(from, to, within, use), isDown)) {
      const head = log.head(it.n);
      if (!head) count.isPart = true;
      else if (yield* passedRequest(log, head, filter, now)) add(count, it);
      yield it.n;
    }
  }
  return { first: () => log.firstRequest, last: () => log.lastRequest, range };
}

const byCount = ([, a]: readonly [unknown, Sum], [, b]: readonly [unknown, Sum]): number =>
  b.count - a.count || b.last - a.last;

function* namesIn({ log }: TotalsPorts, names: ReadonlyMap<number, Sum>): Stepwise<NameTotal[]> {
  const found: NameTotal[] = [];
  const most = [...names].sort(byCount).slice(0, namesListed);
  for (const [hash, { count, dropped, last, n }] of most.map(([hash, sum]) => [hash, { ...sum }] as const)) {
    const event = yield* log.eventName(hash, last);
    const at = log.head(n)?.at;
    if (event === undefined) continue;
    found.push({ event, count, dropped, last, last_at: at === undefined ? null : isoOf(at) });
    yield;
  }
  return found;
}

const codesIn = (codes: ReadonlyMap<string, Sum>): CodeTotal[] =>
  [...codes].sort(byCount).map(([code, { count, dropped, last }]) => ({ code, count, dropped, last }));

function createTotals(ports: TotalsPorts) {
  const { log } = ports;
  const counts = { events: countsOf<EventCount>(log, mostCounts), requests: countsOf<RequestCount>(log, mostCounts) };
  const nameOf = (filter: Filter<unknown>, project: number | undefined) => `${project ?? ""} ${filter.text}`;

  async function eventTotals(filter: Filter<EventSubject>, project: number | undefined): Promise<EventTotals> {
    const { count, progress } = await counts.events.get(nameOf(filter, project), () => ({
      isTimed: filter.isTimed,
      counter: eventCounter<EventCount>({ log, clock: ports.clock, filter, project, add: addEvent }),
      count: {
        ...freshCount(log.lastSeq),
        kept: 0,
        dropped: 0,
        warned: 0,
        areNamesCut: false,
        names: new Map(),
        codes: new Map(),
      },
    }));
    const { kept, dropped, warned, names, areNamesCut } = count;
    const [distinct, codes] = [names.size, codesIn(count.codes)];
    const listed = await inSlices(namesIn(ports, names));
    return {
      ...progress,
      total: kept + dropped,
      kept,
      dropped,
      warned,
      names: listed,
      more_names: distinct - listed.length,
      names_complete: progress.complete && !areNamesCut,
      codes,
    };
  }

  async function requestTotals(filter: Filter<RequestSubject>, project: number | undefined): Promise<RequestTotals> {
    const { count, progress } = await counts.requests.get(nameOf(filter, project), () => ({
      isTimed: filter.isTimed,
      counter: requestCounter(ports, filter, project),
      count: { ...freshCount(log.lastRequest), answered: 0, rejected: 0 },
    }));
    const { answered, rejected } = count;
    return { ...progress, total: answered + rejected, answered, rejected };
  }

  return { eventTotals, requestTotals };
}

export const totalSlice = slice(["log", "clock", "people"], (ports: TotalsPorts) => {
  const { eventTotals, requestTotals } = createTotals(ports);
  return [
    row({
      method: "GET",
      path: "/__sim/totals",
      access: "control",
      summary: "Counts events and requests by outcome, name and reason",
      query: TotalsQuery,
      reply: Totals,
      handle: async ({ query: { project, events, requests } }) => ({
        events: await eventTotals(parseEventFilter(events, "events"), project),
        requests: await requestTotals(parseRequestFilter(requests, "requests"), project),
        persons: ports.people.counts(project).persons,
      }),
    }),
  ];
});
