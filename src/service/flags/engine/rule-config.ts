import { isObject, type Json, type JsonObject, own, type Path, pathText } from "../../../kernel/base/json.ts";
import { timeOfText } from "./dates.ts";
import { operatorNames } from "./operators.ts";
import { versionOf } from "./versions.ts";
import { utc } from "./zone.ts";

/**
 * The document of rules of version 2, and what is wrong with one. Upstream PostHog rust/feature-flags, flags/config_v2;
 * products/feature_flags, config_validation, which has these codes.
 */

export type ReturnType = "boolean" | "string" | "number" | "object";
export type RuleType = "targeted_release" | "percentage_rollout" | "experiment";

export interface RuleProperty {
  readonly key: string;
  readonly operator?: string | null;
  readonly value?: Json;
  readonly negation?: boolean | null;
}

interface Rollout {
  readonly rollout_percentage: number;
  readonly on_rollout_miss: "continue" | "return_default";
  readonly seed: string;
}

export interface RuleHoldout {
  readonly seed: string;
  readonly exclusion_percentage: number;
}

interface Experiment extends Rollout {
  readonly rule_type: "experiment";
  readonly paused: boolean;
  readonly variants: readonly { readonly key: string; readonly weight: number; readonly value: Json }[];
  readonly holdout?: RuleHoldout;
}

export type RuleDocument = {
  readonly id: string;
  readonly targeting: { readonly properties: readonly RuleProperty[] };
} & (
  | { readonly rule_type: "targeted_release"; readonly value: Json }
  | (Rollout & { readonly rule_type: "percentage_rollout"; readonly value: Json })
  | Experiment
);

export interface RulesDocument {
  readonly return_type: ReturnType;
  /** null: none. */
  readonly default_value: Json;
  readonly rules: readonly RuleDocument[];
}

/** `unsupported` is correct in itself, but neither the service nor the sim evaluates it. */
export type ConfigCode = "required" | "invalid" | "unknown_field" | "not_unique" | "unsupported" | "limit_exceeded";

export interface ConfigProblem {
  /** From the filters on. */
  readonly at: Path;
  readonly code: ConfigCode;
  readonly detail: string;
}

const mostBytes = 512 * 1024;
const mostRules = 100;
const mostProperties = 100;
const longestSeed = 400;
const fewestVariants = 2;
const mostVariants = 20;
const mostDepth = 20;

type Check = (value: Json | undefined, at: Path) => ConfigProblem[];
type Fields = Readonly<Record<string, Check>>;

const problem = (at: Path, detail: string, code: ConfigCode = "invalid"): ConfigProblem[] => [{ at, code, detail }];

const must =
  (accepts: (value: Json) => boolean, detail: string): Check =>
  (value, at) => {
    if (value === undefined) return problem(at, "This field is required.", "required");
    return accepts(value) ? [] : problem(at, detail);
  };

const optional =
  (check: Check): Check =>
  (value, at) =>
    value === undefined ? [] : check(value, at);

const anything: Check = () => [];
const document = must(isObject, "Must be an object.");
const array = must(Array.isArray, "Must be an array.");

/** An object with these fields and no others. */
const object =
  (fieldsOf: (object: JsonObject) => Fields): Check =>
  (value, at) => {
    if (!isObject(value)) return document(value, at);
    const fields = fieldsOf(value);
    const others = Object.keys(value).filter((name) => !Object.hasOwn(fields, name));
    return [
      ...others.flatMap((name) => problem([...at, name], "Unknown field.", "unknown_field")),
      ...Object.entries(fields).flatMap(([name, check]) => check(own(value, name), [...at, name])),
    ];
  };

const list =
  (item: Check, most: number, what: string): Check =>
  (value, at) => {
    if (!Array.isArray(value)) return array(value, at);
    if (value.length > most) return problem(at, `At most ${most} ${what} are allowed.`, "limit_exceeded");
    return value.flatMap((it, i) => item(it, [...at, i]));
  };

const isText = (value: Json | undefined): value is string => typeof value === "string";
const isBoolean = (value: Json) => typeof value === "boolean";
const orNull = (accepts: (value: Json) => boolean) => (value: Json) => value === null || accepts(value);

const oneOf = (...values: readonly string[]): Check =>
  must(
    (value) => isText(value) && values.includes(value),
    `Must be ${values.slice(0, -1).join(", ")}${values.length > 1 ? " or " : ""}${values.at(-1)}.`,
  );
const text = must(isText, "Must be a string.");
const textOrNull = must(orNull(isText), "Must be a string or null.");
const nothing = must((value) => value === null, "Must be null.");
const uuid = must(
  (value) => isText(value) && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value),
  "Must be a UUID.",
);
const seed = must(
  // characters are code points
  (value) => isText(value) && value !== "" && [...value].length <= longestSeed,
  `Must be between 1 and ${longestSeed} characters.`,
);
const percentage = must(
  (value) => typeof value === "number" && value >= 0 && value <= 100 && Number(value.toFixed(2)) === Math.abs(value),
  "Must be between 0 and 100, with at most 2 decimal places.",
);

const isSafe = (value: number): boolean => Math.abs(value) <= Number.MAX_SAFE_INTEGER;

/** @param depth The containers around the value, itself included */
function isSafeJson(value: Json, depth: number): boolean {
  if (typeof value === "number") return isSafe(value);
  if (typeof value !== "object" || value === null) return true;
  return depth <= mostDepth && Object.values(value).every((it) => isSafeJson(it, depth + 1));
}

const values: Readonly<Record<ReturnType, Parameters<typeof must>>> = {
  boolean: [isBoolean, "Must be true or false."],
  string: [(value) => isText(value) && value !== "", "Must be a non-empty string."],
  number: [
    (value) => typeof value === "number" && isSafe(value),
    "Must be a number of at most 2^53 - 1 on either side of 0.",
  ],
  object: [
    (value) => isObject(value) && isSafeJson(value, 1),
    `Must be an object of at most ${mostDepth} levels, with numbers of at most 2^53 - 1.`,
  ],
};

/** Operators for cohorts and flags, and those that rules do not have. */
const excluded = new Set(["between", "not_between", "in", "not_in", "flag_evaluates_to"]);

/** Any time will do: only whether a text is a date depends on it. */
const someTime = Date.UTC(2025, 0, 1);
const mostUnsigned = 2n ** 64n - 1n;

function isVersion(text: string): boolean {
  const [core = ""] = text.split("-");
  const numbers = core.split(".").slice(0, 3);
  return (
    numbers.every((it) => /^\+?\d+$/.test(it.trim()) && BigInt(it.trim()) <= mostUnsigned) &&
    versionOf(text) !== undefined
  );
}

const semver = (end: RegExp | ""): Check =>
  must((value) => isText(value) && isVersion(value.replace(end, "")), "Must be a semver string.");

/** What an operator compares with, by its name's beginning. */
const operands: readonly (readonly [names: RegExp, check: Check])[] = [
  [/^(not_)?icontains_multi$/, array],
  [/^(not_)?(regex|icontains|starts_with|ends_with)$/, text],
  [/^[gl]te?$/, must((value) => typeof value === "number" || isText(value), "Must be a number or a string.")],
  [/^is_date_/, must((value) => isText(value) && !Number.isNaN(timeOfText(value, someTime, utc)), "Must be a date.")],
  [/^semver_wildcard$/, semver(/[.*]+$/)],
  [/^semver_/, semver("")],
];

function operator(value: Json | undefined, at: Path): ConfigProblem[] {
  const name = value ?? "exact";
  if (!isText(name) || !operatorNames.includes(name)) return problem(at, "Unknown operator.");
  return excluded.has(name) ? problem(at, "Rules do not have this operator for person properties.") : [];
}

/** The value of a filter with this operator; absent is the same as null. */
const operandOf =
  (name: Json | undefined): Check =>
  (value, at) => {
    const [, check = anything] = operands.find(([names]) => isText(name) && names.test(name)) ?? [];
    return operator(name, at).length > 0 ? [] : check(value ?? null, at);
  };

const personFields = (filter: JsonObject): Fields => ({
  operator,
  value: operandOf(filter.operator),
  group_type_index: (value, at) =>
    (value ?? null) === null ? [] : problem(at, "Only group properties have a group type index."),
  negation: optional(must(orNull(isBoolean), "Must be true, false or null.")),
  cohort_name: optional(textOrNull),
  label: optional(textOrNull),
  group_key_names: optional(
    must(
      orNull((value) => isObject(value) && Object.values(value).every(isText)),
      "Must be an object of strings or null.",
    ),
  ),
});
const uncheckedFields = Object.fromEntries(Object.keys(personFields({})).map((name) => [name, anything]));

const propertyType = oneOf("person", "cohort", "group", "flag");

const property = object((filter) => ({
  key: must(...values.string),
  type(value, at) {
    const problems = propertyType(value, at);
    const detail = `Targeting by ${value} is not available yet. Only person properties are available.`;
    return problems.length > 0 || value === "person" ? problems : problem(at, detail, "unsupported");
  },
  ...(filter.type === "person" ? personFields(filter) : uncheckedFields),
}));

/** As the check, and no other value in its list is the same. */
function unique(check: Check, detail: string): Check {
  const seen = new Set<Json | undefined>();
  return (value, at) => {
    const problems = check(value, at);
    if (problems.length > 0) return problems;
    if (seen.has(value)) return problem(at, detail, "not_unique");
    seen.add(value);
    return [];
  };
}

const variantKey = must((key) => isText(key) && /^[\w-]+$/.test(key), "Must have only letters, digits, _ and -.");

/** @param value What each variant gives */
const variantsOf =
  (value: Check): Check =>
  (variants, at) => {
    const items = Array.isArray(variants) ? variants.filter(isObject) : [];
    if (Array.isArray(variants) && variants.length < fewestVariants)
      return problem(at, `Must have at least ${fewestVariants} variants.`);
    const key = unique(variantKey, "Variant keys must be unique.");
    const variant = object(() => ({ key, weight: percentage, value }));
    const problems = list(variant, mostVariants, "variants")(variants, at);
    const hundredths = items.reduce((sum, { weight }) => sum + Math.round(Number(weight) * 100), 0);
    if (problems.length > 0 || hundredths === 10_000) return problems;
    return problem(at, `The weights must sum to 100, not ${hundredths / 100}.`);
  };

const common = {
  id: uuid,
  rule_type: anything,
  targeting: object(() => ({ properties: list(property, mostProperties, "properties") })),
  description: optional(text),
  metadata: optional(document),
};
const rollout = {
  rollout_percentage: percentage,
  on_rollout_miss: oneOf("continue", "return_default"),
  assignment_algorithm: oneOf("sha1_60_v1"),
  seed,
  assign_by: optional(oneOf("person")),
};

const ruleFields: Readonly<Record<RuleType, (value: Check) => Fields>> = {
  targeted_release: (value) => ({ ...common, value }),
  percentage_rollout: (value) => ({ ...common, value, ...rollout }),
  experiment: (value) => ({
    ...{ ...common, ...rollout, experiment_id: nothing },
    paused: must(isBoolean, "Must be true or false."),
    variants: variantsOf(value),
    holdout: optional(object(() => ({ id: nothing, seed, exclusion_percentage: percentage }))),
  }),
};
const ruleType = oneOf(...Object.keys(ruleFields));

/** @param value What each rule gives */
const ruleOf =
  (value: Check): Check =>
  (rule, at) => {
    if (!isObject(rule)) return document(rule, at);
    const problems = ruleType(rule.rule_type, [...at, "rule_type"]);
    if (problems.length > 0) return problems;
    if (rule.rule_type === "experiment" && Number.isInteger(rule.experiment_id)) {
      const detail = "Rules that are linked to an experiment are not available yet.";
      return problem([...at, "experiment_id"], detail, "unsupported");
    }
    return object(() => ruleFields[rule.rule_type as RuleType](value))(rule, at);
  };

const root = object(({ return_type: type }) => {
  const [accepts, detail] = (isText(type) ? own<Parameters<typeof must>>(values, type) : undefined) ?? [() => true, ""];
  const rule = ruleOf(must(accepts, detail));
  const id = unique(anything, "Rule ids must be unique.");
  return {
    version: anything,
    return_type: oneOf(...Object.keys(values)),
    aggregation_group_type_index: optional((group, at) =>
      Number.isInteger(group)
        ? problem(at, "Group-assigned flags are not available yet.", "unsupported")
        : problem(at, "Must be an integer."),
    ),
    default_value: must(orNull(accepts), detail.replace(/\.$/, ", or null.")),
    rules: list(
      (it, at) => [...rule(it, at), ...(isObject(it) && isText(it.id) ? id(it.id.toLowerCase(), [...at, "id"]) : [])],
      mostRules,
      "rules",
    ),
  };
});

/** All that is wrong with a document of rules, in a fixed order; empty for a correct one. `version` is not checked. */
export function problemsOfRules(filters: JsonObject): ConfigProblem[] {
  return Buffer.byteLength(JSON.stringify(filters)) > mostBytes
    ? problem([], "The configuration is too large.", "limit_exceeded")
    : root(filters, []);
}

/** The texts that a flag with rules of version 2 can give, in the document's order; to older clients they are variants. */
export function textValuesOf(filters: { readonly [key: string]: unknown }): string[] {
  const { version, return_type: type, rules, default_value: byDefault } = filters;
  if (version !== 2 || type !== "string") return [];
  const values = (Array.isArray(rules) ? rules.filter(isObject) : []).flatMap(({ value, variants }) => [
    value,
    ...(Array.isArray(variants) ? variants.filter(isObject).map((it) => it.value) : []),
  ]);
  return [...new Set([...values, byDefault].filter((it) => typeof it === "string"))];
}

/** Where a problem is, as the service names it: `filters.rules[2].seed`. */
export const placeOf = ({ at }: ConfigProblem): string => pathText(["filters", ...at]);

/** The document, if it has no problem. */
export function rulesIn(filters: JsonObject): RulesDocument | ConfigProblem {
  const [problem] = problemsOfRules(filters);
  // All of it was just checked.
  return problem ?? (filters as unknown as RulesDocument);
}
