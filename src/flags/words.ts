import { isObject, type Json, own } from "../kernel/json.ts";
import type { Cohort, FeatureFlag } from "../model/world.ts";
import type { ConditionSet, Filters, PropertyFilter } from "./filters.ts";
import { referenceIn } from "./references.ts";
import { cohortsWords } from "./words-cohorts.ts";
import { filterWords } from "./words-filters.ts";
import { valueWords } from "./words-operators.ts";

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

/** What names the things that flags refer to. */
export interface WordsScene {
  /** By their index. */
  readonly groupTypes: readonly string[];
  /** The project's. */
  readonly cohorts: readonly Cohort[];
  readonly flags: readonly Pick<FeatureFlag, "id" | "key" | "deleted">[];
}

const groupTypeName = (index: number, { groupTypes }: WordsScene): string =>
  groupTypes[index] ?? `group type ${index}`;

const textOr = <T>(value: unknown, otherwise: T): string | T =>
  typeof value === "string" ? value : otherwise;

function cohortNamed(value: unknown, { cohorts }: WordsScene): string | undefined {
  const id = referenceIn(value);
  return cohorts.find((it) => it.id === id && it.deleted !== true)?.name ?? undefined;
}

function flagNamed(key: string, { flags }: WordsScene): string {
  const id = referenceIn(key);
  return flags.find((it) => it.id === id && !it.deleted)?.key ?? key;
}

function clauseOf(filter: PropertyFilter, aggregation: number | null, scene: WordsScene): string {
  const type = textOr(filter.type, aggregation === null ? "person" : "group");
  const index = typeof filter.group_type_index === "number" ? filter.group_type_index : aggregation;
  return filterWords({
    key: filter.key,
    type,
    operator: textOr(filter.operator, undefined),
    // The document is JSON: zod's loose objects only forget it.
    value: filter.value as Json | undefined,
    groupType: index === null ? undefined : groupTypeName(index, scene),
    cohortName: type === "cohort" ? cohortNamed(filter.value, scene) : undefined,
    flagKey: type === "flag" ? flagNamed(filter.key, scene) : undefined,
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

const indexOf = (value: unknown): number | null => (typeof value === "number" ? value : null);

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function setWords(set: ConditionSet, filters: Filters, scene: WordsScene): string {
  const { properties = [], rollout_percentage } = set;
  const isOwn = Object.hasOwn(set, "aggregation_group_type_index");
  const aggregation = indexOf((isOwn ? set : filters).aggregation_group_type_index);
  const groupType = aggregation === null ? undefined : groupTypeName(aggregation, scene);
  const who = whoGets(rollout_percentage ?? 100, groupType, properties.length > 0);
  const end = `${who} ${whatOf(set, filters)}.`;
  if (properties.length === 0) return capital(end);
  return `When ${properties.map((it) => clauseOf(it, aggregation, scene)).join(", and ")}: ${end}`;
}

/** The number, from 0 to 100, of a holdout in its new form or its old one. */
function holdoutWords({ holdout, holdout_groups }: Filters): string[] {
  const legacy = Array.isArray(holdout_groups) && isObject(holdout_groups[0]) ? holdout_groups[0] : undefined;
  const found = isObject(holdout)
    ? { share: own(holdout, "exclusion_percentage"), variant: `holdout-${String(own(holdout, "id"))}` }
    : legacy && {
        share: own(legacy, "rollout_percentage") ?? 100,
        variant: textOr(own(legacy, "variant"), "holdout"),
      };
  if (!found) return [];
  if (typeof found.share !== "number") return ["Its holdout has no percentage: the flag cannot be computed."];
  const who =
    found.share >= 100 ? "Everyone is held out and gets" : `${percent(found.share)} are held out and get`;
  return [`${who} variant ${valueWords(found.variant)} whatever the condition sets say.`];
}

function enrollmentWords({ key, filters }: FeatureFlag, scene: WordsScene): string[] {
  if (filters.feature_enrollment === true) {
    return [
      `Early access: who has the person property $feature_enrollment/${key} gets it when that is true, and does not get it otherwise, whatever the condition sets say.`,
    ];
  }
  const legacy: unknown = Array.isArray(filters.super_groups) ? filters.super_groups[0] : undefined;
  if (!isObject(legacy)) return [];
  // Shaped like a condition set; every key is read defensively.
  const { properties } = legacy as ConditionSet;
  const sound = Array.isArray(properties) ? properties.filter((it) => typeof it?.key === "string") : [];
  const clauses = sound.map((it) => clauseOf(it, null, scene)).join(", and ");
  return [`Early access: for a person who has one of these properties, only this decides: ${clauses}.`];
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
      ? ["It is remote configuration: a payload, the same for everyone."]
      : []),
    ...(runtime === undefined ? [] : [runtime]),
    ...(evaluation_contexts.length === 0
      ? []
      : [
          `Only for callers that name one of these contexts: ${evaluation_contexts.map(valueWords).join(", ")}.`,
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
  return [`Who gets it gets a variant: ${shares}${left}.`];
}

function payloadWords({ filters, has_encrypted_payloads }: FeatureFlag): string[] {
  if (has_encrypted_payloads) return ["Its payloads are encrypted: only the remote config endpoint has it."];
  return Object.entries(filters.payloads ?? {}).flatMap(([name, payload]) => {
    if (payload === null || payload === undefined) return [];
    // Payloads are JSON text, or the plain value in scenarios.
    const text = typeof payload === "string" ? payload : JSON.stringify(payload);
    const cut = text.length > 200 ? `${text.slice(0, 200)}…` : text;
    return [
      name === "true"
        ? `With it comes the payload ${cut}`
        : `With ${valueWords(name)} comes the payload ${cut}`,
    ];
  });
}

function hashWords(flag: FeatureFlag, scene: WordsScene): string[] {
  const aggregation = indexOf(flag.filters.aggregation_group_type_index);
  if (aggregation !== null) {
    const type = groupTypeName(aggregation, scene);
    return [`The ${type}'s key is hashed: all of one ${type} get the same. Without one, nobody gets it.`];
  }
  return [
    ...(flag.bucketing_identifier === "device_id"
      ? ["The device is hashed, not the person. Without a device id, nobody gets it."]
      : []),
    ...(flag.ensure_experience_continuity
      ? ["Who is identified keeps the value from before, by $anon_distinct_id."]
      : []),
  ];
}

const earlyExit = "The first set whose properties match decides, even when its rollout says no.";

/**
 * A flag's rules in plain English. It never throws: what cannot be evaluated is told as such. `rulesOf` of the
 * control API is the short form of it.
 */
export function wordsOf(flag: FeatureFlag, scene: WordsScene): FlagWords {
  const { filters } = flag;
  const groups = filters.groups ?? [];
  return {
    before: [...audienceWords(flag), ...enrollmentWords(flag, scene), ...holdoutWords(filters)],
    sets: groups.map((set) => setWords(set, filters, scene)),
    after: [
      ...(groups.length === 0 ? ["It has no condition sets: nobody gets it."] : []),
      ...(filters.early_exit === true ? [earlyExit] : []),
      ...variantWords(filters),
      ...payloadWords(flag),
      ...hashWords(flag, scene),
    ],
    cohorts: cohortsWords(cohortIdsIn(filters), scene.cohorts),
  };
}

/** The cohorts that condition sets ask for. */
const cohortIdsIn = ({ groups = [] }: Filters): number[] =>
  groups.flatMap(({ properties = [] }) =>
    properties.flatMap(({ type, value }) => (type === "cohort" ? [referenceIn(value) ?? []].flat() : [])),
  );
