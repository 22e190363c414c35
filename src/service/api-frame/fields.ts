import { z } from "zod";
import { type ErrorCode, SimError } from "../../kernel/base/errors.ts";
import type { Json } from "../../kernel/base/json.ts";
import { datetimeFormat } from "../../state/documents/lenient-fields.ts";

const truths = new Set(["y", "yes", "t", "true", "on", "1"]);

/** Upstream `str_to_bool`: what is not one of these words is false. */
export const isTrue = (value: Json | undefined): boolean =>
  typeof value !== "object" && truths.has(String(value).toLowerCase());

/** What Python calls a JSON value; it is in the service's texts. */
export function typeName(value: unknown): string {
  if (value === null) return "NoneType";
  if (Array.isArray(value)) return "list";
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float";
  return { string: "str", boolean: "bool", object: "dict" }[typeof value as string] ?? typeof value;
}

type Issue = z.core.$ZodIssue;
type Message = readonly [code: ErrorCode, detail: string];

/** What was expected where another type came. Upstream Django REST framework, fields.py. */
const wrongType: Record<string, (input: unknown) => Message> = {
  string: () => ["invalid_input", "Not a valid string."],
  // zod reports this for whole numbers as well, and the service's fields have no others
  number: () => ["invalid_input", "A valid integer is required."],
  int: () => ["invalid_input", "A valid integer is required."],
  boolean: () => ["invalid_input", "Must be a valid boolean."],
  array: (input) => ["not_a_list", `Expected a list of items but got type "${typeName(input)}".`],
  record: (input) => ["not_a_dict", `Expected a dictionary of items but got type "${typeName(input)}".`],
  object: (input) => ["invalid_input", `Invalid data. Expected a dictionary, but got ${typeName(input)}.`],
};

const wrongFormat: Record<string, Message> = {
  uuid: ["invalid_input", "Must be a valid UUID."],
  datetime: ["invalid_input", datetimeFormat],
  email: ["invalid_input", "Enter a valid email address."],
  url: ["invalid_input", "Enter a valid URL."],
};

/** `String` runs the `toString` of an object, which a client may have sent as anything. */
const inputText = (input: unknown): string => (typeof input === "object" ? JSON.stringify(input) : String(input));

const fallback: Message = ["invalid_input", "Invalid value."];

const messages: Partial<Record<NonNullable<Issue["code"]>, (issue: Issue) => Message>> = {
  invalid_type: (issue) => (issue.code === "invalid_type" && wrongType[issue.expected]?.(issue.input)) || fallback,
  invalid_value: (issue) => ["invalid_choice", `"${inputText(issue.input)}" is not a valid choice.`],
  invalid_format: (issue) => (issue.code === "invalid_format" && wrongFormat[issue.format]) || fallback,
  too_big(issue) {
    if (issue.code !== "too_big") return fallback;
    return issue.origin === "string"
      ? ["max_length", `Ensure this field has no more than ${issue.maximum} characters.`]
      : ["max_value", `Ensure this value is less than or equal to ${issue.maximum}.`];
  },
  too_small(issue) {
    if (issue.code !== "too_small") return fallback;
    return issue.origin === "string"
      ? ["blank", "This field may not be blank."]
      : ["min_value", `Ensure this value is greater than or equal to ${issue.minimum}.`];
  },
  custom: (issue) => {
    const { code, detail } = (issue.code === "custom" && issue.params) || {};
    return typeof detail === "string" ? [(code as ErrorCode) ?? "invalid_input", detail] : fallback;
  },
};

function messageOf(issue: Issue): Message {
  if (issue.code !== "custom") {
    if (issue.input === undefined) return ["required", "This field is required."];
    if (issue.input === null) return ["null", "This field may not be null."];
  }
  return messages[issue.code]?.(issue) ?? fallback;
}

/** The first mistake only, nested names joined by `__`, of a parse with `reportInput`. Upstream drf-exceptions-hog. */
export function firstInvalid(error: z.ZodError): SimError {
  const [issue] = error.issues;
  if (!issue) return new SimError("invalid_input", "Invalid value.");
  const [code, detail] = messageOf(issue);
  return invalid(detail, issue.path.map(String).join("__"), code);
}

/** A refused body; an empty `attr` blames no field. */
export const invalid = (detail: string, attr = "", code: ErrorCode = "invalid_input"): SimError =>
  new SimError(code, detail, attr === "" ? {} : { attr });

/** Keys of fields that have one value only: null, true or false. */
type Constant<T> = {
  [K in keyof T]-?: boolean extends T[K] ? never : [T[K]] extends [boolean | null] ? K : never;
}[keyof T];

function constantOf(field: unknown): unknown {
  if (field instanceof z.ZodNull) return null;
  return field instanceof z.ZodLiteral && field.values.size === 1 ? field.value : undefined;
}

/** The fields of a shape, in its order, from a value that may have others; those that are undefined are left out. */
export function shownAs<S extends z.ZodObject>(
  { shape }: S,
  value: Omit<z.infer<S>, Constant<z.infer<S>>>,
): z.infer<S> {
  const given: Readonly<Record<string, unknown>> = value;
  const entries = Object.entries(shape).flatMap(([name, field]) => {
    const constant = constantOf(field);
    const found = constant === undefined ? given[name] : constant;
    return found === undefined ? [] : [[name, found] as const];
  });
  // The compiler has checked the value; it cannot follow the names.
  return Object.fromEntries(entries) as z.infer<S>;
}
