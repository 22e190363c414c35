import { isObject, type Json, type JsonObject, type Path, pathText } from "../../../kernel/base/json.ts";
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

interface AnyRule {
  readonly id: string;
  readonly targeting: { readonly properties: readonly RuleProperty[] };
}

interface Rollout {
  readonly rollout_percentage: number;
  readonly on_rollout_miss: "continue" | "return_default";
  readonly seed: string;
}

interface RuleVariant {
  readonly key: string;
  readonly weight: number;
  readonly value: Json;
}

export interface RuleHoldout {
  readonly seed: string;
  readonly exclusion_percentage: number;
}

interface TargetedRelease extends AnyRule {
  readonly rule_type: "targeted_release";
  readonly value: Json;
}

interface PercentageRollout extends AnyRule, Rollout {
  readonly rule_type: "percentage_rollout";
  readonly value: Json;
}

interface ExperimentRule extends AnyRule, Rollout {
  readonly rule_type: "experiment";
  readonly paused: boolean;
  readonly variants: readonly RuleVariant[];
  readonly holdout?: RuleHoldout;
}

export type RuleDocument = TargetedRelease | PercentageRollout | ExperimentRule;

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

const rootFields = ["version", "return_type", "default_value", "rules", "aggregation_group_type_index"];
const commonFields = ["id", "rule_type", "targeting", "description", "metadata"];
const rolloutFields = ["rollout_percentage", "on_rollout_miss", "assignment_algorithm", "seed", "assign_by"];
const ruleFields: Readonly<Record<RuleType, readonly string[]>> = {
  targeted_release: [...commonFields, "value"],
  percentage_rollout: [...commonFields, "value", ...rolloutFields],
  experiment: [...commonFields, ...rolloutFields, "experiment_id", "paused", "variants", "holdout"],
};
const propertyFields = [
  "key",
  "type",
  "value",
  "operator",
  "negation",
  "group_type_index",
  "cohort_name",
  "group_key_names",
  "label",
];

type Check = readonly [accepts: (value: Json) => boolean, detail: string];

const oneOf = (...values: readonly string[]): Check => [
  (value) => typeof value === "string" && values.includes(value),
  `Must be ${values.slice(0, -1).join(", ")}${values.length > 1 ? " or " : ""}${values.at(-1)}.`,
];
const isBoolean: Check = [(value) => typeof value === "boolean", "Must be true or false."];
const isText: Check = [(value) => typeof value === "string", "Must be a string."];
const isTextOrNull: Check = [(value) => value === null || typeof value === "string", "Must be a string or null."];
const isDocument: Check = [isObject, "Must be an object."];
const isList: Check = [Array.isArray, "Must be an array."];
const isNull: Check = [(value) => value === null, "Must be null."];
const isSeed: Check = [
  // characters are code points
  (value) => typeof value === "string" && value !== "" && [...value].length <= longestSeed,
  `Must be between 1 and ${longestSeed} characters.`,
];
const isUuid: Check = [
  (value) => typeof value === "string" && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value),
  "Must be a UUID.",
];
const isPercentage: Check = [
  (value) => typeof value === "number" && value >= 0 && value <= 100 && Number(value.toFixed(2)) === Math.abs(value),
  "Must be between 0 and 100, with at most 2 decimal places.",
];

const isSafe = (value: number): boolean => Math.abs(value) <= Number.MAX_SAFE_INTEGER;

/** @param depth The containers around the value, itself included */
function isSafeJson(value: Json, depth: number): boolean {
  if (typeof value === "number") return isSafe(value);
  if (typeof value !== "object" || value === null) return true;
  return depth <= mostDepth && Object.values(value).every((it) => isSafeJson(it, depth + 1));
}

/** What a value of the return type must be. */
const valueChecks: Readonly<Record<ReturnType, Check>> = {
  boolean: isBoolean,
  string: [(value) => typeof value === "string" && value !== "", "Must be a non-empty string."],
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

const semver: Check = [(value) => typeof value === "string" && isVersion(value), "Must be a semver string."];
const date: Check = [
  (value) => typeof value === "string" && !Number.isNaN(timeOfText(value, someTime, utc)),
  "Must be a date.",
];
const comparable: Check = [
  (value) => typeof value === "number" || typeof value === "string",
  "Must be a number or a string.",
];
const anything: Check = [() => true, ""];

/** What an operator compares with, by its name's beginning. */
const operandChecks: readonly (readonly [name: RegExp, check: Check])[] = [
  [/^(not_)?icontains_multi$/, isList],
  [/^(not_)?(regex|icontains|starts_with|ends_with)$/, isText],
  [/^[gl]te?$/, comparable],
  [/^is_date_/, date],
  [/^semver_wildcard$/, [(value) => typeof value === "string" && isVersion(value.replace(/[.*]+$/, "")), semver[1]]],
  [/^semver_/, semver],
];

const operandCheck = (operator: string): Check => operandChecks.find(([name]) => name.test(operator))?.[1] ?? anything;

/** Collects what is wrong with one document. */
class Reading {
  readonly problems: ConfigProblem[] = [];

  add(at: Path, code: ConfigCode, detail: string): void {
    this.problems.push({ at, code, detail });
  }

  /** The field, if it is there and correct. */
  field(object: JsonObject, name: string, at: Path, [accepts, detail]: Check, isRequired = true) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (value === undefined) {
      if (isRequired) this.add([...at, name], "required", "This field is required.");
      return undefined;
    }
    if (accepts(value)) return value;
    this.add([...at, name], "invalid", detail);
    return undefined;
  }

  closed(object: JsonObject, fields: readonly string[], at: Path): void {
    for (const name of Object.keys(object)) {
      if (!fields.includes(name)) this.add([...at, name], "unknown_field", "Unknown field.");
    }
  }

  /** The list's items; none if there is no list, or one that is too long. */
  items(object: JsonObject, name: string, at: Path, most: number, what: string): Json[] {
    const list = this.field(object, name, at, isList);
    if (!Array.isArray(list)) return [];
    if (list.length <= most) return list;
    this.add([...at, name], "limit_exceeded", `At most ${most} ${what} are allowed.`);
    return [];
  }

  root(filters: JsonObject): void {
    this.closed(filters, rootFields, []);
    const type = this.field(filters, "return_type", [], oneOf(...Object.keys(valueChecks)));
    const check = typeof type === "string" ? valueChecks[type as ReturnType] : undefined;
    const { aggregation_group_type_index: group } = filters;
    if (group !== undefined) {
      const at = ["aggregation_group_type_index"];
      if (Number.isInteger(group)) this.add(at, "unsupported", "Group-assigned flags are not available yet.");
      else this.add(at, "invalid", "Must be an integer.");
    }
    const value = check ?? anything;
    const orNull: Check = [(it) => it === null || value[0](it), value[1].replace(/\.$/, ", or null.")];
    this.field(filters, "default_value", [], orNull);
    const ids = new Set<string>();
    for (const [i, rule] of this.items(filters, "rules", [], mostRules, "rules").entries()) {
      const at = ["rules", i];
      if (!isObject(rule)) {
        this.add(at, "invalid", isDocument[1]);
        continue;
      }
      this.rule(rule, at, value);
      const id = typeof rule.id === "string" ? rule.id.toLowerCase() : undefined;
      if (id === undefined) continue;
      if (ids.has(id)) this.add([...at, "id"], "not_unique", "Rule ids must be unique.");
      ids.add(id);
    }
  }

  rule(rule: JsonObject, at: Path, value: Check): void {
    const type = this.field(rule, "rule_type", at, oneOf(...Object.keys(ruleFields)));
    if (type === undefined) return;
    if (type === "experiment" && Number.isInteger(rule.experiment_id)) {
      const detail = "Rules that are linked to an experiment are not available yet.";
      this.add([...at, "experiment_id"], "unsupported", detail);
      return;
    }
    this.closed(rule, ruleFields[type as RuleType], at);
    this.field(rule, "id", at, isUuid);
    this.targeting(rule, at);
    this.field(rule, "description", at, isText, false);
    this.field(rule, "metadata", at, isDocument, false);
    if (type !== "experiment") this.field(rule, "value", at, value);
    if (type !== "targeted_release") this.rollout(rule, at);
    if (type === "experiment") this.experiment(rule, at, value);
  }

  rollout(rule: JsonObject, at: Path): void {
    this.field(rule, "rollout_percentage", at, isPercentage);
    this.field(rule, "on_rollout_miss", at, oneOf("continue", "return_default"));
    this.field(rule, "assignment_algorithm", at, oneOf("sha1_60_v1"));
    this.field(rule, "seed", at, isSeed);
    this.field(rule, "assign_by", at, oneOf("person"), false);
  }

  experiment(rule: JsonObject, at: Path, value: Check): void {
    this.field(rule, "experiment_id", at, isNull);
    this.field(rule, "paused", at, isBoolean);
    this.variants(rule, at, value);
    const holdout = this.field(rule, "holdout", at, isDocument, false);
    if (!isObject(holdout)) return;
    const inHoldout = [...at, "holdout"];
    this.closed(holdout, ["id", "seed", "exclusion_percentage"], inHoldout);
    this.field(holdout, "id", inHoldout, isNull);
    this.field(holdout, "seed", inHoldout, isSeed);
    this.field(holdout, "exclusion_percentage", inHoldout, isPercentage);
  }

  variants(rule: JsonObject, at: Path, value: Check): void {
    const before = this.problems.length;
    const variants = this.items(rule, "variants", at, mostVariants, "variants");
    const inList = [...at, "variants"];
    if (this.problems.length > before) return;
    if (variants.length < fewestVariants) {
      this.add(inList, "invalid", `Must have at least ${fewestVariants} variants.`);
      return;
    }
    const keys = new Set<string>();
    let hundredths = 0;
    for (const [i, variant] of variants.entries()) {
      const here = [...inList, i];
      if (!isObject(variant)) {
        this.add(here, "invalid", isDocument[1]);
        continue;
      }
      this.closed(variant, ["key", "weight", "value"], here);
      const isKey: Check = [
        (key) => typeof key === "string" && /^[\w-]+$/.test(key),
        "Must have only letters, digits, _ and -.",
      ];
      const key = this.field(variant, "key", here, isKey);
      if (typeof key === "string") {
        if (keys.has(key)) this.add([...here, "key"], "not_unique", "Variant keys must be unique.");
        keys.add(key);
      }
      const weight = this.field(variant, "weight", here, isPercentage);
      if (typeof weight === "number") hundredths += Math.round(weight * 100);
      this.field(variant, "value", here, value);
    }
    if (this.problems.length === before && hundredths !== 10_000) {
      this.add(inList, "invalid", `The weights must sum to 100, not ${hundredths / 100}.`);
    }
  }

  targeting(rule: JsonObject, at: Path): void {
    const targeting = this.field(rule, "targeting", at, isDocument);
    if (!isObject(targeting)) return;
    const inTargeting = [...at, "targeting"];
    this.closed(targeting, ["properties"], inTargeting);
    const properties = this.items(targeting, "properties", inTargeting, mostProperties, "properties");
    for (const [i, property] of properties.entries()) {
      const here = [...inTargeting, "properties", i];
      if (isObject(property)) this.property(property, here);
      else this.add(here, "invalid", isDocument[1]);
    }
  }

  property(property: JsonObject, at: Path): void {
    this.closed(property, propertyFields, at);
    this.field(property, "key", at, valueChecks.string);
    const type = this.field(property, "type", at, oneOf("person", "cohort", "group", "flag"));
    if (type === undefined) return;
    if (type !== "person") {
      const detail = `Targeting by ${type} is not available yet. Only person properties are available.`;
      this.add([...at, "type"], "unsupported", detail);
      return;
    }
    const { operator: given, value = null, group_type_index: group } = property;
    const operator = given ?? "exact";
    if (typeof operator !== "string" || !operatorNames.includes(operator)) {
      this.add([...at, "operator"], "invalid", "Unknown operator.");
    } else if (excluded.has(operator)) {
      this.add([...at, "operator"], "invalid", "Rules do not have this operator for person properties.");
    } else {
      const [accepts, detail] = operandCheck(operator);
      if (!accepts(value)) this.add([...at, "value"], "invalid", detail);
    }
    if (group !== undefined && group !== null) {
      this.add([...at, "group_type_index"], "invalid", "Only group properties have a group type index.");
    }
    const booleanOrNull: Check = [(it) => it === null || typeof it === "boolean", "Must be true, false or null."];
    this.field(property, "negation", at, booleanOrNull, false);
    for (const name of ["cohort_name", "label"]) this.field(property, name, at, isTextOrNull, false);
    const names: Check = [
      (it) => it === null || (isObject(it) && Object.values(it).every((name) => typeof name === "string")),
      "Must be an object of strings or null.",
    ];
    this.field(property, "group_key_names", at, names, false);
  }
}

/** All that is wrong with a document of rules, in a fixed order; empty for a correct one. `version` is not checked. */
export function problemsOfRules(filters: JsonObject): ConfigProblem[] {
  if (Buffer.byteLength(JSON.stringify(filters)) > mostBytes) {
    return [{ at: [], code: "limit_exceeded", detail: "The configuration is too large." }];
  }
  const reading = new Reading();
  reading.root(filters);
  return reading.problems;
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
