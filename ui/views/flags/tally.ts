import type { FlagTotal, FlagTotals } from "./answers.ts";

/** How often a flag was decided and used; undefined until that is known. */
export type Tallies = (project: number, key: string) => Omit<FlagTotal, "project" | "key"> | undefined;

const none = { served: 0, called: 0, differs: 0, values: [] };

const idOf = (project: number | null, key: string): string => `${project ?? ""}/${key}`;

/** The counts of the sim by flag. */
export function talliesIn(totals: FlagTotals | undefined): Tallies {
  if (!totals) return () => undefined;
  const byFlag = new Map(totals.flags.map((it) => [idOf(it.project, it.key), it]));
  return (project, key) => byFlag.get(idOf(project, key)) ?? none;
}
