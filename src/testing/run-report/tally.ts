import { fixFor } from "../../kernel/http/rejection-fixes.ts";

/** A lost event, or a rejected request. */
interface Loss {
  /** Name of the event, method and path of the request. */
  readonly what: string;
  readonly reason: string;
  readonly sentence: string;
  readonly fix: string;
}

/** The facts of a request that are counted. */
export interface CountedRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Arrival, ms since the epoch. */
  readonly at: number;
  readonly project: number | null;
  readonly projectName?: string | undefined;
  readonly rejected?: { readonly reason: string; readonly detail: string; readonly hint?: string | undefined };
  /** Rejected for an unknown path. */
  readonly unmatched: boolean;
  /** Names of the faults that affected it. */
  readonly fault?: string | undefined;
  readonly scripted: boolean;
  /** Names of the kept events. */
  readonly kept: readonly string[];
  /** Number of the kept events with warnings. */
  readonly warned: number;
  readonly dropped: readonly {
    readonly event: string;
    readonly reason: string;
    readonly sentence: string;
    readonly fix: string;
  }[];
}

/** Equal mishaps. */
export interface CountedMishap extends Loss {
  count: number;
  /** Number of them by project. */
  readonly projects: Map<number, number>;
}

/** Events of one name. */
interface NameCount {
  kept: number;
  dropped: number;
  first: number;
  last: number;
}

/** The traffic of one project. */
export interface ProjectCount {
  readonly name: string;
  requests: number;
  kept: number;
  dropped: number;
  rejected: number;
  unmatched: number;
  first: number;
  last: number;
}

type MishapKind = "dropped" | "rejected" | "unmatched";

/** The counts of a run's traffic. */
export interface Tally {
  readonly counts: Readonly<Record<CountName, number>>;
  /** In the order of their first occurrence; of many kinds the first. */
  readonly mishaps: Readonly<Record<MishapKind, ReadonlyMap<string, CountedMishap>>>;
  readonly names: ReadonlyMap<string, NameCount>;
  /** Number of events whose names were too many to be counted separately. */
  readonly otherNames: number;
  readonly projects: ReadonlyMap<number, ProjectCount>;
  /** Number of requests by the names of the faults that affected them. */
  readonly faults: ReadonlyMap<string, number>;
}

type CountName = "kept" | "warned" | "dropped" | "requests" | "flags" | "rejected" | "unmatched";

const flagPath = /^\/(?:flags|decide)(?:[/?]|$)|\/local_evaluation(?:[/?]|$)/;

/** Different mishaps, names and projects that are counted separately. */
const mostKinds = 1_000;
const mostProjects = 100_000;

/** Rejections that are intended, and those that the tape's result reports. */
const madeOnPurpose: ReadonlySet<string> = new Set(["fault", "script", "tape", "tape_miss"]);

/** True if a fault or a script made the answer, or a tape. */
const isWanted = ({ rejected, fault, scripted }: CountedRequest): boolean =>
  fault !== undefined || scripted || madeOnPurpose.has(rejected?.reason ?? "");

interface TallyRules {
  /** Named in the advice for requests with an unknown key. */
  readonly projectKey: string;
  /** Masks the secrets in a path. */
  maskPath(path: string): string;
}

function lossOf(request: CountedRequest, { projectKey, maskPath }: TallyRules): Loss | undefined {
  if (!request.rejected) return undefined;
  const { method, target, rejected } = request;
  const { reason, detail, hint } = rejected;
  const what = `${method} ${maskPath(target.split("?", 1)[0] ?? target)}`;
  return { what, reason, sentence: detail, fix: hint ?? fixFor(reason, projectKey) };
}

/** Counts requests as they come. */
export function createTally(rules: TallyRules): Tally & { add(request: CountedRequest): void } {
  const counts = { kept: 0, warned: 0, dropped: 0, requests: 0, flags: 0, rejected: 0, unmatched: 0 };
  const mishaps = {
    dropped: new Map<string, CountedMishap>(),
    rejected: new Map<string, CountedMishap>(),
    unmatched: new Map<string, CountedMishap>(),
  };
  const names = new Map<string, NameCount>();
  const projects = new Map<number, ProjectCount>();
  const faults = new Map<string, number>();
  let otherNames = 0;

  function addName(event: string, outcome: "kept" | "dropped", at: number): void {
    const known = names.get(event);
    const count = known ?? { kept: 0, dropped: 0, first: at, last: at };
    if (!known && names.size >= mostKinds) {
      otherNames++;
      return;
    }
    if (!known) names.set(event, count);
    count[outcome]++;
    count.last = at;
  }

  function projectOf({ project, projectName, at }: CountedRequest): ProjectCount | undefined {
    if (project === null || projectName === undefined) return undefined;
    const known = projects.get(project);
    if (known || projects.size >= mostProjects) return known;
    const zeros = { requests: 0, kept: 0, dropped: 0, rejected: 0, unmatched: 0 };
    const made = { name: projectName, ...zeros, first: at, last: at };
    projects.set(project, made);
    return made;
  }

  function addMishap(kind: MishapKind, { reason, what, ...loss }: Loss, request: CountedRequest): void {
    counts[kind]++;
    const sums = projectOf(request);
    if (sums) sums[kind]++;
    const key = `${reason} ${what}`;
    const known = mishaps[kind].get(key);
    if (!known && mishaps[kind].size >= mostKinds) return;
    const mishap = known ?? { reason, what, ...loss, count: 0, projects: new Map<number, number>() };
    if (!known) mishaps[kind].set(key, mishap);
    mishap.count++;
    if (sums && request.project !== null)
      mishap.projects.set(request.project, (mishap.projects.get(request.project) ?? 0) + 1);
  }

  return {
    counts,
    mishaps,
    names,
    get otherNames() {
      return otherNames;
    },
    projects,
    faults,
    add(request) {
      const { at, kept, dropped, fault } = request;
      counts.requests++;
      counts.kept += kept.length;
      counts.warned += request.warned;
      if (flagPath.test(request.target)) counts.flags++;
      if (fault !== undefined) faults.set(fault, (faults.get(fault) ?? 0) + 1);
      for (const name of kept) addName(name, "kept", at);
      for (const { event } of dropped) addName(event, "dropped", at);
      const sums = projectOf(request);
      if (sums) {
        sums.requests++;
        sums.kept += kept.length;
        sums.last = at;
      }
      if (isWanted(request)) return;
      for (const { event, ...why } of dropped) addMishap("dropped", { what: event || "(no name)", ...why }, request);
      const loss = lossOf(request, rules);
      if (loss) addMishap(request.unmatched ? "unmatched" : "rejected", loss, request);
    },
  };
}
