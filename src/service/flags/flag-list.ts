import type { JsonObject } from "../../kernel/base/json.ts";
import type { FeatureFlag, StoredProject } from "../../state/documents/world.ts";
import { variantKeys } from "./engine/filters.ts";
import { textValuesOf } from "./engine/rule-config.ts";
import type { Ruleset } from "./engine/ruleset.ts";
import { rulesOf, wordsOf } from "./explain/flag-words.ts";
import { flagOf, noSuchFlag, overridesIn, showOverride } from "./overrides.ts";
import type { FlagPorts } from "./ports.ts";
import type { FlagInFull, FlagOverride, FlagSummary } from "./shapes.ts";

const showFlag = (flag: FeatureFlag, overrides: FlagOverride[], ruleset: Ruleset): FlagSummary => ({
  project: flag.project,
  key: flag.key,
  id: flag.id,
  name: flag.name,
  active: flag.active,
  rules: rulesOf(flag, ruleset),
  variants: [...variantKeys(flag.filters), ...textValuesOf(flag.filters)],
  shares: (flag.filters.multivariate?.variants ?? []).map((it) => ({
    variant: it.key,
    percentage: it.rollout_percentage,
  })),
  words: wordsOf(flag, ruleset),
  overrides,
});

const showUnknown = (project: number, key: string, overrides: FlagOverride[]): FlagSummary => ({
  project,
  key,
  id: null,
  name: "",
  active: false,
  rules: [],
  variants: [],
  shares: [],
  words: null,
  overrides,
});

function flagsIn(ports: FlagPorts, owner: StoredProject): FlagSummary[] {
  const { id: project } = owner;
  const overrides = new Map<string, FlagOverride[]>();
  for (const it of overridesIn(ports, { project }).map(showOverride))
    overrides.set(it.key, [...(overrides.get(it.key) ?? []), it]);
  const flags = ports.worlds.current.feature_flags.filter((it) => it.project === project && !it.deleted);
  const ruleset = ports.rulesets.rulesetOf(owner);
  const shown = flags.map((flag) => showFlag(flag, overrides.get(flag.key) ?? [], ruleset));
  for (const { key } of flags) overrides.delete(key);
  return [...shown, ...Array.from(overrides, ([key, its]) => showUnknown(project, key, its))];
}

/** The flags of a project or of all, then the keys that have overrides only. */
export const listFlags = (ports: FlagPorts, project: number | undefined): FlagSummary[] =>
  ports.worlds.current.projects
    .filter(({ id }) => project === undefined || id === project)
    .flatMap((it) => flagsIn(ports, it));

/** One flag, with its rules as they are written. @throws SimError not_found */
export function flagInFull(ports: FlagPorts, project: StoredProject, key: string): FlagInFull {
  const overrides = overridesIn(ports, { project: project.id, key }).map(showOverride);
  const flag = flagOf(ports, project, key);
  if (flag) {
    // The document is JSON: zod's loose objects lose this.
    const filters = flag.filters as JsonObject;
    return { ...showFlag(flag, overrides, ports.rulesets.rulesetOf(project)), filters };
  }
  if (overrides.length === 0) throw noSuchFlag(ports, project, key);
  return { ...showUnknown(project.id, key, overrides), filters: null };
}
