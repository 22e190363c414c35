import { isObject, own } from "../../../kernel/base/json.ts";
import { capital, counted } from "../../../kernel/base/text.ts";
import { hasConditionSets, rulesVersionOf } from "../../../state/documents/flag-config.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import { cohortName } from "../engine/cohorts.ts";
import { aggregationOf } from "../engine/compile.ts";
import { type ConditionSet, cohortsAsked, type Filters, variantKeys } from "../engine/filters.ts";
import type { Ruleset } from "../engine/ruleset.ts";
import { textOf } from "../engine/values.ts";
import type { FlagWords } from "../shapes.ts";
import { cohortTitle, isNever } from "./filter-words.ts";
import { clauseOf, compiledRulesOf, groupTypeName, nodeWords, percent, ruleWords, shortRules } from "./rule-words.ts";
import { valueWords } from "./trace-words.ts";

/** The share of the matching subjects: `40 % of them get`. */
function whoGets(share: number, groupType: string | undefined, hasClauses: boolean): string {
  if (share >= 100) return groupType === undefined ? "everyone gets" : `every ${groupType} gets`;
  if (share <= 0) return "no one gets";
  if (groupType !== undefined) return `${percent(share)} of all groups of the type "${groupType}" get`;
  return `${percent(share)} of ${hasClauses ? "them" : "all persons"} get`;
}

function whatOf({ variant }: ConditionSet, filters: Filters): string {
  if (!variant) return "it";
  return variantKeys(filters).includes(variant)
    ? `variant ${valueWords(variant)}`
    : `it, as it has no variant ${valueWords(variant)}`;
}

const textOr = <T>(value: unknown, otherwise: T): string | T => (typeof value === "string" ? value : otherwise);

function setWords(set: ConditionSet, filters: Filters, ruleset: Ruleset): string {
  const { properties = [], rollout_percentage } = set;
  const aggregation = aggregationOf(set, filters);
  const groupType = aggregation === null ? undefined : groupTypeName(aggregation, ruleset);
  const clauses = properties.map((it) => clauseOf(it, aggregation, ruleset));
  const share = clauses.some(isNever) ? 0 : (rollout_percentage ?? 100);
  const end = `${whoGets(share, groupType, clauses.length > 0)} ${whatOf(set, filters)}.`;
  return clauses.length === 0 ? capital(end) : `When ${clauses.join(", and ")}: ${end}`;
}

function holdoutOf({ holdout, holdout_groups }: Filters): { share: unknown; variant: string } | undefined {
  if (isObject(holdout)) {
    return { share: own(holdout, "exclusion_percentage"), variant: `holdout-${textOf(own(holdout, "id") ?? null)}` };
  }
  const legacy: unknown = Array.isArray(holdout_groups) ? holdout_groups[0] : undefined;
  if (!isObject(legacy)) return undefined;
  return { share: own(legacy, "rollout_percentage") ?? 100, variant: textOr(own(legacy, "variant"), "holdout") };
}

function holdoutWords(filters: Filters): string[] {
  const found = holdoutOf(filters);
  if (!found) return [];
  if (typeof found.share !== "number") return ["Its holdout has no percentage."];
  const who = found.share >= 100 ? "Everyone is held out and gets" : `${percent(found.share)} are held out and get`;
  return [`${who} variant ${valueWords(found.variant)}, regardless of the condition sets.`];
}

/** Enrolment gives no variant. */
const enrolledGet = (filters: Filters): string => (variantKeys(filters).length === 0 ? "it" : "true, no variant");

function enrollmentWords({ key, filters }: FeatureFlag, ruleset: Ruleset): string[] {
  if (filters.feature_enrollment === true) {
    return [
      `Early access: for a person with the property $feature_enrollment/${key}, only it decides: if it is true, the person gets ${enrolledGet(filters)}.`,
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
    `Early access: for a person with one of these properties, only this decides: when ${clauses}: ${who} ${enrolledGet(filters)}.`,
  ];
}

const runtimes: Readonly<Record<string, string>> = {
  client: "Only for browsers, phones and other clients.",
  server: "Only for servers.",
};

function audienceWords({ active, evaluation_runtime, evaluation_contexts = [], ...flag }: FeatureFlag): string[] {
  const runtime = evaluation_runtime === null ? undefined : runtimes[evaluation_runtime];
  return [
    ...(active ? [] : ["It is inactive: responses leave it out."]),
    ...(flag.is_remote_configuration
      ? ["It is remote configuration: its endpoint returns the same payload to every client."]
      : []),
    ...(runtime === undefined ? [] : [runtime]),
    ...(evaluation_contexts.length === 0
      ? []
      : [
          `Clients that send contexts get it only with one of these: ${evaluation_contexts.map(valueWords).join(", ")}.`,
        ]),
  ];
}

function variantWords({ multivariate }: Filters): string[] {
  const variants = multivariate?.variants ?? [];
  if (variants.length === 0) return [];
  const shares = variants.map((it) => `${valueWords(it.key)} ${percent(it.rollout_percentage)}`).join(", ");
  const rest = 100 - variants.reduce((sum, it) => sum + it.rollout_percentage, 0);
  const left = rest > 1e-9 ? `; ${percent(rest)} get true, no variant` : "";
  const over = rest < -1e-9 ? "; shares beyond 100 %, in this order, are never reached" : "";
  return [`A match gives a variant: ${shares}${left}${over}.`];
}

function payloadTitle(name: string, filters: Filters): string {
  const variants = variantKeys(filters);
  if (name === "true") return variants.length === 0 ? "Payload" : "Payload with true, which is no variant";
  const isKnown = variants.includes(name) || holdoutOf(filters)?.variant === name;
  const title = `Payload with ${valueWords(name)}`;
  return isKnown ? title : `${title}, which is not one of its variants`;
}

function payloadWords({ filters, has_encrypted_payloads }: FeatureFlag): string[] {
  if (has_encrypted_payloads)
    return ["Its payloads are encrypted: /flags leaves it out, only the remote config endpoint has them."];
  return Object.entries(filters.payloads ?? {}).flatMap(([name, payload]) => {
    if (payload === null || payload === undefined) return [];
    // Payloads are JSON text, or the plain value in scenarios.
    const text = typeof payload === "string" ? payload : JSON.stringify(payload);
    const cut = text.length > 200 ? `${text.slice(0, 200)}…` : text;
    return [`${payloadTitle(name, filters)}: ${cut}`];
  });
}

function personHashWords(flag: FeatureFlag, otherwise: string): string[] {
  if (flag.bucketing_identifier === "device_id")
    return [`The device is hashed, not the person. Without a device id, ${otherwise}.`];
  return flag.ensure_experience_continuity
    ? ["Identified persons keep their earlier value, by $anon_distinct_id."]
    : [];
}

/** What is hashed; the sets of one flag may apply to different group types. */
function hashWords(flag: FeatureFlag, ruleset: Ruleset): string[] {
  const { groups = [] } = flag.filters;
  const about = new Set(groups.map((set) => aggregationOf(set, flag.filters)));
  const end = about.size > 1 ? "its sets are skipped" : "it is off";
  return [...about].flatMap((index) => {
    if (index === null) return personHashWords(flag, end);
    const type = groupTypeName(index, ruleset);
    return [`The ${type}'s key is hashed: all members of one ${type} get the same value. Without one, ${end}.`];
  });
}

const earlyExit = "The first set whose properties match decides, even if its rollout excludes the subject.";

function faultWords(flag: FeatureFlag, { entries }: Ruleset): string[] {
  const entry = entries.find(({ compiled }) => compiled.flag === flag);
  const fault = entry?.fault ?? entry?.compiled.failed;
  if (!fault) return [];
  return fault.failed
    ? [`It cannot be computed: ${fault.reason.description}.`]
    : ["It depends on a flag that does not exist: it is off."];
}

/** Cohorts that are described for one flag, at most. */
const mostCohorts = 20;

function cohortWords(id: number, ruleset: Ruleset, open: number[]): string {
  const { compiled, planOf } = ruleset.cohorts;
  const found = compiled.get(id);
  const title = cohortTitle(id, cohortName(ruleset.cohorts, id));
  const start = title.charAt(0).toUpperCase() + title.slice(1);
  if (!found) return `${start} does not exist: the flag cannot be computed.`;
  if (found.members) return `${start} is a list of ${counted(found.members.size, "person")}.`;
  if (found.failure) return `${start} cannot be read: the flag cannot be computed.`;
  open.push(...found.references);
  const isCircular = planOf(id) === "dependency_cycle_cohort";
  const end = isCircular ? ". It depends on a cycle of cohorts: the flag cannot be computed." : ".";
  return `${start}: ${nodeWords(found.tree, ruleset, false)}${end}`;
}

function cohortsWords(ids: readonly number[], ruleset: Ruleset): string[] {
  const found = new Map<number, string>();
  const open = [...ids];
  for (const id of open) {
    if (found.size === mostCohorts) break;
    if (!found.has(id)) found.set(id, cohortWords(id, ruleset, open));
  }
  return [...found.values()];
}

const unreadable = (filters: Filters): string =>
  rulesVersionOf(filters) === 2
    ? "rules that cannot be read"
    : `rules of version ${JSON.stringify(filters.version)}, which are not evaluated`;

/** A flag's rules in short: a line for each condition set or rule, then the variants or the default. */
export function rulesOf(flag: FeatureFlag, ruleset: Ruleset): string[] {
  const { filters } = flag;
  const rules = compiledRulesOf(flag, ruleset);
  if (rules) return shortRules(rules, ruleset);
  if (!hasConditionSets(filters)) return [unreadable(filters)];
  const lines = (filters.groups ?? []).map((set) => {
    const { properties = [], rollout_percentage, variant } = set;
    const clauses = properties.map((it) => clauseOf(it, aggregationOf(set, filters), ruleset));
    const who = clauses.length === 0 ? "everyone" : clauses.join(" and ");
    return `${who}: ${rollout_percentage ?? 100} %${variant ? `, variant ${variant}` : ""}`;
  });
  const variants = filters.multivariate?.variants ?? [];
  const shares = variants.map((it) => `${it.key} ${it.rollout_percentage} %`).join(", ");
  return shares === "" ? lines : [...lines, `variants: ${shares}`];
}

/** A flag's rules in plain English, among the other flags of its project. Never throws: the words describe what cannot be evaluated. */
export function wordsOf(flag: FeatureFlag, ruleset: Ruleset): FlagWords {
  const { filters } = flag;
  const rules = compiledRulesOf(flag, ruleset);
  if (rules) {
    return {
      before: [...audienceWords(flag), `It gives values of the type ${rules.returnType}.`],
      sets: rules.rules.map((rule) => ruleWords(rule, ruleset)),
      after:
        rules.rules.length === 0
          ? [`It has no rules: everyone gets ${valueWords(rules.unmatched.rule?.value ?? null)}.`]
          : [],
      cohorts: [],
      otherwise: valueWords(rules.unmatched.rule?.value ?? null),
    };
  }
  if (!hasConditionSets(filters)) {
    return { before: [...faultWords(flag, ruleset), ...audienceWords(flag)], sets: [], after: [], cohorts: [] };
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
      ...(groups.length === 0 ? ["It has no condition sets: it is off."] : []),
      ...(filters.early_exit === true ? [earlyExit] : []),
      ...variantWords(filters),
      ...payloadWords(flag),
      ...hashWords(flag, ruleset),
    ],
    cohorts: cohortsWords(cohortsAsked(filters), ruleset),
  };
}
