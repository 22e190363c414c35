import { parsedJson } from "../../../kernel/base/json.ts";
import { blankFeatureFlag } from "../../../state/documents/blank.ts";
import type { FeatureFlag, StoredFlagOverride, Worlds } from "../../../state/documents/world.ts";
import { type Decision, payloadText } from "./decision.ts";
import { reasons } from "./reasons.ts";
import type { FlagResult } from "./ruleset.ts";

export type FlagOverrides = ReadonlyMap<string, StoredFlagOverride>;

const none: FlagOverrides = new Map();

/**
 * The overrides that count for a distinct id, by the flag's key: its own come before those for all.
 * Without a distinct id (local evaluation) only those for all count.
 */
export function overridesFor(
  worlds: Pick<Worlds, "current">,
  project: number,
  distinctId: string | undefined,
): FlagOverrides {
  const all = worlds.current.flag_overrides;
  if (all.length === 0) return none;
  const found = new Map<string, StoredFlagOverride>();
  for (const override of all) {
    if (override.project !== project) continue;
    const isOwn = override.distinct_id !== null;
    if (isOwn ? override.distinct_id === distinctId : !found.has(override.flag)) {
      found.set(override.flag, override);
    }
  }
  return found;
}

const payloadName = ({ value }: StoredFlagOverride): string => (typeof value === "string" ? value : "true");

/** As JSON text; a string that is JSON, as the service's own payloads are, stays as it is. */
function ownPayload({ payload }: StoredFlagOverride): string | null {
  if (payload === null) return null;
  return typeof payload === "string" && parsedJson(payload) !== undefined ? payload : JSON.stringify(payload);
}

/** The override's own payload, else what the flag gives with this value; a flag that is off has none. */
function payloadOf(flag: FeatureFlag, override: StoredFlagOverride): string | null {
  if (override.value === false) return null;
  return ownPayload(override) ?? payloadText(flag.filters.payloads, payloadName(override));
}

export function overriddenDecision(flag: FeatureFlag, override: StoredFlagOverride): Decision {
  const { value } = override;
  const { description } = reasons.override;
  const subject = override.distinct_id === null ? "" : " for this distinct_id";
  return {
    value,
    enabled: value !== false,
    variant: typeof value === "string" ? value : null,
    payload: payloadOf(flag, override),
    reason: { code: "override", description: `${description}${subject}` },
    condition_index: null,
    failed: false,
  };
}

/**
 * A flag whose rules give an override's value to all: one condition set of 100 % with the variant, or
 * no condition set at all. SDKs that evaluate by themselves come to the same value.
 */
export function overriddenFlag(flag: FeatureFlag, override: StoredFlagOverride): FeatureFlag {
  const { value } = override;
  const payload = payloadOf(flag, override);
  const variant = typeof value === "string" ? { variant: value } : {};
  return {
    ...flag,
    active: true,
    ensure_experience_continuity: false,
    bucketing_identifier: null,
    filters: {
      groups: value === false ? [] : [{ properties: [], rollout_percentage: 100, ...variant }],
      ...(typeof value === "string" && { multivariate: { variants: [{ key: value, rollout_percentage: 100 }] } }),
      payloads: payload === null ? {} : { [payloadName(override)]: payload },
    },
  };
}

const unknownFlag = (project: number, key: string): FeatureFlag => ({
  ...blankFeatureFlag({ id: 0, project, key, evaluation_runtime: null }, ""),
  version: 0,
});

/** The flags of a project with the overridden ones replaced; keys that no flag has follow at the end. */
export function overriddenFlags(
  flags: readonly FeatureFlag[],
  project: number,
  overrides: FlagOverrides,
): FeatureFlag[] {
  const unknown = new Map(overrides);
  const replaced = flags.map((flag) => {
    const override = flag.deleted ? undefined : overrides.get(flag.key);
    if (!override) return flag;
    unknown.delete(flag.key);
    return overriddenFlag(flag, override);
  });
  const added = Array.from(unknown, ([key, override]) => overriddenFlag(unknownFlag(project, key), override));
  return [...replaced, ...added];
}

/** Results of an overridden ruleset (`Rulesets.overriddenRulesetOf`), overridden flags marked by their reason. */
export function withOverrides(results: FlagResult[], overrides: FlagOverrides): FlagResult[] {
  if (overrides.size === 0) return results;
  return results.map((result) => {
    const override = overrides.get(result.compiled.flag.key);
    if (!override) return result;
    return { ...result, decision: overriddenDecision(result.compiled.flag, override) };
  });
}
