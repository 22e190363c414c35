import type { Totals } from "./minute.ts";

const wrong = ({ dropped, rejected }: Totals): number => dropped + rejected;
const fresh = ({ kept, dropped }: Totals): number => kept + dropped;

/** The totals that were seen: what was cleared since is not among them any more. */
export const seenBy = (seen: Totals, now: Totals): Totals => ({
  kept: Math.min(seen.kept, now.kept),
  dropped: Math.min(seen.dropped, now.dropped),
  rejected: Math.min(seen.rejected, now.rejected),
});

/**
 * The tab's title: the view, and what came since the page was last looked at.
 * @param seen The totals at that moment; undefined: somebody looks
 */
export function titleOf(label: string, now: Totals | undefined, seen: Totals | undefined): string {
  const name = `${label} · phx-sim`;
  if (now === undefined || seen === undefined) return name;
  const counts = [
    [fresh(now) - fresh(seen), "new"],
    [wrong(now) - wrong(seen), "lost"],
  ] as const;
  const told = counts.flatMap(([n, word]) => (n > 0 ? [`${n} ${word}`] : []));
  return told.length === 0 ? name : `(${told.join(", ")}) ${name}`;
}
