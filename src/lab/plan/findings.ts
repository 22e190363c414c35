import type { ErrorObject } from "ajv";
import { isObject, type Json, type JsonObject, stepsOf, textOf, valueAt } from "../../kernel/base/json.ts";
import { counted } from "../../kernel/base/text.ts";
import { isSdkProperty } from "../../state/journal/sdk-properties.ts";
import {
  jsonSchemaOf,
  type PropertiesCheck,
  type StandardIssue,
  type StandardSchema,
  type ValueFinding,
  type ViolationKind,
} from "./plan.ts";
import {
  alternatives,
  formatPhrase,
  meant,
  oddType,
  oddValue,
  printable,
  propertiesOf,
  propertySchema,
  shownValue,
  typesPhrase,
  wantedBy,
} from "./wording.ts";

interface Row {
  readonly kind: ViolationKind;
  readonly expected: (error: ErrorObject) => string;
  readonly hint?: (error: ErrorObject) => string | null;
  readonly name?: (error: ErrorObject) => unknown;
}

const keysOf = (value: unknown): string[] => (isObject(value) ? Object.keys(value) : []);
const wanted = (error: ErrorObject): unknown => error.schema;
const limit = (words: string) => (error: ErrorObject) => words.replace("N", String(wanted(error)));
const sized = (words: string, noun: string) => (error: ErrorObject) =>
  words.replace("N", counted(Number(wanted(error)), noun));

const unknown = (param: string): Row => ({
  kind: "unknown_property",
  expected: ({ parentSchema }) => {
    const names = Object.keys(propertiesOf(parentSchema));
    return names.length === 0 ? "no property" : `one of ${alternatives(names)}`;
  },
  name: ({ params }) => params[param],
  // A name that exists already was not meant.
  hint: ({ params, parentSchema, data }) =>
    meant(
      String(params[param]),
      Object.keys(propertiesOf(parentSchema)).filter((it) => !keysOf(data).includes(it)),
    ),
});

/** The misspelled name that the value has instead. */
function misspelled({ params, parentSchema, data }: ErrorObject): string | null {
  const properties = propertiesOf(parentSchema);
  const others = keysOf(data).filter((it) => !Object.hasOwn(properties, it));
  const near = meant(String(params.missingProperty), others);
  return near?.replace(/^did you mean (.*)\?$/, "there is $1") ?? null;
}

const size = (expected: Row["expected"]): Row => ({ kind: "out_of_range", expected });
const named = (words: string): Row => ({ kind: "invalid", expected: () => words });

const rows: ReadonlyMap<string, Row> = new Map<string, Row>([
  [
    "required",
    {
      kind: "missing_property",
      expected: ({ params, parentSchema }) => wantedBy(propertySchema(parentSchema, params.missingProperty)),
      name: ({ params }) => params.missingProperty,
      hint: misspelled,
    },
  ],
  [
    "dependentRequired",
    {
      kind: "missing_property",
      expected: ({ params }) => `a value, as there is ${JSON.stringify(params.property)}`,
      name: ({ params }) => params.missingProperty,
    },
  ],
  ["additionalProperties", unknown("additionalProperty")],
  ["unevaluatedProperties", unknown("unevaluatedProperty")],
  ["propertyNames", { ...unknown("propertyName"), expected: () => "another name", hint: () => null }],
  ["false schema", { kind: "unknown_property", expected: () => "nothing" }],
  [
    "type",
    {
      kind: "wrong_type",
      expected: (error) => typesPhrase(wanted(error)),
      hint: (error) => oddType(wanted(error), error.data),
    },
  ],
  [
    "enum",
    {
      kind: "not_allowed_value",
      expected: ({ params }) => alternatives(params.allowedValues),
      hint: ({ params, data }) => oddValue(params.allowedValues, data),
    },
  ],
  [
    "const",
    {
      kind: "not_allowed_value",
      expected: ({ params }) => shownValue(params.allowedValue) ?? "nothing",
      hint: ({ params, data }) => oddValue([params.allowedValue], data),
    },
  ],
  ["format", { kind: "wrong_format", expected: (error) => formatPhrase(wanted(error)) }],
  [
    "pattern",
    {
      kind: "wrong_format",
      // A comment may describe the pattern, and examples may contain the intended value.
      expected: (error) =>
        textOf(error.parentSchema?.$comment) || `a string that matches ${printable(String(wanted(error)))}`,
      hint: ({ parentSchema, data }) => meant(String(data), [parentSchema?.examples ?? []].flat().map(String)),
    },
  ],
  ["minimum", size(limit("at least N"))],
  ["maximum", size(limit("at most N"))],
  ["exclusiveMinimum", size(limit("more than N"))],
  ["exclusiveMaximum", size(limit("less than N"))],
  ["multipleOf", size(limit("a multiple of N"))],
  ["minLength", size(sized("at least N", "character"))],
  ["maxLength", size(sized("at most N", "character"))],
  ["minItems", size(sized("at least N", "item"))],
  ["maxItems", size(sized("at most N", "item"))],
  ["minProperties", size(sized("at least N", "key"))],
  ["maxProperties", size(sized("at most N", "key"))],
  ["uniqueItems", named("items that all differ")],
  ["contains", named("an item of the wanted kind")],
  ["anyOf", { kind: "invalid", expected: ({ parentSchema }) => wantedBy(parentSchema) }],
  ["oneOf", named("exactly one of the forms that the plan knows")],
  ["not", named("something else: the plan forbids this")],
]);

/** Not reported: the errors below them are. */
const silent = ["if", "unevaluatedItems", "dependentSchemas"];

/** Without the errors of each form of a union, which only repeat that no form fits. */
function withoutForms(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const unions = errors.filter(({ keyword }) => ["anyOf", "oneOf", "contains", "propertyNames"].includes(keyword));
  const isOfForm = (error: ErrorObject): boolean =>
    unions.some(
      (union) =>
        union !== error &&
        (error.schemaPath.startsWith(`${union.schemaPath}/`) ||
          (error.schemaPath.startsWith("#/$defs/") && isBelow(error.instancePath, union.instancePath))),
    );
  return unions.length === 0 ? errors : errors.filter((it) => !isOfForm(it));
}

const isBelow = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`);

/** A hostile value may have very many. */
const mostErrors = 500;

export const findingsOf = (errors: readonly ErrorObject[]): ValueFinding[] =>
  withoutForms(errors.slice(0, mostErrors))
    .filter(({ keyword }) => !silent.includes(keyword))
    .map(findingOf);

function findingOf(error: ErrorObject): ValueFinding {
  const { kind, expected, hint, name } = rows.get(error.keyword) ?? named(error.message ?? error.keyword);
  const below = name?.(error);
  const path = stepsOf(error.instancePath);
  const inner = typeof below === "string" ? [below] : [];
  return {
    kind,
    path: [...path, ...inner],
    expected: expected(error),
    actual: shownValue(valueAt(error.data as Json | undefined, inner)),
    hint: hint?.(error) ?? null,
  };
}

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

/** Checks properties with a validator such as zod. What SDKs add passes, unless the validator describes it. */
export function standardCheck(schema: StandardSchema): PropertiesCheck {
  const known = Object.keys(propertiesOf(jsonSchemaOf(schema)));
  return async (properties) => {
    const { issues = [] } = await schema["~standard"].validate(properties);
    return issues.flatMap((issue) => issueFindings(issue, properties, known));
  };
}

function issueFindings(issue: Issue, properties: JsonObject, known: readonly string[]): ValueFinding[] {
  const path = pathOf(issue);
  if (issue.keys === undefined) {
    // Validators that forbid a key expect "never" there.
    const isStray = issue.expected === "never" && path.length === 1 && isSdkProperty(String(path[0]));
    return isStray ? [] : [issueFinding(issue, path, properties)];
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

function issueFinding(issue: Issue, path: ValueFinding["path"], properties: JsonObject): ValueFinding {
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

/** From zod's `Invalid input: expected number, received string` only `number`: the rest is reported separately. */
const wantedIn = (message: string): string => message.replace(/^Invalid \w+: expected (.*?)(?:, received .*)?$/s, "$1");

const hintOf = ({ code, expected, values }: Issue, value: unknown): string | null =>
  code === "invalid_value" ? oddValue(values ?? [], value) : oddType(expected === "int" ? "integer" : expected, value);

const pathOf = ({ path = [] }: Issue): (string | number)[] =>
  path.map((step) => {
    const key = typeof step === "object" ? step.key : step;
    return typeof key === "number" ? key : String(key);
  });
