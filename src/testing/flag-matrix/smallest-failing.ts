import type { Combination, MatrixValue } from "./combinations.ts";
import { choices } from "./covering-array.ts";

/** A combination, and whether its run failed. */
export interface CombinationResult {
  readonly flags: Combination;
  readonly failed: boolean;
}

/** The flag values that explain the failures. */
export type FailureCause =
  | { readonly kind: "none" }
  /** Every run failed, so the flags make no difference. */
  | { readonly kind: "all" }
  /** Values that all failing runs have and no passing run has. `smallest` has the sets with the fewest values. */
  | { readonly kind: "one"; readonly smallest: readonly Combination[] }
  /** No values are in all failing runs alone: sets that together occur in each failing run, and in no passing one. */
  | { readonly kind: "several"; readonly smallest: readonly Combination[] };

const has = (flags: Combination, [key, value]: readonly [string, MatrixValue]): boolean => flags[key] === value;

const includes = (flags: Combination, part: Combination): boolean => Object.entries(part).every((it) => has(flags, it));

/** The smallest parts of a combination that no passing run has; all of the same size. */
function smallestParts(flags: Combination, passed: readonly Combination[]): Combination[] {
  const entries = Object.entries(flags);
  for (let size = 1; size <= entries.length; size++) {
    const parts = choices(entries.length, size)
      .map((picked) => Object.fromEntries(entries.filter((_, i) => picked.includes(i))))
      .filter((part) => !passed.some((it) => includes(it, part)));
    if (parts.length > 0) return parts;
  }
  return [];
}

/** The smallest set of flag values that separates the failing runs from the passing ones. */
export function smallestFailing(runs: readonly CombinationResult[]): FailureCause {
  const failed = runs.filter((it) => it.failed).map(({ flags }) => flags);
  const passed = runs.filter((it) => !it.failed).map(({ flags }) => flags);
  const [first] = failed;
  if (first === undefined) return { kind: "none" };
  if (passed.length === 0) return { kind: "all" };
  const common = Object.fromEntries(Object.entries(first).filter((entry) => failed.every((it) => has(it, entry))));
  const smallest = smallestParts(common, passed);
  if (smallest.length > 0) return { kind: "one", smallest };
  return { kind: "several", smallest: severalCauses(failed, passed) };
}

/** Parts that explain all failing runs; each time the one that explains the most of the rest. */
function severalCauses(failed: readonly Combination[], passed: readonly Combination[]): Combination[] {
  const parts = failed.flatMap((it) => smallestParts(it, passed));
  const causes: Combination[] = [];
  let rest = failed;
  while (rest.length > 0) {
    const counts = parts.map((part) => rest.filter((it) => includes(it, part)).length);
    const best = parts[counts.indexOf(Math.max(...counts))];
    const left = best ? rest.filter((it) => !includes(it, best)) : [];
    if (!best || left.length === rest.length) return causes;
    causes.push(best);
    rest = left;
  }
  return causes;
}
