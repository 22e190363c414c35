import type { TapeProblem } from "../types.ts";
import { type AnswerDifference, type Severity, severities } from "./types.ts";
import type { SkipReason } from "./verify.ts";

/** One difference of many answers of a route. */
export interface DifferenceGroup extends AnswerDifference {
  route: string;
  /** In how many answers. */
  count: number;
  /** Answers of this route that were compared. */
  of: number;
  /** Number of the first exchange that has it; its values are the ones that are shown. */
  first: number;
}

/** An answer's differences, and whose they are. */
export interface ComparedAnswer {
  route: string;
  /** Number of the exchange. */
  i: number;
  differences: readonly AnswerDifference[];
}

export interface RouteTally {
  route: string;
  compared: number;
  /** How many of them differ in anything. */
  differing: number;
}

/** What came of comparing recorded answers with others. */
export interface Comparison {
  exchanges: number;
  compared: number;
  /** Exchanges that were not compared, by reason. */
  skipped: Partial<Record<SkipReason, number>>;
  groups: DifferenceGroup[];
  routes: RouteTally[];
  /** Differences of so many kinds that they were not kept. */
  left: number;
  /** Lines of the tape that could not be used. */
  damaged: number;
  /** The first few of them. */
  problems: TapeProblem[];
}

/** Hostile tapes have no end of paths. */
const mostGroups = 10_000;

const rank = (severity: Severity): number => severities.indexOf(severity);

/** Counts differences as they come; its size depends on how many different ones there are. */
export function createDifferenceTally() {
  const groups = new Map<string, Omit<DifferenceGroup, "of">>();
  const routes = new Map<string, RouteTally>();
  let left = 0;

  function count(route: string, i: number, it: AnswerDifference): void {
    const key = JSON.stringify([route, it.severity, it.kind, it.path]);
    const known = groups.get(key);
    if (known) known.count++;
    else if (groups.size < mostGroups) groups.set(key, { route, ...it, count: 1, first: i });
    else left++;
  }

  return {
    add({ route, i, differences }: ComparedAnswer): void {
      const tally = routes.get(route) ?? { route, compared: 0, differing: 0 };
      tally.compared++;
      if (differences.length > 0) tally.differing++;
      routes.set(route, tally);
      for (const it of differences) count(route, i, it);
    },
    /** By severity, then the most frequent first. */
    groups: (): DifferenceGroup[] =>
      [...groups.values()]
        .map((it) => ({ ...it, of: routes.get(it.route)?.compared ?? it.count }))
        .sort((a, b) => rank(a.severity) - rank(b.severity) || b.count - a.count || a.first - b.first),
    /** In the order in which they came. */
    routes: (): RouteTally[] => [...routes.values()],
    /** Differences that were too many kinds to be kept. */
    left: (): number => left,
  };
}

/** The same difference of many answers of a route as one, the gravest and most frequent first. */
export function groupDifferences(answers: Iterable<ComparedAnswer>): DifferenceGroup[] {
  const tally = createDifferenceTally();
  for (const it of answers) tally.add(it);
  return tally.groups();
}
