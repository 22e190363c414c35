import type { Call } from "../../http/call.ts";
import { isObject, type JsonObject } from "../../kernel/json.ts";
import type { Dashboard } from "../../model/world.ts";
import { invalid } from "../invalid.ts";
import type { Overrides } from "./show.ts";

function objectIn(call: Call, name: string): JsonObject | undefined {
  const text = call.query.get(name);
  if (!text) return undefined;
  const refusal = () => invalid(`Invalid JSON passed in ${name} parameter`, name);
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    throw refusal();
  }
  throw refusal();
}

/**
 * Filters and variables of the query, laid over the kept ones. Upstream PostHog/posthog posthog/utils.py.
 * @throws SimError invalid_input when one is not a JSON object
 */
export function overridesIn(call: Call, { filters, variables }: Dashboard): Overrides {
  const ofFilters = objectIn(call, "filters_override");
  const ofVariables = objectIn(call, "variables_override");
  return {
    ...(ofFilters && { filters: { ...filters, ...ofFilters } }),
    ...(ofVariables && { variables: { ...variables, ...ofVariables } }),
  };
}

const override = (what: string) => ({
  name: `${what}_override`,
  description: `JSON object, laid over the ${what} of the answer`,
  schema: { type: "string" },
});

export const overrideQuery = [override("filters"), override("variables")];
