import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { json, type Reply } from "../http/reply.ts";
import { codesOfFacet, isProblemFacet } from "../store/facets.ts";
import type { IndexedRequest, RequestHead, TrafficLog } from "../store/traffic-log.ts";
import { type Count, type Counter, continueCounting, freshCount, oneByOne, progressOf } from "./counting.ts";
import type { ControlDesk } from "./desk.ts";
import { projectIn } from "./feed/asked.ts";
import type { EventProblem, Problems, RequestProblem } from "./problems-answer.ts";
import { type ControlRow, endpointsOf } from "./rows.ts";

/** Kinds of rejected requests that are listed separately: a scan for paths would make any number of them. */
const mostKinds = 500;

/** A problem of a project, with the project's number; 0: of none. */
type Of<Problem> = { -readonly [Key in keyof Problem]: Problem[Key] } & { readonly project: number };

type Refused = Pick<RequestHead, "n" | "method" | "target" | "status" | "project" | "rejected">;

interface EventCount extends Count {
  readonly problems: Map<string, Of<EventProblem>>;
}

interface RequestCount extends Count {
  readonly problems: Map<string, Of<RequestProblem>>;
  /** Requests of kinds that are too many, by project. */
  readonly others: Map<number, number>;
}

/** An event that was dropped stands for its reason, one that was kept for each of its warnings. */
const eventCounter = (log: TrafficLog): Counter<EventCount> => ({
  // What was found stays, also after the file let go of its oldest part.
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

/** Each path that does not exist is a mistake of its own, and each thing that is wrong with a body. */
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
    const rejected = oneByOne<IndexedRequest>(
      (use) => log.eachRequest(from, to, { rejected: true }, use),
      isDown,
    );
    for (const { n, isCleared } of rejected) {
      if (isCleared) continue;
      const head = log.head(n);
      if (head) addRequest(count, head);
      else count.isPart = true;
      yield n;
    }
  },
});

/** Problems of several projects, summed by their code. */
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

/**
 * Problems in the traffic: found by the index, and kept until they are cleared, whatever memory evicts. After a restart
 * they are those of what the data folder holds.
 */
function createProblems(log: TrafficLog) {
  const counters = { events: eventCounter(log), requests: requestCounter(log) };
  let counts = freshCounts(log);
  let working: Promise<void> = Promise.resolve();
  const begin = () => {
    counts = freshCounts(log);
  };
  log.onVeiled(begin);
  // Memory may evict a request before the problems are asked for.
  log.subscribe(({ n, entry }) => {
    const { requests } = counts;
    if (n !== requests.high + 1) return;
    requests.high = n;
    const { method, target, status, project, note } = entry;
    if (note.rejected) addRequest(requests, { n, method, target, status, project, rejected: note.rejected });
  });

  async function work(): Promise<void> {
    // Numbers that the disk refused are given out again.
    if (counts.requests.high > log.lastRequest || counts.events.high > log.lastSeq) begin();
    await continueCounting(counts.events, counters.events);
    await continueCounting(counts.requests, counters.requests);
  }

  return {
    async list(project: number | undefined): Promise<Problems> {
      working = working.then(work);
      await working;
      const isIt = (it: { readonly project: number }) => project === undefined || it.project === project;
      const { events, requests } = counts;
      // Without a project's key it may be meant for this one.
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

type Handle = (problems: ReturnType<typeof createProblems>, call: Call) => Promise<Reply> | Reply;

const list: Handle = async (problems, call) => json({ ...(await problems.list(projectIn(call))) });

const clear: Handle = (problems, call) => {
  problems.clear(projectIn(call));
  return json({ cleared: true });
};

const path = "/__sim/problems";

const rows: readonly ControlRow<ReturnType<typeof createProblems>>[] = [
  ["GET", path, "Why events were dropped or warned about, and why requests were rejected: project", list],
  [
    "DELETE",
    path,
    "Clears the problems found up to now, of one project or of all; events and requests stay",
    clear,
  ],
];

/** What went wrong in the traffic, by its reasons. */
export const problemEndpoints = ({ log }: Pick<ControlDesk, "log">): Endpoint[] =>
  endpointsOf(rows, createProblems(log));
