import { fixFor } from "../../kernel/http/rejection-fixes.ts";

interface Loss {
  /** Name of the event, method and path of the request. */
  readonly what: string;
  readonly reason: string;
  readonly sentence: string;
  readonly fix: string;
}

export interface CountedRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Arrival, ms since the epoch. */
  readonly at: number;
  readonly project: number | null;
  readonly projectName?: string | undefined;
  readonly rejected?: { readonly reason: string; readonly detail: string; readonly hint?: string | undefined };
  readonly unmatched: boolean;
  readonly fault?: string | undefined;
  readonly scripted: boolean;
  readonly kept: readonly string[];
  readonly warned: number;
  readonly dropped: readonly (Omit<Loss, "what"> & { readonly event: string })[];
}

export interface CountedMishap extends Loss {
  count: number;
  /** Number of them by project. */
  readonly projects: Map<number, number>;
}

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

const flagPath = /^\/(?:flags|decide)(?:[/?]|$)|\/local_evaluation(?:[/?]|$)/;

/** Different mishaps, names and projects that are counted separately. */
const mostKinds = 1_000;
const mostProjects = 100_000;

/** Rejections that are intended, and those that the tape's result reports. */
const madeOnPurpose: ReadonlySet<string> = new Set(["fault", "script", "tape", "tape_miss"]);

const isWanted = ({ rejected, fault, scripted }: CountedRequest): boolean =>
  fault !== undefined || scripted || madeOnPurpose.has(rejected?.reason ?? "");

interface TallyRules {
  /** Named in the advice for requests with an unknown key. */
  readonly projectKey: string;
  maskPath(path: string): string;
}

function lossOf(request: CountedRequest, { projectKey, maskPath }: TallyRules): Loss | undefined {
  if (!request.rejected) return undefined;
  const { method, target, rejected } = request;
  const { reason, detail, hint } = rejected;
  const what = `${method} ${maskPath(target.split("?", 1)[0] ?? target)}`;
  return { what, reason, sentence: detail, fix: hint ?? fixFor(reason, projectKey) };
}

export class Tally {
  readonly counts = { kept: 0, warned: 0, dropped: 0, requests: 0, flags: 0, rejected: 0, unmatched: 0 };
  /** In the order of their first occurrence; of many kinds the first. */
  readonly mishaps: Readonly<Record<MishapKind, Map<string, CountedMishap>>> = {
    dropped: new Map(),
    rejected: new Map(),
    unmatched: new Map(),
  };
  readonly names = new Map<string, { kept: number; dropped: number; first: number; last: number }>();
  /** Events whose names were too many to be counted separately. */
  otherNames = 0;
  readonly projects = new Map<number, ProjectCount>();
  /** Number of requests by the names of the faults that affected them. */
  readonly faults = new Map<string, number>();
  readonly #rules: TallyRules;

  constructor(rules: TallyRules) {
    this.#rules = rules;
  }

  add(request: CountedRequest): void {
    const { counts, faults } = this;
    const { at, kept, dropped, fault } = request;
    counts.requests++;
    counts.kept += kept.length;
    counts.warned += request.warned;
    if (flagPath.test(request.target)) counts.flags++;
    if (fault !== undefined) faults.set(fault, (faults.get(fault) ?? 0) + 1);
    for (const name of kept) this.#addName(name, "kept", at);
    for (const { event } of dropped) this.#addName(event, "dropped", at);
    const sums = this.#projectOf(request);
    if (sums) {
      sums.requests++;
      sums.kept += kept.length;
      sums.last = at;
    }
    if (isWanted(request)) return;
    for (const { event, ...why } of dropped)
      this.#addMishap("dropped", { what: event || "(no name)", ...why }, request);
    const loss = lossOf(request, this.#rules);
    if (loss) this.#addMishap(request.unmatched ? "unmatched" : "rejected", loss, request);
  }

  #addName(event: string, outcome: "kept" | "dropped", at: number): void {
    const known = this.names.get(event);
    if (!known && this.names.size >= mostKinds) {
      this.otherNames++;
      return;
    }
    const count = known ?? { kept: 0, dropped: 0, first: at, last: at };
    if (!known) this.names.set(event, count);
    count[outcome]++;
    count.last = at;
  }

  #projectOf({ project, projectName, at }: CountedRequest): ProjectCount | undefined {
    if (project === null || projectName === undefined) return undefined;
    const known = this.projects.get(project);
    if (known || this.projects.size >= mostProjects) return known;
    const zeros = { requests: 0, kept: 0, dropped: 0, rejected: 0, unmatched: 0 };
    const made = { name: projectName, ...zeros, first: at, last: at };
    this.projects.set(project, made);
    return made;
  }

  #addMishap(kind: MishapKind, { reason, what, ...loss }: Loss, request: CountedRequest): void {
    this.counts[kind]++;
    const sums = this.#projectOf(request);
    if (sums) sums[kind]++;
    const mishaps = this.mishaps[kind];
    const key = `${reason} ${what}`;
    const known = mishaps.get(key);
    if (!known && mishaps.size >= mostKinds) return;
    const mishap = known ?? { reason, what, ...loss, count: 0, projects: new Map<number, number>() };
    if (!known) mishaps.set(key, mishap);
    mishap.count++;
    if (sums && request.project !== null)
      mishap.projects.set(request.project, (mishap.projects.get(request.project) ?? 0) + 1);
  }
}
