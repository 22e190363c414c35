import type { RequestSummary } from "../index.ts";
import { fixFor, fixForPath } from "../kernel/rejection-fixes.ts";

/** Something that went wrong without anybody wanting it to: alike ones count as one. */
export interface Mishap {
  readonly kind: "dropped" | "rejected" | "unmatched";
  /** The event's name, or method and path. */
  readonly what: string;
  readonly reason: string;
  readonly sentence: string;
  readonly fix: string;
  readonly count: number;
  /** How many of them each project has: `project 7 "checkout › a purchase"`, by the name of its test. */
  readonly projects: ReadonlyMap<string, number>;
}

/** What came of a run's traffic. */
export interface Tally {
  add(request: RequestSummary): void;
  readonly counts: Readonly<Record<CountName, number>>;
  /** In the order of their first times. */
  mishaps(): Mishap[];
  /** Names of the faults that touched requests, with how many. */
  faults(): [name: string, requests: number][];
}

type CountName = "kept" | "dropped" | "requests" | "flags" | "rejected" | "unmatched";

const flagPath = /^\/(?:flags|decide)(?:[/?]|$)|\/local_evaluation(?:[/?]|$)/;

/** Kinds of mishaps that are told apart; beyond that they are counted only. */
const mostKinds = 1000;

/** Refusals that nobody got wrong, and those that the tape's summary tells. */
const madeOnPurpose: ReadonlySet<string> = new Set(["fault", "script", "tape", "tape_miss"]);

/** Made on purpose, by a fault or a script, or recorded so. */
const isWanted = ({ rejected, fault, scripted }: RequestSummary): boolean =>
  fault !== undefined || scripted === true || madeOnPurpose.has(rejected?.reason ?? "");

const projectsOf = ({ project, project_name }: RequestSummary): Mishap["projects"] =>
  new Map(
    project === null || project_name === undefined
      ? []
      : [[`project ${project} ${JSON.stringify(project_name)}`, 1]],
  );

/** The counts of both. */
function together(a: Mishap["projects"], b: Mishap["projects"]): Mishap["projects"] {
  const sum = new Map(a);
  for (const [name, count] of b) sum.set(name, (sum.get(name) ?? 0) + count);
  return sum;
}

const placeOf = ({ method, target }: RequestSummary): string => `${method} ${target.split("?", 1)[0]}`;

function mishapsOf(request: RequestSummary, projectKey: string): Mishap[] {
  if (isWanted(request)) return [];
  const one = { count: 1, projects: projectsOf(request) };
  const dropped = request.dropped.map(
    ({ event, ...why }): Mishap => ({ kind: "dropped", what: event || "(no name)", ...why, ...one }),
  );
  const { rejected, unmatched } = request;
  if (!rejected) return dropped;
  const { reason, detail } = rejected;
  const sort = unmatched
    ? ({ kind: "unmatched", fix: fixForPath(request.target) } as const)
    : ({ kind: "rejected", fix: fixFor(reason, projectKey) } as const);
  return [...dropped, { ...sort, what: placeOf(request), reason, sentence: detail, ...one }];
}

/** Counts requests as they come. @param projectKey Named in the advice for requests with an unknown key */
export function createTally(projectKey: string): Tally {
  const counts: Record<CountName, number> = {
    kept: 0,
    dropped: 0,
    requests: 0,
    flags: 0,
    rejected: 0,
    unmatched: 0,
  };
  const mishaps = new Map<string, Mishap>();
  const faults = new Map<string, number>();
  const remember = (mishap: Mishap): void => {
    const { kind, what, reason } = mishap;
    counts[kind]++;
    const sort = `${kind} ${reason} ${what}`;
    const known = mishaps.get(sort);
    if (known)
      mishaps.set(sort, {
        ...known,
        count: known.count + 1,
        projects: together(known.projects, mishap.projects),
      });
    else if (mishaps.size < mostKinds) mishaps.set(sort, mishap);
  };
  return {
    counts,
    mishaps: () => [...mishaps.values()],
    faults: () => [...faults],
    add(request) {
      counts.requests++;
      counts.kept += request.events - request.dropped.length;
      if (flagPath.test(request.target)) counts.flags++;
      if (request.fault !== undefined) faults.set(request.fault, (faults.get(request.fault) ?? 0) + 1);
      for (const mishap of mishapsOf(request, projectKey)) remember(mishap);
    },
  };
}
