import type { Ruleset } from "../../flags/ruleset.ts";
import { wordsOf } from "../../flags/words.ts";
import type { JsonObject } from "../../kernel/json.ts";
import type { FeatureFlag, Project } from "../../model/world.ts";
import type { ControlDesk } from "../desk.ts";
import type { ShownFlag, ShownFlagInFull, ShownOverride } from "./answers.ts";
import { overridesIn, showOverride } from "./overrides.ts";
import { flagOf, noSuchFlag } from "./place.ts";
import { rulesOf, sharesOf, variantsOf } from "./rules.ts";

const showFlag = (flag: FeatureFlag, overrides: readonly ShownOverride[], ruleset: Ruleset): ShownFlag => ({
  project: flag.project,
  key: flag.key,
  id: flag.id,
  name: flag.name,
  active: flag.active,
  rules: rulesOf(flag),
  variants: variantsOf(flag),
  shares: sharesOf(flag),
  words: wordsOf(flag, ruleset),
  overrides,
});

/** A key that has overrides only. */
const showUnknown = (project: number, key: string, overrides: readonly ShownOverride[]): ShownFlag => ({
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

/** Overrides by the flag's key. */
function byKey(overrides: readonly ShownOverride[]): Map<string, ShownOverride[]> {
  const found = new Map<string, ShownOverride[]>();
  for (const override of overrides) {
    const same = found.get(override.key);
    if (same) same.push(override);
    else found.set(override.key, [override]);
  }
  return found;
}

function flagsIn(desk: ControlDesk, owner: Project): ShownFlag[] {
  const { id: project } = owner;
  const overrides = byKey(overridesIn(desk, { project }).map(showOverride));
  const flags = desk.worlds.current.feature_flags.filter((it) => it.project === project && !it.deleted);
  const ruleset = desk.flagBook.rulesetOf(owner);
  const shown = flags.map((flag) => showFlag(flag, overrides.get(flag.key) ?? [], ruleset));
  for (const { key } of flags) overrides.delete(key);
  return [...shown, ...Array.from(overrides, ([key, its]) => showUnknown(project, key, its))];
}

/** The flags of a project or of all, then the keys that are overridden without being there. */
export const listFlags = (desk: ControlDesk, project: number | undefined): ShownFlag[] =>
  desk.worlds.current.projects
    .filter(({ id }) => project === undefined || id === project)
    .flatMap((it) => flagsIn(desk, it));

/** One flag, with its rules as they are written. @throws SimError not_found */
export function shownFlag(desk: ControlDesk, project: Project, key: string): ShownFlagInFull {
  const overrides = overridesIn(desk, { project: project.id, key }).map(showOverride);
  const flag = flagOf(desk, project, key);
  if (flag) {
    // The document is JSON: zod's loose objects only forget it.
    const filters = flag.filters as JsonObject;
    return { ...showFlag(flag, overrides, desk.flagBook.rulesetOf(project)), filters };
  }
  if (overrides.length === 0) throw noSuchFlag(desk, project, key);
  return { ...showUnknown(project.id, key, overrides), filters: null };
}
