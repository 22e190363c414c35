import type { CompiledFlag } from "./compile.ts";
import { type Decision, failed, off } from "./decision.ts";
import { dependenciesFirst, reachedFrom } from "./dependency-order.ts";

export interface FlagEntry {
  readonly compiled: CompiledFlag;
  readonly position: number;
  /** Under which ids and keys other flags ask for it. */
  readonly names: readonly (number | string)[];
  /** The flags that it asks for, without those that do not exist. */
  readonly dependencies: readonly FlagEntry[];
  fault: Decision | undefined;
}

interface Draft extends FlagEntry {
  names: (number | string)[];
  dependencies: Draft[];
  /** Asks for a flag that does not exist, or for one that does. */
  isMissingOne: boolean;
}

/** By id, and by key for references that are no ids. An active flag comes before a deleted one of its key. */
function byReference(entries: readonly Draft[]): Map<number | string, Draft> {
  const found = new Map<number | string, Draft>();
  for (const entry of entries) {
    const { id, key, deleted } = entry.compiled.flag;
    found.set(id, entry);
    if (!deleted || !found.has(key)) found.set(key, entry);
  }
  return found;
}

/** A name that no flag has matches nothing; an id that no flag has fails the flag. Upstream knows ids only. */
function connect(entries: readonly Draft[]): void {
  const found = byReference(entries);
  for (const entry of entries) {
    for (const reference of entry.compiled.dependencies) {
      const target = found.get(reference);
      if (target) {
        if (!target.names.includes(reference)) target.names.push(reference);
        entry.dependencies.push(target);
      } else if (typeof reference === "number") entry.isMissingOne = true;
    }
  }
}

function markMissing(ordered: readonly Draft[]): void {
  const missing = new Set<FlagEntry>();
  for (const entry of ordered) {
    if (!entry.isMissingOne && !entry.dependencies.some((it) => missing.has(it))) continue;
    missing.add(entry);
    entry.fault = off("missing_dependency", null);
  }
}

export interface DependencyOrder {
  readonly entries: readonly FlagEntry[];
  /** Dependencies first; those on or behind a circle come last and have a `fault`. */
  readonly ordered: readonly FlagEntry[];
}

/**
 * Orders the flags of a project. Inactive flags take part: what depends on them sees `false`, and a
 * missing dependency reaches through them. Upstream computes this when flags change (feature_flags,
 * flags_cache) and leaves flags on or behind a circle out of the answer; here they fail visibly.
 */
export function orderFlags(flags: readonly CompiledFlag[]): DependencyOrder {
  const entries = flags.map(
    (compiled, position): Draft => ({
      compiled,
      position,
      names: [],
      dependencies: [],
      isMissingOne: false,
      fault: undefined,
    }),
  );
  connect(entries);
  const ordered = dependenciesFirst(entries, (it) => it.dependencies);
  const reached = new Set<FlagEntry>(ordered);
  const circular = entries.filter((it) => !reached.has(it));
  for (const entry of circular) entry.fault = failed("dependency_cycle_flag");
  markMissing(ordered);
  return { entries, ordered: [...ordered, ...circular] };
}

export const withDependencies = (entries: readonly FlagEntry[], keys: ReadonlySet<string>): Set<FlagEntry> =>
  reachedFrom(
    entries.filter(({ compiled }) => keys.has(compiled.flag.key)),
    ({ dependencies }) => dependencies,
  );
