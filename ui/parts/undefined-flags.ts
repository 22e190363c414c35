import type { FlagTotal } from "../../src/service/flags/decision-shapes.ts";
import type { FlagSummary } from "../../src/service/flags/shapes.ts";

export const askedFor = ({ served, called }: FlagTotal): number => Math.max(served, called);

/** Counts of flags that apps ask for and their projects do not have. */
export function undefinedFlags(
  flags: readonly FlagSummary[],
  totals: readonly FlagTotal[],
): (FlagTotal & { readonly project: number })[] {
  const known = new Set(flags.map(({ project, key }) => `${project} ${key}`));
  return totals.flatMap((it) =>
    it.project !== null && !known.has(`${it.project} ${it.key}`) && askedFor(it) > 0
      ? [{ ...it, project: it.project }]
      : [],
  );
}
