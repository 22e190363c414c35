import { type Asked, subjectOf } from "../../flags/ask.ts";
import { explainFlag } from "../../flags/explain.ts";
import { type Overrides, overriddenDecision, overridesFor } from "../../flags/overrides.ts";
import { entryOf, type Ruleset } from "../../flags/ruleset.ts";
import type { JsonObject } from "../../kernel/json.ts";
import type { Project } from "../../model/world.ts";
import type { ControlDesk } from "../desk.ts";
import type { FlagDecision, FlagExplanation } from "./answers.ts";
import { type Given, objectOf, required } from "./given.ts";
import { showOverride } from "./overrides.ts";
import { noSuchFlag } from "./place.ts";

const most = Number.MAX_SAFE_INTEGER;
const nothing: JsonObject = Object.freeze({});

const isKey = (value: unknown): boolean => typeof value === "string" || typeof value === "number";
const isProperties = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What is said of the subject besides its id. @throws SimError invalid_input */
export const aboutOf = (given: Given) => ({
  personProperties: given.object("person") ?? nothing,
  groups: objectOf(given, "groups", "keys of groups by their type", isKey) ?? nothing,
  groupProperties: objectOf(given, "group_properties", "objects, by type", isProperties) ?? nothing,
});

/** Names that an explanation may be asked for with. */
export const explainNames = [
  "distinct_id",
  "project",
  "device_id",
  "anon_distinct_id",
  "person",
  "groups",
  "group_properties",
  "ip",
];

const askedOf = (given: Given): Asked => ({
  distinctId: required(given, "distinct_id"),
  deviceId: given.text("device_id"),
  anonymousId: given.text("anon_distinct_id"),
  address: given.text("ip"),
  ...aboutOf(given),
});

export const projectGiven = (given: Given): number | undefined =>
  given.number("project", { min: 0, max: most });

/** The rules in which the flag itself is not overridden; what others are that it depends on counts. */
export function rulesetWithout(
  desk: ControlDesk,
  project: Project,
  overrides: Overrides,
  key: string,
): Ruleset {
  const others = new Map(overrides);
  others.delete(key);
  return desk.flagBook.overriddenRulesetOf(project, others);
}

const decisionIn = (it: FlagDecision): FlagDecision => ({
  value: it.value,
  enabled: it.enabled,
  variant: it.variant,
  payload: it.payload,
  failed: it.failed,
  reason: it.reason,
  condition_index: it.condition_index,
});

/** What clients get by an override. */
function overridden(
  desk: ControlDesk,
  project: Project,
  overrides: Overrides,
  key: string,
): FlagDecision | undefined {
  const override = overrides.get(key);
  const entry = override && entryOf(desk.flagBook.overriddenRulesetOf(project, overrides), key);
  return entry && overriddenDecision(entry.compiled.flag, override);
}

/** Nothing else is to be told of a flag that is not there. */
const withoutRules = {
  id: null,
  active: false,
  enrollment: null,
  holdout: null,
  conditions: [],
  hint: null,
} as const;

/**
 * Why a flag is what it is for somebody: the rules' own account; over it an override, where there is one.
 * @throws SimError not_found, required, invalid_input
 */
export function explain(desk: ControlDesk, project: Project, key: string, given: Given): FlagExplanation {
  const asked = askedOf(given);
  const overrides = overridesFor(desk.worlds, project.id, asked.distinctId);
  const told = explainFlag(
    rulesetWithout(desk, project, overrides, key),
    key,
    subjectOf(desk, project, asked),
  );
  const byRules = told ? decisionIn(told) : null;
  const decision = overridden(desk, project, overrides, key) ?? byRules;
  if (!decision) throw noSuchFlag(desk, project, key);
  const override = overrides.get(key);
  return {
    project: project.id,
    distinct_id: asked.distinctId,
    ...(told ?? withoutRules),
    key,
    ...decisionIn(decision),
    override: override ? showOverride(override) : null,
    by_rules: byRules,
  };
}
