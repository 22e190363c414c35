import { isObject, type Json, own } from "../kernel/json.ts";
import { hasKnownRules } from "../model/flag-config.ts";
import type { FeatureFlag } from "../model/world.ts";
import { cohortName } from "./cohorts.ts";
import { aggregationOf } from "./compile.ts";
import type { ConditionSet, Filters, PropertyFilter } from "./filters.ts";
import { referenceIn } from "./references.ts";
import { entryFor, type Ruleset } from "./ruleset.ts";
import { textOf } from "./values.ts";
import { cohortsWords } from "./words-cohorts.ts";
import { filterWords, sayNever } from "./words-filters.ts";
import { valueWords } from "./words-values.ts";

/** A flag's rules in plain English, in the order in which they decide. */
export interface FlagWords {
  /** What counts before the condition sets: that it is off, for whom it is, enrolment, holdouts. */
  readonly before: readonly string[];
  /** One sentence for each condition set; the first that matches decides. */
  readonly sets: readonly string[];
  /** What comes of a match: variants, payloads, what is hashed. */
  readonly after: readonly string[];
  /** The cohorts that it asks for. */
  readonly cohorts: readonly string[];
}

const groupTypeName = (index: number, { source }: Ruleset): string =>
  source.groupTypes?.[index] ?? `group type ${index}`;

const textOr = <T>(value: unknown, otherwise: T): string | T =>
  typeof value === "string" ? value : otherwise;

/** What a filter on a flag asks for, where it is there. */
function flagAsked(key: string, ruleset: Ruleset) {
  const asked = entryFor(ruleset, referenceIn(key) ?? key);
  return { flagKey: asked?.compiled.flag.key, isFlagKnown: asked !== undefined };
}

function clauseOf(filter: PropertyFilter, aggregation: number | null, ruleset: Ruleset): string {
  const type = textOr(filter.type, aggregation === null ? "person" : "group");
  const index = typeof filter.group_type_index === "number" ? filter.group_type_index : aggregation;
  return filterWords({
    key: filter.key,
    type,
    operator: textOr(filter.operator, undefined),
    // The document is JSON: zod's loose objects only forget it.
    value: filter.value as Json | undefined,
    groupType: index === null ? undefined : groupTypeName(index, ruleset),
    cohortName: type === "cohort" ? cohortName(ruleset.cohorts, referenceIn(filter.value)) : undefined,
    ...(type === "flag" && flagAsked(filter.key, ruleset)),
    matching: ruleset.matching,
  });
}

const percent = (share: number): string => `${Number(share.toFixed(4))} %`;

/** Who of those that match gets it, as the start of a sentence's end: `40 % of them get`. */
function whoGets(share: number, groupType: string | undefined, hasClauses: boolean): string {
  if (share >= 100) return groupType === undefined ? "everyone gets" : `every ${groupType} gets`;
  if (share <= 0) return "nobody gets";
  if (groupType !== undefined) return `${percent(share)} of all groups of the type "${groupType}" get`;
  return `${percent(share)} of ${hasClauses ? "them" : "all persons"} get`;
}

const variantKeys = ({ multivariate }: Filters): string[] =>
  (multivariate?.variants ?? []).map(({ key }) => key);

function whatOf({ variant }: ConditionSet, filters: Filters): string {
  if (!variant) return "it";
  return variantKeys(filters).includes(variant)
    ? `variant ${valueWords(variant)}`
    : `it, as it has no variant ${valueWords(variant)}`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function setWords(set: ConditionSet, filters: Filters, ruleset: Ruleset): string {
  const { properties = [], rollout_percentage } = set;
  const aggregation = aggregationOf(set, filters);
  const groupType = aggregation === null ? undefined : groupTypeName(aggregation, ruleset);
  const clauses = properties.map((it) => clauseOf(it, aggregation, ruleset));
  const share = clauses.some(sayNever) ? 0 : (rollout_percentage ?? 100);
  const end = `${whoGets(share, groupType, clauses.length > 0)} ${whatOf(set, filters)}.`;
  return clauses.length === 0 ? capital(end) : `When ${clauses.join(", and ")}: ${end}`;
}

/** A holdout in its new form or its old one: its percentage, and the variant of who is held out. */
function holdoutOf({ holdout, holdout_groups }: Filters): { share: unknown; variant: string } | undefined {
  if (isObject(holdout)) {
    return {
      share: own(holdout, "exclusion_percentage"),
      variant: `holdout-${textOf(own(holdout, "id") ?? null)}`,
    };
  }
  const legacy: unknown = Array.isArray(holdout_groups) ? holdout_groups[0] : undefined;
  if (!isObject(legacy)) return undefined;
  return {
    share: own(legacy, "rollout_percentage") ?? 100,
    variant: textOr(own(legacy, "variant"), "holdout"),
  };
}

function holdoutWords(filters: Filters): string[] {
  const found = holdoutOf(filters);
  if (!found) return [];
  if (typeof found.share !== "number") return ["Its holdout has no percentage."];
  const who =
    found.share >= 100 ? "Everyone is held out and gets" : `${percent(found.share)} are held out and get`;
  return [`${who} variant ${valueWords(found.variant)} whatever the condition sets say.`];
}

/** Enrolment gives no variant. */
const enrolledGet = (filters: Filters): string =>
  variantKeys(filters).length === 0 ? "it" : "true, no variant";

function enrollmentWords({ key, filters }: FeatureFlag, ruleset: Ruleset): string[] {
  if (filters.feature_enrollment === true) {
    return [
      `Early access: who has the person property $feature_enrollment/${key} gets ${enrolledGet(filters)} when that is true, and does not get it otherwise, whatever the condition sets say.`,
    ];
  }
  const legacy: unknown = Array.isArray(filters.super_groups) ? filters.super_groups[0] : undefined;
  if (!isObject(legacy)) return [];
  // Shaped like a condition set; every key is read defensively.
  const { properties, rollout_percentage } = legacy as ConditionSet;
  const sound = Array.isArray(properties) ? properties.filter((it) => typeof it?.key === "string") : [];
  if (sound.length === 0) return [];
  const clauses = sound.map((it) => clauseOf(it, null, ruleset)).join(", and ");
  const who = whoGets(typeof rollout_percentage === "number" ? rollout_percentage : 100, undefined, true);
  return [
    `Early access: for a person who has one of these properties, only this decides: when ${clauses}: ${who} ${enrolledGet(filters)}.`,
  ];
}

const runtimes: Readonly<Record<string, string>> = {
  client: "Only for browsers, phones and other clients.",
  server: "Only for servers.",
};

function audienceWords({
  active,
  evaluation_runtime,
  evaluation_contexts = [],
  ...flag
}: FeatureFlag): string[] {
  const runtime = evaluation_runtime === null ? undefined : runtimes[evaluation_runtime];
  return [
    ...(active ? [] : ["It is inactive: answers leave it out."]),
    ...(flag.is_remote_configuration
      ? ["It is remote configuration: asked for as such, its payload is the same for everyone."]
      : []),
    ...(runtime === undefined ? [] : [runtime]),
    ...(evaluation_contexts.length === 0
      ? []
      : [
          `Callers that name contexts get it only with one of these: ${evaluation_contexts.map(valueWords).join(", ")}.`,
        ]),
  ];
}

/** Is there anything to draw, and how is it drawn? */
function variantWords({ multivariate }: Filters): string[] {
  const variants = multivariate?.variants ?? [];
  if (variants.length === 0) return [];
  const shares = variants.map((it) => `${valueWords(it.key)} ${percent(it.rollout_percentage)}`).join(", ");
  const rest = 100 - variants.reduce((sum, it) => sum + it.rollout_percentage, 0);
  const left = rest > 1e-9 ? `; ${percent(rest)} get no variant but true` : "";
  const over = rest < -1e-9 ? "; what is beyond 100 % in this order gets nobody" : "";
  return [`Who gets it gets a variant: ${shares}${left}${over}.`];
}

/** When a payload comes, the start of a sentence. */
function whenPayload(name: string, filters: Filters): string {
  const variants = variantKeys(filters);
  if (name === "true")
    return variants.length === 0 ? "With it comes" : "With true, which is no variant, comes";
  const isThere = variants.includes(name) || holdoutOf(filters)?.variant === name;
  return isThere
    ? `With ${valueWords(name)} comes`
    : `It has no variant ${valueWords(name)}, with which would come`;
}

function payloadWords({ filters, has_encrypted_payloads }: FeatureFlag): string[] {
  if (has_encrypted_payloads)
    return ["Its payloads are encrypted: /flags leaves it out, only the remote config endpoint has them."];
  return Object.entries(filters.payloads ?? {}).flatMap(([name, payload]) => {
    if (payload === null || payload === undefined) return [];
    // Payloads are JSON text, or the plain value in scenarios.
    const text = typeof payload === "string" ? payload : JSON.stringify(payload);
    const cut = text.length > 200 ? `${text.slice(0, 200)}…` : text;
    return [`${whenPayload(name, filters)} the payload ${cut}`];
  });
}

function personHashWords(flag: FeatureFlag, otherwise: string): string[] {
  if (flag.bucketing_identifier === "device_id")
    return [`The device is hashed, not the person. Without a device id, ${otherwise}.`];
  return flag.ensure_experience_continuity
    ? ["Who is identified keeps the value from before, by $anon_distinct_id."]
    : [];
}

/** What is hashed; sets of one flag may be about different things. */
function hashWords(flag: FeatureFlag, ruleset: Ruleset): string[] {
  const { groups = [] } = flag.filters;
  const about = new Set(groups.map((set) => aggregationOf(set, flag.filters)));
  const end = about.size > 1 ? "its sets are passed over" : "nobody gets it";
  return [...about].flatMap((index) => {
    if (index === null) return personHashWords(flag, end);
    const type = groupTypeName(index, ruleset);
    return [`The ${type}'s key is hashed: all of one ${type} get the same. Without one, ${end}.`];
  });
}

const earlyExit = "The first set whose properties match decides, even when its rollout says no.";

/** Why it can be computed for nobody. */
function faultWords(flag: FeatureFlag, { entries }: Ruleset): string[] {
  const entry = entries.find(({ compiled }) => compiled.flag === flag);
  const fault = entry?.fault ?? entry?.compiled.failed;
  if (!fault) return [];
  return fault.failed
    ? [`It cannot be computed for anybody: ${fault.reason.description}.`]
    : ["It depends on a flag that does not exist: nobody gets it."];
}

/**
 * A flag's rules in plain English, among the others of its project. It never throws: what cannot be evaluated
 * is told as such. `rulesOf` of the control API is the short form of it.
 */
export function wordsOf(flag: FeatureFlag, ruleset: Ruleset): FlagWords {
  const { filters } = flag;
  if (!hasKnownRules(filters)) {
    return {
      before: [...faultWords(flag, ruleset), ...audienceWords(flag)],
      sets: [],
      after: [],
      cohorts: [],
    };
  }
  const groups = filters.groups ?? [];
  return {
    before: [
      ...faultWords(flag, ruleset),
      ...audienceWords(flag),
      ...enrollmentWords(flag, ruleset),
      ...holdoutWords(filters),
    ],
    sets: groups.map((set) => setWords(set, filters, ruleset)),
    after: [
      ...(groups.length === 0 ? ["It has no condition sets: nobody gets it."] : []),
      ...(filters.early_exit === true ? [earlyExit] : []),
      ...variantWords(filters),
      ...payloadWords(flag),
      ...hashWords(flag, ruleset),
    ],
    cohorts: cohortsWords(cohortIdsIn(filters), ruleset),
  };
}

/** The cohorts that condition sets ask for. */
const cohortIdsIn = ({ groups = [] }: Filters): number[] =>
  groups.flatMap(({ properties = [] }) =>
    properties.flatMap(({ type, value }) => (type === "cohort" ? [referenceIn(value) ?? []].flat() : [])),
  );
