import { z } from "zod";
import type { ErrorCode } from "../../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import { safeParse } from "../../../kernel/base/safe-parse.ts";
import { type RulesVersion, rulesVersionOf } from "../../../state/documents/flag-config.ts";
import { readWireTime } from "../../../state/documents/lenient-fields.ts";
import { FlagFilters } from "../../../state/documents/schemas/feature-flag.ts";
import type { FeatureFlag, Worlds } from "../../../state/documents/world.ts";
import { firstInvalid, invalid } from "../../api-frame/fields.ts";
import type { ConditionSet, Filters, PropertyFilter } from "../engine/filters.ts";
import { referenceIn } from "../engine/values.ts";
import { cohortOf, dependenciesOf, isBehavioral } from "./cohort-rules.ts";
import { checkRules } from "./rule-writes.ts";

/** The rules for a flag's `filters`. Upstream PostHog/posthog posthog/api/feature_flag.py, validate_filters. */

export interface FilterContext {
  readonly worlds: Worlds;
  readonly project: number;
  /** The stored flag; absent while it is being created. */
  readonly flag?: FeatureFlag | undefined;
  /** Makes the ids and seeds of new rules of version 2. */
  readonly makeId: () => string;
}

type Problem = readonly [detail: string, code?: ErrorCode];
type Checked = Filters & { groups: ConditionSet[] };
type Rule = (filters: Checked, context: FilterContext & { readonly payloads: Json | undefined }) => Problem | undefined;

/** The condition sets of a flag that was made without any: all are in. Upstream FeatureFlag.get_filters. */
export const openFilters: Filters = { groups: [{ properties: [], rollout_percentage: null }] };

/** `payloads` has its own messages. */
const Structure = FlagFilters.extend({ payloads: z.unknown().optional() });

const listedLimit = 1000;

function firstOf<T>(list: readonly T[], find: (it: T) => Problem | undefined): Problem | undefined {
  for (const it of list) {
    const problem = find(it);
    if (problem) return problem;
  }
  return undefined;
}

function written(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "string" ? value : JSON.stringify(value);
}

const percentages: Rule = ({ groups, multivariate }) => {
  const all = [...groups, ...(multivariate?.variants ?? [])].map((it) => it.rollout_percentage ?? 0);
  return all.every((it) => it >= 0 && it <= 100)
    ? undefined
    : ["Filters are not valid (rollout percentages must be between 0 and 100)"];
};

const aggregationOf = (set: ConditionSet, filters: Filters): unknown =>
  (Object.hasOwn(set, "aggregation_group_type_index")
    ? set.aggregation_group_type_index
    : filters.aggregation_group_type_index) ?? null;

const personTypes: readonly unknown[] = ["person", "cohort", "flag"];

const propertyTypes: Rule = (filters) =>
  firstOf(filters.groups, (set) => {
    const aggregation = aggregationOf(set, filters);
    const properties = set.properties ?? [];
    if (aggregation === null) {
      return properties.every(({ type }) => personTypes.includes(type))
        ? undefined
        : ["Filters are not valid (can only use person, cohort, and flag properties)"];
    }
    return properties.every(({ type, group_type_index: it }) => type === "group" && it === aggregation)
      ? undefined
      : ["Filters are not valid (can only use group properties)"];
  });

const propertiesOf = (filters: Filters): PropertyFilter[] =>
  (filters.groups ?? []).flatMap((set) => set.properties ?? []);

const flagFilters = (filters: Filters): PropertyFilter[] => propertiesOf(filters).filter(({ type }) => type === "flag");

const flagOperators: Rule = (filters) =>
  flagFilters(filters).every(({ operator }) => operator === "flag_evaluates_to")
    ? undefined
    : ["Flag properties must use the 'flag_evaluates_to' operator"];

function flagNamed({ worlds, project }: FilterContext, id: number | undefined): FeatureFlag | undefined {
  const flag = id === undefined ? undefined : worlds.get("feature_flags", id);
  return flag?.project === project && !flag.deleted ? flag : undefined;
}

function wayBack(filters: Filters, to: number, context: FilterContext, seen: Set<number>): string[] | undefined {
  for (const { key } of flagFilters(filters)) {
    const id = referenceIn(key);
    const next = flagNamed(context, id);
    if (id === to) return [];
    if (!next || seen.has(next.id)) continue;
    seen.add(next.id);
    const rest = wayBack(next.filters, to, context, seen);
    if (rest) return [next.key, ...rest];
  }
  return undefined;
}

const flagReferences: Rule = (filters, context) =>
  firstOf(flagFilters(filters), ({ key }) => {
    const id = referenceIn(key);
    if (id === undefined) {
      return [`Flag dependencies must reference flag IDs (integers), not flag keys. Invalid reference: '${key}'`];
    }
    return flagNamed(context, id) ? undefined : [`Flag dependency references non-existent flag with ID ${id}`];
  });

const flagCycles: Rule = (filters, context) => {
  const { flag } = context;
  const way = flag && wayBack(filters, flag.id, context, new Set());
  if (!flag || !way) return undefined;
  return way.length === 0
    ? [`Feature flag '${flag.key}' cannot depend on itself`]
    : [`Circular dependency detected: ${[flag.key, ...way, flag.key].join(" → ")}`];
};

const variantsOf = ({ multivariate }: Filters) => multivariate?.variants ?? [];

const variantSum: Rule = (filters) => {
  const variants = variantsOf(filters);
  const sum = variants.reduce((total, it) => total + it.rollout_percentage, 0);
  return variants.length === 0 || sum === 100
    ? undefined
    : ["Invalid variant definitions: Variant rollout percentages must sum to 100."];
};

const variantOverrides: Rule = (filters) => {
  const known = new Set(variantsOf(filters).map(({ key }) => key));
  return filters.groups.every(({ variant }) => !variant || known.has(variant))
    ? undefined
    : ["Filters are not valid (variant override does not exist)"];
};

function cohortProblem({ value }: PropertyFilter, { worlds, project }: FilterContext): Problem | undefined {
  const cohort = cohortOf(worlds, project, referenceIn(value));
  if (!cohort) return [`Cohort with id ${written(value)} does not exist`, "cohort_does_not_exist"];
  const behavioral = [cohort, ...dependenciesOf(worlds, cohort)].find(isBehavioral);
  return (
    behavioral && [
      `Cohort '${written(behavioral.name)}' with filters on events cannot be used in feature flags.`,
      "behavioral_cohort_found",
    ]
  );
}

const isDate = (value: unknown): boolean =>
  typeof value === "string" &&
  (/^-?\d{1,4}[hdwmy]$/.test(value) || readWireTime(value) !== undefined || !Number.isNaN(Date.parse(value)));

const dateOperators: readonly unknown[] = ["is_date_before", "is_date_after", "is_date_exact"];
const listOperators: readonly unknown[] = ["icontains_multi", "not_icontains_multi"];
const textOperators: readonly unknown[] = [
  "regex",
  "icontains",
  "not_regex",
  "not_icontains",
  "gte",
  "lte",
  "gt",
  "lt",
];

type PropertyRule = (filter: PropertyFilter, context: FilterContext) => Problem | undefined;

const propertyRules: readonly PropertyRule[] = [
  ({ key, value }) =>
    Array.isArray(value) && value.length > listedLimit
      ? [`Property group expressions of type ${key} cannot contain more than ${listedLimit} values.`]
      : undefined,
  (filter, context) => (filter.type === "cohort" ? cohortProblem(filter, context) : undefined),
  ({ operator, value }) =>
    dateOperators.includes(operator) && !isDate(value)
      ? [`Invalid date value: ${written(value)}`, "invalid_date"]
      : undefined,
  ({ operator, value }) =>
    textOperators.includes(operator) && typeof value !== "string"
      ? [`Invalid value for operator ${operator}: ${written(value)}`, "invalid_value"]
      : undefined,
  ({ operator, value }) =>
    listOperators.includes(operator) && !Array.isArray(value)
      ? [`${operator} operator requires a list of values`, "invalid_value"]
      : undefined,
];

const properties: Rule = (filters, context) =>
  firstOf(propertiesOf(filters), (filter) => firstOf(propertyRules, (rule) => rule(filter, context)));

function isPayload(value: unknown): boolean {
  if (typeof value !== "string") return true;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

/** As they were sent: they are not part of the structure, the service has its own messages. */
const payloads: Rule = (filters, { payloads: given = {} }) => {
  if (!isObject(given)) return ["Payloads must be passed as a dictionary"];
  if (!Object.values(given).every(isPayload)) return ["Payload value is not valid JSON"];
  const names = Object.keys(given);
  if (filters.multivariate) {
    const variants = new Set(variantsOf(filters).map(({ key }) => key));
    return names.every((name) => variants.has(name))
      ? undefined
      : ["Payload keys must match a variant key for multivariate flags"];
  }
  return names.every((name) => name === "true") ? undefined : ["Payload keys must be 'true' for boolean flags"];
};

const rules: readonly Rule[] = [
  percentages,
  propertyTypes,
  flagOperators,
  flagReferences,
  flagCycles,
  variantSum,
  variantOverrides,
  properties,
  payloads,
];

/** @throws SimError unsupported_config_version */
function checkedVersion(raw: JsonObject): RulesVersion {
  const version = rulesVersionOf(raw);
  if (version !== undefined) return version;
  throw invalid(
    `Filters are not valid (rules of version ${written(raw.version)} are not supported by phx-sim; use version 1 or 2)`,
    "filters",
    "unsupported_config_version",
  );
}

/** Filters of another structure crash upstream; here they are an error like the others. */
function structured(raw: JsonObject): Checked {
  const result = safeParse(Structure, raw, { reportInput: true });
  if (!result.success) {
    const { message, extra } = firstInvalid(result.error);
    const place = (extra.attr ?? "").replaceAll("__", ".");
    throw invalid(`Filters are not valid (${place}: ${message})`, "filters");
  }
  const { payloads: given, ...rest } = result.data;
  return { ...rest, groups: rest.groups ?? [], ...(isObject(given) && { payloads: given }) };
}

/**
 * The checked filters; undefined for filters of version 1 without condition sets.
 * @throws SimError with the service's message for the first broken rule
 */
export function checkFilters(raw: JsonObject | undefined, context: FilterContext): Filters | undefined {
  if (raw === undefined) return undefined;
  if (checkedVersion(raw) === 2) {
    // The document is JSON: zod's loose objects only forget it.
    return checkRules(raw, context.flag?.filters as JsonObject | undefined, context.makeId) as Filters;
  }
  if (!Object.hasOwn(raw, "groups")) return undefined;
  const filters = structured(raw);
  const problem = firstOf(rules, (rule) => rule(filters, { ...context, payloads: raw.payloads }));
  if (problem) throw invalid(problem[0], "filters", problem[1]);
  return filters;
}
