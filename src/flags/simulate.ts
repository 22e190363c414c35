import { entryOf, evaluateRuleset, type Ruleset } from "./ruleset.ts";
import type { Subject } from "./subject.ts";

/** How many subjects got a value. */
interface Share {
  readonly value: boolean | string;
  readonly count: number;
  /** Of all, in [0, 1]. */
  readonly share: number;
}

export interface Distribution {
  readonly key: string;
  readonly count: number;
  /** Subjects for whom the flag could not be computed; they are not in `values`. */
  readonly failed: number;
  /** Variants in the flag's order, then true, false and holdouts; values that nobody got are left out. */
  readonly values: readonly Share[];
}

/** Variants in their order, then what else there is. */
const inOrder = (variants: readonly string[], found: Iterable<boolean | string>): (boolean | string)[] => {
  const known: (boolean | string)[] = [...variants, true, false];
  return [...new Set([...known, ...found])];
};

/**
 * What a flag is for `count` generated subjects, `user-0` and on, counted exactly. undefined when the
 * project has no active flag with the key.
 */
export function simulate(
  ruleset: Ruleset,
  key: string,
  count: number,
  subjectOf: (distinctId: string, index: number) => Subject,
): Distribution | undefined {
  const entry = entryOf(ruleset, key);
  if (!entry || !ruleset.flags.includes(entry.compiled)) return undefined;
  const keys = new Set([key]);
  const counts = new Map<boolean | string, number>();
  let failed = 0;
  for (let i = 0; i < count; i++) {
    const results = evaluateRuleset(ruleset, subjectOf(`user-${i}`, i), { keys });
    const decision = results.find(({ compiled }) => compiled === entry.compiled)?.decision;
    if (!decision || decision.failed) failed++;
    else counts.set(decision.value, (counts.get(decision.value) ?? 0) + 1);
  }
  const values = inOrder(entry.compiled.variants, counts.keys()).flatMap((value) => {
    const found = counts.get(value);
    return found === undefined ? [] : [{ value, count: found, share: found / count }];
  });
  return { key, count, failed, values };
}
