import { entryOf, evaluateRuleset, type Ruleset } from "../engine/ruleset.ts";
import type { Subject } from "../engine/run.ts";
import type { FlagDistribution } from "../shapes.ts";

/** Counts the values of a flag. */
export interface Simulation {
  /** Evaluates the flag for a subject. */
  add(subject: Subject): void;
  result(): Pick<FlagDistribution, "key" | "count" | "failed" | "values">;
}

/** undefined if the rules have no active flag with the key. */
export function createSimulation(ruleset: Ruleset, key: string): Simulation | undefined {
  const entry = entryOf(ruleset, key);
  if (!entry || !ruleset.flags.includes(entry.compiled)) return undefined;
  const { compiled } = entry;
  const keys = new Set([key]);
  const counts = new Map<boolean | string, number>();
  let count = 0;
  let failed = 0;
  return {
    add(subject) {
      count++;
      const results = evaluateRuleset(ruleset, subject, { keys });
      const decision = results.find((it) => it.compiled === compiled)?.decision;
      if (!decision || decision.failed) failed++;
      else counts.set(decision.value, (counts.get(decision.value) ?? 0) + 1);
    },
    result() {
      const order = new Set([...compiled.variants, true, false, ...counts.keys()]);
      const values = [...order].flatMap((value) => {
        const found = counts.get(value);
        return found === undefined ? [] : [{ value, count: found, share: found / count }];
      });
      return { key, count, failed, values };
    },
  };
}
