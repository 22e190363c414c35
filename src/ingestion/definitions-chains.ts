import { type Entry, withDependencies } from "../flags/dependencies.ts";
import { referenceIn } from "../flags/references.ts";
import type { Ruleset } from "../flags/ruleset.ts";
import type { FeatureFlag } from "../model/world.ts";

type Filters = FeatureFlag["filters"];

/** What flags ask for each other by, and in which order they have to be computed. */
interface Chains {
  /** The key of the flag that a filter refers to. */
  keyOf(reference: string): string;
  /** Keys of all that a flag needs, itself last; empty where one is missing or refers to itself. */
  chainOf(key: string): readonly string[];
}

/** Can it be computed, as far as the flags that it asks for directly are concerned? */
const isWhole = ({ fault, compiled, dependencies }: Entry): boolean =>
  fault === undefined && compiled.dependencies.length === dependencies.length;

function createChains(ruleset: Ruleset, shown: readonly FeatureFlag[]): Chains {
  const keys = new Map(shown.map((flag) => [flag.id, flag.key]));
  const isShown = new Set(shown);
  const known = new Map<string, readonly string[]>();

  function compute(key: string): readonly string[] {
    const entries = ruleset.ordered.filter(({ compiled }) => isShown.has(compiled.flag));
    const target = entries.find(({ compiled }) => compiled.flag.key === key);
    const needed = withDependencies(target ? [target] : [], new Set([key]));
    const chain = entries.filter((it) => needed.has(it) && isWhole(it));
    return chain.length === needed.size ? chain.map(({ compiled }) => compiled.flag.key) : [];
  }

  return {
    keyOf(reference) {
      const id = referenceIn(reference);
      return (id === undefined ? undefined : keys.get(id)) ?? reference;
    },
    chainOf(key) {
      const found = known.get(key) ?? compute(key);
      known.set(key, found);
      return found;
    },
  };
}

/**
 * Rewrites filters on other flags for SDKs: they name the flag's key and say in `dependency_chain` what has
 * to be computed before. Upstream `posthog/models/feature_flag/local_evaluation.py`.
 */
export function chainWriter(ruleset: Ruleset, shown: readonly FeatureFlag[]): (filters: Filters) => Filters {
  if (!ruleset.hasDependencies) return (filters) => filters;
  const chains = createChains(ruleset, shown);
  return (filters) => ({
    ...filters,
    ...(filters.groups && {
      groups: filters.groups.map((group) => ({
        ...group,
        ...(group.properties && {
          properties: group.properties.map((filter) => {
            if (filter.type !== "flag") return filter;
            const key = chains.keyOf(filter.key);
            return { ...filter, key, dependency_chain: chains.chainOf(key) };
          }),
        }),
      })),
    }),
  });
}
