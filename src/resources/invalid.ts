import type { z } from "zod";
import { type ErrorCode, SimError } from "../kernel/errors.ts";

/** What Python calls a JSON value; it is in the service's texts. */
export function typeName(value: unknown): string {
  if (value === null) return "NoneType";
  if (Array.isArray(value)) return "list";
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float";
  return { string: "str", boolean: "bool", object: "dict" }[typeof value as string] ?? typeof value;
}

type Issue = z.core.$ZodIssue;
type Told = readonly [code: ErrorCode, detail: string];

export const datetimeFormat =
  "Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].";

/** What was expected where another type came. Upstream Django REST framework, fields.py. */
const wrongType: Record<string, (input: unknown) => Told> = {
  string: () => ["invalid_input", "Not a valid string."],
  // zod says so of whole numbers, too, and the service has no others in its fields.
  number: () => ["invalid_input", "A valid integer is required."],
  int: () => ["invalid_input", "A valid integer is required."],
  boolean: () => ["invalid_input", "Must be a valid boolean."],
  array: (input) => ["not_a_list", `Expected a list of items but got type "${typeName(input)}".`],
  record: (input) => ["not_a_dict", `Expected a dictionary of items but got type "${typeName(input)}".`],
  object: (input) => ["invalid_input", `Invalid data. Expected a dictionary, but got ${typeName(input)}.`],
};

const wrongFormat: Record<string, Told> = {
  uuid: ["invalid_input", "Must be a valid UUID."],
  datetime: ["invalid_input", datetimeFormat],
  email: ["invalid_input", "Enter a valid email address."],
  url: ["invalid_input", "Enter a valid URL."],
};

/** `String` runs the `toString` of an object, which a client may have sent as anything. */
const inputText = (input: unknown): string =>
  typeof input === "object" ? JSON.stringify(input) : String(input);

const fallback: Told = ["invalid_input", "Invalid value."];

/** What the service says, per kind of zod issue. */
const told: Partial<Record<NonNullable<Issue["code"]>, (issue: Issue) => Told>> = {
  invalid_type: (issue) =>
    (issue.code === "invalid_type" && wrongType[issue.expected]?.(issue.input)) || fallback,
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

function tell(issue: Issue): Told {
  if (issue.code !== "custom") {
    if (issue.input === undefined) return ["required", "This field is required."];
    if (issue.input === null) return ["null", "This field may not be null."];
  }
  return told[issue.code]?.(issue) ?? fallback;
}

/**
 * The first thing that is wrong, as the service tells it: one error only, nested names joined by `__`.
 * Upstream PostHog/drf-exceptions-hog. The schema is parsed with `reportInput`.
 */
export function firstInvalid(error: z.ZodError): SimError {
  const [issue] = error.issues;
  if (!issue) return new SimError("invalid_input", "Invalid value.");
  const [code, detail] = tell(issue);
  return invalid(detail, issue.path.map(String).join("__"), code);
}

/** A refused body; an empty `attr` blames no field. */
export const invalid = (detail: string, attr = "", code: ErrorCode = "invalid_input"): SimError =>
  new SimError(code, detail, attr === "" ? {} : { attr });
