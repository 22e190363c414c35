import type { ErrorObject } from "ajv";
import { counted } from "../kernel/counted.ts";
import { isObject } from "../kernel/json.ts";
import { stepsOf } from "../kernel/json-pointer.ts";
import { meant, oddType, oddValue } from "./oddity.ts";
import { alternatives, printable, shownValue } from "./shown.ts";
import type { Finding, ViolationKind } from "./types.ts";
import { formatPhrase, propertiesOf, propertySchema, typesPhrase, wantedBy } from "./wanted.ts";

/** What a JSON Schema keyword's failure becomes. */
interface Row {
  readonly kind: ViolationKind;
  readonly expected: (error: ErrorObject) => string;
  readonly hint?: (error: ErrorObject) => string | null;
  /** The property that it is about, when it is about one below. */
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
  // One that is there already was not meant.
  hint: ({ params, parentSchema, data }) =>
    meant(
      String(params[param]),
      Object.keys(propertiesOf(parentSchema)).filter((it) => !keysOf(data).includes(it)),
    ),
});

/** A misspelled name that is there in its place. */
function misspelled({ params, parentSchema, data }: ErrorObject): string | null {
  const properties = propertiesOf(parentSchema);
  const others = keysOf(data).filter((it) => !Object.hasOwn(properties, it));
  const near = meant(String(params.missingProperty), others);
  return near?.replace(/^did you mean (.*)\?$/, "there is $1") ?? null;
}

function textIn(schema: unknown, key: string): string | undefined {
  const text = isObject(schema) ? schema[key] : undefined;
  return typeof text === "string" ? text : undefined;
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
      // A comment may say better what the pattern means, and examples what may have been meant.
      expected: (error) =>
        textIn(error.parentSchema, "$comment") ?? `a text like ${printable(String(wanted(error)))}`,
      hint: ({ parentSchema, data }) =>
        meant(String(data), [parentSchema?.examples ?? []].flat().map(String)),
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

/** Says nothing of its own: what is below it says it. */
const silent = ["if", "unevaluatedItems", "dependentSchemas"];

/** Errors of the forms of a union only repeat, for each of them, that it is none. */
function withoutForms(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const unions = errors.filter(({ keyword }) =>
    ["anyOf", "oneOf", "contains", "propertyNames"].includes(keyword),
  );
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

/** One hostile value may have very many. */
const mostErrors = 500;

/** The validator's errors as we tell them, up to a few hundred. */
export const findingsOf = (errors: readonly ErrorObject[]): Finding[] =>
  withoutForms(errors.slice(0, mostErrors))
    .filter(({ keyword }) => !silent.includes(keyword))
    .map(findingOf);

function findingOf(error: ErrorObject): Finding {
  const { kind, expected, hint, name } = rows.get(error.keyword) ?? named(error.message ?? error.keyword);
  const below = name?.(error);
  const path = stepsOf(error.instancePath);
  const value = typeof below === "string" ? valueBelow(error.data, below) : error.data;
  return {
    kind,
    path: typeof below === "string" ? [...path, below] : path,
    expected: expected(error),
    actual: shownValue(value),
    hint: hint?.(error) ?? null,
  };
}

const valueBelow = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
