import { isObject, type JsonObject } from "../kernel/json.ts";
import { isSdkProperty } from "../kernel/sdk-properties.ts";
import { meant, oddType, oddValue } from "./oddity.ts";
import { printable, shownValue } from "./shown.ts";
import { jsonSchemaOf, type StandardIssue, type StandardSchema } from "./standard-schema.ts";
import type { Check, Finding, ViolationKind } from "./types.ts";
import { propertiesOf } from "./wanted.ts";

/** What an issue may say besides the standard; zod's do. */
interface Issue extends StandardIssue {
  readonly code?: string;
  readonly expected?: unknown;
  readonly values?: readonly unknown[];
  readonly keys?: readonly string[];
}

const kinds: Readonly<Record<string, ViolationKind>> = {
  invalid_type: "wrong_type",
  invalid_value: "not_allowed_value",
  invalid_format: "wrong_format",
  too_small: "out_of_range",
  too_big: "out_of_range",
  not_multiple_of: "out_of_range",
  unrecognized_keys: "unknown_property",
};

/** Checks properties with a validator such as zod. What SDKs add is let pass, unless the validator knows it. */
export function standardCheck(schema: StandardSchema): Check {
  const known = Object.keys(propertiesOf(jsonSchemaOf(schema)));
  return async (properties) => {
    const { issues = [] } = await schema["~standard"].validate(properties);
    return issues.flatMap((issue) => findingsOf(issue, properties, known));
  };
}

function findingsOf(issue: Issue, properties: JsonObject, known: readonly string[]): Finding[] {
  const path = pathOf(issue);
  if (issue.keys === undefined) {
    // Validators that forbid a key say that they want nothing there.
    const isStray = issue.expected === "never" && path.length === 1 && isSdkProperty(String(path[0]));
    return isStray ? [] : [findingOf(issue, path, properties)];
  }
  const foreign = issue.keys.filter((key) => path.length > 0 || !isSdkProperty(key));
  const free = known.filter((it) => !Object.hasOwn(properties, it));
  return foreign.map((key) => ({
    kind: "unknown_property",
    path: [...path, key],
    expected: "no such property",
    actual: shownValue(valueAt(properties, [...path, key])),
    hint: path.length > 0 ? null : meant(key, free),
  }));
}

function findingOf(issue: Issue, path: Finding["path"], properties: JsonObject): Finding {
  const value = valueAt(properties, path);
  const isMissing = value === undefined && path.length > 0;
  return {
    kind: isMissing ? "missing_property" : (kinds[issue.code ?? ""] ?? "invalid"),
    path,
    expected: printable(wantedIn(issue.message), 300),
    actual: shownValue(value),
    hint: isMissing ? null : hintOf(issue, value),
  };
}

/** `Invalid input: expected number, received string`: zod says there what we say besides. */
const wantedIn = (message: string): string =>
  message.replace(/^Invalid \w+: expected (.*?)(?:, received .*)?$/s, "$1");

const hintOf = ({ code, expected, values }: Issue, value: unknown): string | null =>
  code === "invalid_value"
    ? oddValue(values ?? [], value)
    : oddType(expected === "int" ? "integer" : expected, value);

const pathOf = ({ path = [] }: Issue): (string | number)[] =>
  path.map((step) => {
    const key = typeof step === "object" ? step.key : step;
    return typeof key === "number" ? key : String(key);
  });

function valueAt(value: unknown, path: Finding["path"]): unknown {
  let at = value;
  for (const step of path) {
    if (Array.isArray(at)) at = at[Number(step)];
    else at = isObject(at) && Object.hasOwn(at, step) ? at[String(step)] : undefined;
  }
  return at;
}
