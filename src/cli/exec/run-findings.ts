import { didYouMean } from "../../base/nearest.ts";
import { counted } from "../../base/text.ts";
import { fixFor } from "../../http/rejection-fixes.ts";
import type { LintFinding, RequestSummary, Sim, StoredEvent } from "../../index.ts";
import { warningsAmong } from "../../lint/command.ts";
import type { Plan } from "../../plan/plan.ts";
import { createTargetMask } from "../../tapes/redact/mask-target.ts";
import { clean } from "../clean-text.ts";
import type { Shell } from "../command.ts";
import { Failure } from "../failure.ts";
import type { Blocked } from "./child-environment.ts";

/** An unintended failure; equal ones are counted together. */
export interface Mishap {
  readonly kind: "dropped" | "rejected" | "unmatched";
  /** The event's name, or method and path. */
  readonly what: string;
  readonly reason: string;
  readonly sentence: string;
  readonly fix: string;
  readonly count: number;
  /** Number of them by project: `project 7 "checkout › a purchase"`, by the name of its test. */
  readonly projects: ReadonlyMap<string, number>;
}

export interface TrafficCount {
  add(request: RequestSummary): void;
  readonly counts: Readonly<Record<CountName, number>>;
  /** In the order of their first occurrence. */
  mishaps(): Mishap[];
  /** Names of the faults that affected requests, with the number of requests. */
  faults(): [name: string, requests: number][];
}

type CountName = "kept" | "dropped" | "requests" | "flags" | "rejected" | "unmatched";

const flagPath = /^\/(?:flags|decide)(?:[/?]|$)|\/local_evaluation(?:[/?]|$)/;

/** Different mishaps that are kept; further ones are only counted. */
const mostKinds = 1000;

/** Rejections that are intended, and those that the tape's summary reports. */
const madeOnPurpose: ReadonlySet<string> = new Set(["fault", "script", "tape", "tape_miss"]);

/** True if a fault or a script made the answer, or a tape. */
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

const placeOf = ({ method, target }: RequestSummary): string =>
  `${method} ${createTargetMask()(target.split("?", 1)[0] ?? target)}`;

function mishapsOf(request: RequestSummary, projectKey: string): Mishap[] {
  if (isWanted(request)) return [];
  const one = { count: 1, projects: projectsOf(request) };
  const dropped = request.dropped.map(
    ({ event, ...why }): Mishap => ({ kind: "dropped", what: event || "(no name)", ...why, ...one }),
  );
  const { rejected, unmatched } = request;
  if (!rejected) return dropped;
  const { reason, detail, hint } = rejected;
  const kind = unmatched ? "unmatched" : "rejected";
  const fix = hint ?? fixFor(reason, projectKey);
  return [...dropped, { kind, fix, what: placeOf(request), reason, sentence: detail, ...one }];
}

/** Counts requests as they come. @param projectKey Named in the advice for requests with an unknown key */
export function createTally(projectKey: string): TrafficCount {
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

/** Events of one page. */
const page = 1000;

/** All events, kept and dropped, in order of arrival. */
export async function* allEvents(sim: Sim): AsyncGenerator<StoredEvent> {
  let since = 0;
  for (;;) {
    const events = await sim.events.list({ since, limit: page });
    yield* events;
    if (events.length < page) return;
    since = events.at(-1)?.seq ?? since;
  }
}

/**
 * The tracking plan of a run: the given file, or, if one is needed, the one that is found. Read before the run, so that
 * its mistakes are reported first. @throws Failure usage
 */
export async function planFor(
  named: string | undefined,
  isNeeded: boolean,
  shell: Shell,
): Promise<Plan | undefined> {
  if (named === undefined && !isNeeded) return undefined;
  const { findPlan, planName, readPlan } = await import("../../plan/read-plan.ts");
  const { PlanError, planProblemLines } = await import("../../plan/plan.ts");
  const file = named ?? (await findPlan(shell.cwd));
  if (file === undefined)
    throw new Failure(
      "usage",
      `--fail-on plan: there is no ${planName} in this folder or above; give --plan FILE`,
    );
  try {
    return await readPlan(file);
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    const [first = "", ...more] = planProblemLines(error.problems, shell.cwd).map((line) =>
      clean(line, 1000),
    );
    throw new Failure("usage", [first, ...more].join("\n"), error);
  }
}

/** The result of the plan. */
export interface PlanOutcome {
  readonly violations: number;
  readonly text: string;
}

/** Compares the captured events with the plan; null without one. */
export async function comparedWith(plan: Plan | undefined, sim: Sim): Promise<PlanOutcome | null> {
  if (!plan) return null;
  const { checkPlan } = await import("../../plan/check-plan.ts");
  const { total, text } = await checkPlan(plan, allEvents(sim));
  return { violations: total, text };
}

/** What `--fail-on` checks when the command has ended. */
interface Findings {
  readonly tally: Pick<TrafficCount, "counts">;
  readonly blocked: readonly Blocked[];
  readonly plan: PlanOutcome | null;
  readonly lint: readonly LintFinding[];
}

interface FailRow {
  readonly count: (findings: Findings) => number;
  readonly text: (count: number) => string;
}

/** The reasons for which a run can fail although its command passed. */
const failRows = {
  dropped: {
    count: ({ tally }) => tally.counts.dropped,
    text: (count) => `${counted(count, "event")} dropped`,
  },
  rejected: {
    count: ({ tally }) => tally.counts.rejected,
    text: (count) => `${counted(count, "request")} rejected`,
  },
  unmatched: {
    count: ({ tally }) => tally.counts.unmatched,
    text: (count) => `${counted(count, "request")} to paths that do not exist`,
  },
  egress: {
    count: ({ blocked }) => blocked.reduce((sum, { count }) => sum + count, 0),
    text: (count) => `${counted(count, "call")} to the real service blocked`,
  },
  plan: {
    count: ({ plan }) => plan?.violations ?? 0,
    text: (count) => `${counted(count, "violation")} of the tracking plan`,
  },
  lint: {
    count: ({ lint }) => warningsAmong(lint).length,
    text: (count) => `${counted(count, "warning")} of the linter`,
  },
} as const satisfies Record<string, FailRow>;

type FailReason = keyof typeof failRows;
export const failReasons = Object.keys(failRows);

const isReason = (name: string): name is FailReason => Object.hasOwn(failRows, name);

/** The reasons that a list names. @param where Its source, e.g. `--fail-on`. @throws Failure usage */
export function failReasonsOf(names: readonly string[], where: string): FailReason[] {
  return names.map((name) => {
    if (isReason(name)) return name;
    const known = failReasons.join(", ");
    const hint = didYouMean(name, failReasons);
    throw new Failure("usage", `${where} must be one or more of ${known}, not "${clean(name)}"${hint}`);
  });
}

/** Why the run fails, a few words for each reason that is met. */
export function tripped(reasons: readonly FailReason[], findings: Findings): string[] {
  return [...new Set(reasons)].flatMap((name) => {
    const row: FailRow = failRows[name];
    const count = row.count(findings);
    return count > 0 ? [row.text(count)] : [];
  });
}
