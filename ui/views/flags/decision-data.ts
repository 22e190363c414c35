import type { FlagDecision as Decision, FlagTotal, FlagTotals } from "../../../src/service/flags/decision-shapes.ts";

/** Counts of a flag's decisions and uses; undefined until known. */
export type Tallies = (project: number, key: string) => Omit<FlagTotal, "project" | "key"> | undefined;

const none = { served: 0, called: 0, differs: 0, values: [] };

const idOf = (project: number | null, key: string): string => `${project ?? ""}/${key}`;

export function talliesIn(totals: FlagTotals | undefined): Tallies {
  if (!totals) return () => undefined;
  const byFlag = new Map(totals.flags.map((it) => [idOf(it.project, it.key), it]));
  return (project, key) => byFlag.get(idOf(project, key)) ?? none;
}

/** Newest decisions followed by older ones; the newest are reloaded and may overlap. */
export function withOlder(newest: readonly Decision[], older: readonly Decision[]): readonly Decision[] {
  const last = newest.at(-1)?.request ?? Number.POSITIVE_INFINITY;
  return [...newest, ...older.filter((it) => it.request < last)];
}
