import { z } from "zod";
import { row } from "../kernel/http/row.ts";
import { slice } from "../kernel/http/slice.ts";
import {
  type Counter,
  continueCounting,
  freshCount,
  oneByOne,
  progressOf,
  type RowCount,
} from "../state/journal/counting.ts";
import { codesOfFacet, isProblemFacet } from "../state/journal/log/facets.ts";
import type { IndexedRequest, RequestHead, TrafficLog } from "../state/journal/log/traffic-log.ts";
import { type EventProblem, ProblemQuery, Problems, type RequestProblem } from "./problem-shapes.ts";

/** Kinds of rejected requests that are listed separately; a scan for paths could make any number of them. */
const mostKinds = 500;

/** A problem with the id of its project; 0: none. */
type Of<Problem> = { -readonly [Key in keyof Problem]: Problem[Key] } & { readonly project: number };

type Refused = Pick<RequestHead, "n" | "method" | "target" | "status" | "project" | "rejected">;

interface EventCount extends RowCount {
  readonly problems: Map<string, Of<EventProblem>>;
}

interface RequestCount extends RowCount {
  readonly problems: Map<string, Of<RequestProblem>>;
  readonly others: Map<number, number>;
}

/** Counts a dropped event for its reason, a kept one for each of its warnings. */
const eventCounter = (log: TrafficLog): Counter<EventCount> => ({
  // problems stay after the oldest part of the file is removed
  first: () => log.firstSeq,
  last: () => log.lastSeq,
  *range({ problems }, from, to) {
    log.eachEvent(from, to, {}, ({ seq, project, isDropped, facet }) => {
      if (!isProblemFacet(facet)) return;
      const codes = codesOfFacet(facet);
      for (const code of isDropped ? codes.slice(0, 1) : codes) {
        const key = `${project} ${code}`;
        const known = problems.get(key) ?? { project, code, count: 0, dropped: 0, last: 0 };
        known.count++;
        if (isDropped) known.dropped++;
        known.last = Math.max(known.last, seq);
        problems.set(key, known);
      }
    });
  },
});

function problemOf({ n, method, target, status, project, rejected }: Refused): Of<RequestProblem> {
  const { reason = "", detail = "", hint } = rejected ?? {};
  const path = target.split("?", 1)[0] ?? "";
  return {
    project: project ?? 0,
    reason,
    detail,
    ...(hint !== undefined && { hint }),
    status,
    what: `${method} ${path}`,
    count: 0,
    last: n,
  };
}

/** Each unknown path is one problem, and each mistake in a body. */
const kindOf = ({ project, reason, detail, status, what }: Of<RequestProblem>): string =>
  `${project} ${status === 404 ? `404 ${what.slice(what.indexOf(" "))}` : `${reason} ${detail}`}`;

function addRequest({ problems, others }: RequestCount, head: Refused): void {
  const found = problemOf(head);
  const key = kindOf(found);
  const known = problems.get(key);
  if (!known && problems.size >= mostKinds) {
    others.set(found.project, (others.get(found.project) ?? 0) + 1);
    return;
  }
  const count = (known?.count ?? 0) + 1;
  problems.set(key, known && known.last > found.last ? { ...known, count } : { ...found, count });
}

const requestCounter = (log: TrafficLog): Counter<RequestCount> => ({
  first: () => log.firstRequest,
  last: () => log.lastRequest,
  *range(count, from, to, isDown) {
    const rejected = oneByOne<IndexedRequest>((use) => log.eachRequest(from, to, { rejected: true }, use), isDown);
    for (const { n, isCleared } of rejected) {
      if (isCleared) continue;
      const head = log.head(n);
      if (head) addRequest(count, head);
      else count.isPart = true;
      yield n;
    }
  },
});

function summed(found: Iterable<Of<EventProblem>>): EventProblem[] {
  const sums = new Map<string, EventProblem>();
  for (const { project: _, ...it } of found) {
    const known = sums.get(it.code) ?? { ...it, count: 0, dropped: 0 };
    const [count, dropped] = [known.count + it.count, known.dropped + it.dropped];
    sums.set(it.code, { ...it, count, dropped, last: Math.max(known.last, it.last) });
  }
  return [...sums.values()].sort((a, b) => b.count - a.count || b.last - a.last);
}

const freshCounts = (log: TrafficLog) => ({
  events: { ...freshCount(log.lastSeq), problems: new Map() } satisfies EventCount,
  requests: { ...freshCount(log.lastRequest), problems: new Map(), others: new Map() } satisfies RequestCount,
});

/** They are kept until they are cleared, also when memory evicts their requests; after a restart, the data folder's. */
function createProblems(log: TrafficLog) {
  const counters = { events: eventCounter(log), requests: requestCounter(log) };
  let counts = freshCounts(log);
  let working: Promise<void> = Promise.resolve();
  const begin = () => {
    counts = freshCounts(log);
  };
  log.onVeiled(begin);
  // memory may evict a request before the problems are listed
  log.subscribe(({ n, entry }) => {
    const { requests } = counts;
    if (n !== requests.high + 1) return;
    requests.high = n;
    const { method, target, status, project, record } = entry;
    const { rejected } = record;
    if (rejected) addRequest(requests, { n, method, target, status, project, rejected });
  });

  async function work(): Promise<void> {
    // numbers are used again after a failed write
    if (counts.requests.high > log.lastRequest || counts.events.high > log.lastSeq) begin();
    await continueCounting(counts.events, counters.events);
    await continueCounting(counts.requests, counters.requests);
  }

  return {
    async list(project: number | undefined): Promise<Problems> {
      const done = working.then(work);
      working = done.catch(() => {});
      await done;
      const isIt = (it: { readonly project: number }) => project === undefined || it.project === project;
      const { events, requests } = counts;
      // a request without a project's key may belong to this one
      const mayBe = (it: { readonly project: number }) => isIt(it) || it.project === 0;
      const parts = [progressOf(events, counters.events), progressOf(requests, counters.requests)];
      const others = [...requests.others].filter(([of]) => mayBe({ project: of }));
      return {
        complete: parts.every((it) => it.complete),
        counting: parts.some((it) => it.counting),
        events: summed([...events.problems.values()].filter(isIt)),
        requests: [...requests.problems.values()]
          .filter(mayBe)
          .sort((a, b) => b.last - a.last)
          .map(({ project: _, ...it }) => it),
        other_requests: others.reduce((sum, [, count]) => sum + count, 0),
      };
    },
    /** @throws the system's error */
    clear(project: number | undefined): void {
      log.clearProblems(project);
      if (project !== undefined && project !== 0) log.clearProblems(0);
      begin();
    },
  };
}

export const problemSlice = slice(["log"], ({ log }: { readonly log: TrafficLog }) => {
  const problems = createProblems(log);
  return [
    row({
      method: "GET",
      path: "/__sim/problems",
      access: "control",
      summary: "Lists why events were dropped or have warnings, and why requests were rejected",
      query: ProblemQuery,
      reply: Problems,
      handle: ({ query }) => problems.list(query.project),
    }),
    row({
      method: "DELETE",
      path: "/__sim/problems",
      access: "control",
      summary: "Clears the problems up to now, of one project or of all; events and requests stay",
      query: ProblemQuery,
      reply: z.strictObject({ cleared: z.literal(true) }),
      handle({ query }) {
        problems.clear(query.project);
        return { cleared: true as const };
      },
    }),
  ];
});
