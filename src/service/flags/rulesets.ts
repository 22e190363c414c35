import type { StoredFlagOverride, StoredProject, Worlds } from "../../state/documents/world.ts";
import type { Desk } from "../capture/desk.ts";
import { overriddenFlags } from "./engine/overrides.ts";
import { compileRuleset, type Ruleset, type RulesetSource } from "./engine/ruleset.ts";

interface Entry {
  readonly project: StoredProject;
  readonly groupTypes: readonly string[];
  readonly versions: readonly number[];
  readonly ruleset: Ruleset;
  /** By the ids of the overrides. */
  readonly overridden: Map<string, Ruleset>;
}

/** Few subjects have their own overrides; beyond this number, rulesets are compiled again. */
const keptOverridden = 100;

const versionsOf = (worlds: Worlds): number[] => [
  worlds.versionOf("feature_flags"),
  worlds.versionOf("cohorts"),
  worlds.versionOf("flag_overrides"),
];

/** 1 unless the project's settings say 2. Upstream: `Team.property_matching_version`. */
const matchingVersionOf = ({ settings }: StoredProject): 1 | 2 => (settings.property_matching_version === 2 ? 2 : 1);

/** Compiles on first use, and again when flags, cohorts, group types or the project have changed. */
export function createRulesets({ worlds, people }: Pick<Desk, "worlds" | "people">) {
  const entries = new Map<number, Entry>();

  function sourceOf(project: StoredProject): RulesetSource {
    const { feature_flags, cohorts } = worlds.current;
    return {
      flags: feature_flags.filter((flag) => flag.project === project.id),
      cohorts: cohorts.filter((cohort) => cohort.project === project.id),
      groupTypes: people.groupTypes(project.id),
      propertyMatchingVersion: matchingVersionOf(project),
      timezone: project.timezone,
    };
  }

  function isCurrent(entry: Entry, project: StoredProject, versions: readonly number[]): boolean {
    return (
      entry.project === project &&
      entry.groupTypes === people.groupTypes(project.id) &&
      entry.versions.every((version, i) => version === versions[i])
    );
  }

  function entryOf(project: StoredProject): Entry {
    const known = entries.get(project.id);
    const versions = versionsOf(worlds);
    if (known && isCurrent(known, project, versions)) return known;
    const groupTypes = people.groupTypes(project.id);
    const ruleset = compileRuleset(sourceOf(project), known?.ruleset);
    const entry = { project, groupTypes, versions, ruleset, overridden: new Map() };
    entries.set(project.id, entry);
    return entry;
  }

  return {
    rulesetOf: (project: StoredProject) => entryOf(project).ruleset,
    forget: (project: number) => void entries.delete(project),
    /**
     * The rules with overridden flags replaced, so that flags that depend on them see it, too. What comes
     * of it still has to be marked: `withOverrides`.
     */
    overriddenRulesetOf(project: StoredProject, overrides: ReadonlyMap<string, StoredFlagOverride>) {
      const { ruleset, overridden } = entryOf(project);
      if (overrides.size === 0) return ruleset;
      const ids = Array.from(overrides.values(), ({ id }) => id).join();
      const known = overridden.get(ids);
      if (known) return known;
      const flags = overriddenFlags(ruleset.source.flags, project.id, overrides);
      const compiled = compileRuleset({ ...ruleset.source, flags }, ruleset);
      if (overridden.size >= keptOverridden) overridden.clear();
      overridden.set(ids, compiled);
      return compiled;
    },
  };
}

export type Rulesets = ReturnType<typeof createRulesets>;
