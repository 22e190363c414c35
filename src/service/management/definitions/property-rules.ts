import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import { invalid } from "../../api-frame/fields.ts";

/** What values the properties of a schema may have. Upstream PostHog/posthog posthog/api/schema_property_group.py. */

const mostValues = 1000;

const refused = (detail: string) => invalid(detail, "validation_rules");

/** @throws SimError invalid_input */
function checkKeys(rules: JsonObject, known: readonly string[], type: string): void {
  const others = Object.keys(rules).filter((it) => !known.includes(it));
  if (others.length > 0) {
    throw refused(`Unrecognized keys for ${type} validation: ${others.toSorted().join(", ")}`);
  }
}

/** @throws SimError invalid_input */
function checkValues(values: Json | undefined): void {
  if (!Array.isArray(values)) throw refused("'enum' must be a list");
  if (values.length === 0) throw refused("'enum' list must not be empty");
  if (values.length > mostValues) throw refused(`'enum' list must not exceed ${mostValues} items`);
  if (!values.every((it) => typeof it === "string")) throw refused("All 'enum' values must be strings");
}

/** Texts that are allowed, or all but some. @throws SimError invalid_input */
function checkTexts(rules: JsonObject): void {
  checkKeys(rules, ["enum", "not"], "String");
  const { enum: allowed, not } = rules;
  if (allowed !== undefined && not !== undefined) {
    throw refused("Cannot specify both 'enum' and 'not' — use one or the other");
  }
  if (not !== undefined && (!isObject(not) || Object.keys(not).join() !== "enum")) {
    throw refused("'not' must contain exactly one key: 'enum'");
  }
  checkValues(isObject(not) ? not.enum : allowed);
}

const bounds = [
  ["minimum", "exclusiveMinimum"],
  ["maximum", "exclusiveMaximum"],
] as const;

/** A range of numbers. @throws SimError invalid_input */
function checkRange(rules: JsonObject): void {
  checkKeys(rules, bounds.flat(), "Numeric");
  for (const [inclusive, exclusive] of bounds) {
    if (rules[inclusive] !== undefined && rules[exclusive] !== undefined) {
      throw refused(`Cannot specify both '${inclusive}' and '${exclusive}'`);
    }
  }
  for (const [name, value] of Object.entries(rules)) {
    // a boolean is a number in the service's language
    if (typeof value !== "number" && typeof value !== "boolean") throw refused(`'${name}' must be a number`);
  }
  const [lower, upper] = bounds.map((names) => names.find((it) => rules[it] !== undefined));
  if (lower === undefined || upper === undefined) return;
  const [least, most] = [Number(rules[lower]), Number(rules[upper])];
  if (least >= most) {
    throw refused(`Lower bound (${lower}=${least}) must be less than upper bound (${upper}=${most})`);
  }
}

const checks: Readonly<Record<string, (rules: JsonObject) => void>> = { String: checkTexts, Numeric: checkRange };

/** @throws SimError with the service's text for rules that do not fit the type */
export function checkRules(type: string, rules: Json | undefined): void {
  if (!isObject(rules) || Object.keys(rules).length === 0) return;
  const check = checks[type];
  if (!check) throw refused(`Validation rules are not supported for ${type} properties`);
  check(rules);
}
