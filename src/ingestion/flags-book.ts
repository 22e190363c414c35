import { type CompiledFlag, compileFlag } from "../flags/compile.ts";
import type { FeatureFlag, Worlds } from "../model/world.ts";

/** The flags of each project, compiled once. */
export interface FlagBook {
  /** The flags that are evaluated and returned: neither deleted nor inactive. In the document's order. */
  flagsOf(project: number): readonly CompiledFlag[];
}

const none: readonly CompiledFlag[] = [];

const isEvaluated = (flag: FeatureFlag): boolean => flag.active && !flag.deleted;

/**
 * Compiles on first use and again when the document's list holds other flag objects than before. A flag is
 * edited by replacing its object; a change inside of one goes unnoticed.
 */
export function createFlagBook(worlds: Worlds): FlagBook {
  const compiled = new WeakMap<FeatureFlag, CompiledFlag>();
  let seen: readonly FeatureFlag[] = [];
  let byProject = new Map<number, CompiledFlag[]>();

  function compile(flag: FeatureFlag): CompiledFlag {
    const known = compiled.get(flag) ?? compileFlag(flag);
    compiled.set(flag, known);
    return known;
  }

  function isCurrent(flags: readonly FeatureFlag[]): boolean {
    if (flags.length !== seen.length) return false;
    for (let i = 0; i < flags.length; i++) if (flags[i] !== seen[i]) return false;
    return true;
  }

  function rebuild(flags: readonly FeatureFlag[]): void {
    seen = [...flags];
    byProject = new Map();
    for (const flag of flags.filter(isEvaluated)) {
      const list = byProject.get(flag.project) ?? [];
      byProject.set(flag.project, list);
      list.push(compile(flag));
    }
  }

  return {
    flagsOf(project) {
      const flags = worlds.current.feature_flags;
      if (!isCurrent(flags)) rebuild(flags);
      return byProject.get(project) ?? none;
    },
  };
}
