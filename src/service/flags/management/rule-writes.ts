import type { ErrorCode, SimError } from "../../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject, own, type Path } from "../../../kernel/base/json.ts";
import { invalid } from "../../api-frame/fields.ts";
import { type ConfigCode, type ConfigProblem, placeOf, problemsOfRules } from "../engine/rule-config.ts";

/**
 * How rules of version 2 are written: the service gives each rule its id and its seed, and a client sends them back as
 * they are. Upstream PostHog/posthog products/feature_flags, config_writes.
 */

const codes: Readonly<Record<ConfigCode, ErrorCode>> = {
  required: "required",
  invalid: "invalid",
  unknown_field: "unknown_field",
  not_unique: "not_unique",
  unsupported: "unsupported",
  limit_exceeded: "limit_exceeded",
};

const refusal = (problem: ConfigProblem): SimError => invalid(problem.detail, placeOf(problem), codes[problem.code]);

const refuse = (at: Path, code: ConfigCode, detail: string): never => {
  throw refusal({ at, code, detail });
};

const rulesOf = (filters: JsonObject | undefined): JsonObject[] => {
  const rules = filters && own(filters, "rules");
  return Array.isArray(rules) ? rules.filter(isObject) : [];
};

const isSeeded = ({ rule_type: type }: JsonObject): boolean => type === "percentage_rollout" || type === "experiment";

function seedOf(rule: JsonObject, stored: JsonObject | undefined, at: Path, makeId: () => string): Json {
  const known = stored && isSeeded(stored) ? own(stored, "seed") : undefined;
  const given = own(rule, "seed");
  if (typeof known !== "string") {
    return given === undefined ? makeId() : refuse([...at, "seed"], "invalid", "Assignment seeds are server-assigned.");
  }
  return given === undefined || given === known
    ? known
    : refuse([...at, "seed"], "invalid", "Cannot be changed; resetting assignment is a separate operation.");
}

/** The holdout of an experiment rule keeps its seed, or gets one. */
function withHoldoutSeed(rule: JsonObject, stored: JsonObject | undefined, makeId: () => string): JsonObject {
  const { holdout } = rule;
  if (!isObject(holdout) || own(holdout, "seed") !== undefined) return rule;
  const known = stored && isObject(stored.holdout) ? own(stored.holdout, "seed") : undefined;
  return { ...rule, holdout: { ...holdout, seed: known ?? makeId() } };
}

function identified(
  rule: JsonObject,
  at: Path,
  stored: ReadonlyMap<Json, JsonObject>,
  claimed: Set<Json>,
  makeId: () => string,
): JsonObject {
  const given = own(rule, "id");
  const current = given === undefined ? undefined : stored.get(given);
  if (given !== undefined) {
    const detail = "Rule ids are server-assigned; echo one this flag already has or omit the field.";
    if (!current) refuse([...at, "id"], "invalid", detail);
    if (claimed.has(given)) refuse([...at, "id"], "not_unique", "Used by another rule.");
    claimed.add(given);
  }
  const whole = withHoldoutSeed({ ...rule, id: given ?? makeId() }, current, makeId);
  return isSeeded(rule) ? { ...whole, seed: seedOf(rule, current, at, makeId) } : whole;
}

/**
 * The document to store, with the id and the seed of each rule.
 * @param stored The filters that the flag has; rules of version 1 have no ids
 * @throws SimError with the service's message for the first mistake
 */
export function checkRules(filters: JsonObject, stored: JsonObject | undefined, makeId: () => string): JsonObject {
  const known = new Map(rulesOf(stored).map((rule) => [own(rule, "id") ?? null, rule]));
  const claimed = new Set<Json>();
  const { rules } = filters;
  const resolved = Array.isArray(rules)
    ? {
        ...filters,
        rules: rules.map((rule, i) => (isObject(rule) ? identified(rule, ["rules", i], known, claimed, makeId) : rule)),
      }
    : filters;
  const [problem] = problemsOfRules(resolved);
  if (problem) throw refusal(problem);
  return resolved;
}
