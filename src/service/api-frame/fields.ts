import { z } from "zod";
import { type ErrorCode, SimError } from "../../kernel/base/errors.ts";
import { isUuid } from "../../kernel/base/ids.ts";
import type { Json } from "../../kernel/base/json.ts";

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

const datetimeFormat =
  "Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].";

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

/** The service's messages, by kind of zod issue. */
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

/**
 * The first mistake, as the service reports it: one error only, nested names joined by `__`.
 * Upstream PostHog/drf-exceptions-hog. The schema is parsed with `reportInput`.
 */
export function firstInvalid(error: z.ZodError): SimError {
  const [issue] = error.issues;
  if (!issue) return new SimError("invalid_input", "Invalid value.");
  const [code, detail] = messageOf(issue);
  return invalid(detail, issue.path.map(String).join("__"), code);
}

/** A refused body; an empty `attr` blames no field. */
export const invalid = (detail: string, attr = "", code: ErrorCode = "invalid_input"): SimError =>
  new SimError(code, detail, attr === "" ? {} : { attr });

/** `2025-03-01T10:00`, with or without seconds, up to six decimals and a zone. */
const pattern =
  /^(\d{4})-(\d{1,2})-(\d{1,2})[T ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,6})\d*)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i;

function offsetMinutes(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === "Z") return 0;
  const digits = zone.slice(1).replace(":", "");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || 0);
  return zone.startsWith("-") ? -minutes : minutes;
}

/** True for a day of the calendar: `Date.UTC` would roll 31 June over to July. */
function isReal(numbers: readonly number[]): boolean {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  const date = new Date(Date.UTC(year, month - 1, day));
  return (
    date.getUTCFullYear() === year &&
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    hour < 24 &&
    minute < 60 &&
    second < 60
  );
}

/** True if the string has a time zone, which the service requires in backfills. */
export const hasZone = (text: string): boolean => pattern.exec(text.trim())?.[8] !== undefined;

/**
 * A date with time as the service reads it, as a wire time (UTC, microseconds unless zero); undefined when it
 * is none. Upstream Django, `parse_datetime`.
 */
export function readWireTime(text: string): string | undefined {
  const parts = pattern.exec(text.trim());
  if (!parts) return undefined;
  const numbers = parts.slice(1, 7).map((it) => Number(it ?? 0));
  if (!isReal(numbers)) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  const ms = Date.UTC(year, month - 1, day, hour, minute - offsetMinutes(parts[8]), second);
  const micros = (parts[7] ?? "").padEnd(6, "0");
  const whole = new Date(ms).toISOString().slice(0, 19);
  return micros === "000000" ? `${whole}Z` : `${whole}.${micros}Z`;
}

/**
 * Fields as Django REST framework reads them: lenient where it is lenient. Combine them with `.optional()`
 * and `.nullable()`; a schema for PATCH has no defaults.
 */

/** Text. Numbers become text, surrounding blanks are cut. */
export const text = ({ max, blank = false }: { max?: number; blank?: boolean } = {}) => {
  let inner = z.string();
  if (!blank) inner = inner.min(1);
  if (max !== undefined) inner = inner.max(max);
  return z.preprocess((it) => (typeof it === "number" ? String(it) : typeof it === "string" ? it.trim() : it), inner);
};

const integerText = /^\s*[+-]?\d{1,15}(\.0*)?\s*$/;

/** A whole number, also as text. */
export const integer = ({ min, max }: { min?: number; max?: number } = {}) => {
  let inner = z.int();
  if (min !== undefined) inner = inner.min(min);
  if (max !== undefined) inner = inner.max(max);
  return z.preprocess((it) => (typeof it === "string" && integerText.test(it) ? Number.parseInt(it, 10) : it), inner);
};

const spelled = new Map<unknown, boolean>(
  [true, 1, "1", "t", "y", "yes", "true", "on"]
    .map((it): [unknown, boolean] => [it, true])
    .concat([false, 0, "0", "f", "n", "no", "false", "off"].map((it): [unknown, boolean] => [it, false])),
);

/** A boolean in any of the spellings that the service takes. */
export const boolean = () =>
  z.preprocess((it) => spelled.get(typeof it === "string" ? it.trim().toLowerCase() : it) ?? it, z.boolean());

/** One of a few texts. */
export const choice = <const T extends readonly [string, ...string[]]>(values: T) => z.enum(values);

/** One of a few numbers, also as text. */
export const numberChoice = <const T extends readonly [number, ...number[]]>(values: T) =>
  z.preprocess(
    (it) => (typeof it === "string" && integerText.test(it) ? Number.parseInt(it, 10) : it),
    z.literal([...values]),
  ) as z.ZodType<T[number]>;

/** A value that is no string fails by its format, not by its type. */
const textOrNothing = (it: unknown) => (typeof it === "string" || it === undefined || it === null ? it : "");

/** `0190f1f8aaaa7bbb8ccc123456789012` with its hyphens. */
const hyphened = (text: string): string =>
  text.replace(/^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/, "$1-$2-$3-$4-$5");

/** A UUID, in lower case. */
export const uuid = () =>
  z.preprocess(
    (it) => (typeof it === "string" ? hyphened(it.toLowerCase()) : textOrNothing(it)),
    z
      .string()
      .refine(isUuid, { params: { detail: "Must be a valid UUID." } })
      .meta({ format: "uuid" }),
  );

/** A date with time; read as UTC when it has no zone. Becomes a wire time. */
export const datetime = () =>
  z.preprocess(
    textOrNothing,
    z
      .string()
      .refine((it) => readWireTime(it) !== undefined, { params: { detail: datetimeFormat } })
      .transform((it) => readWireTime(it) ?? it)
      .meta({ type: "string", format: "date-time" }),
  );

export const list = <T extends z.ZodType>(item: T) => z.array(item);

/** An object with free keys. */
export const dictionary = () => z.record(z.string(), z.json());

/** Any JSON value. */
export const json = () => z.json();

/** Keys of fields that have one value only: null, true or false. */
type Constant<T> = {
  [K in keyof T]-?: boolean extends T[K] ? never : [T[K]] extends [boolean | null] ? K : never;
}[keyof T];

/** The only value of a field; undefined if it may have others. */
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
