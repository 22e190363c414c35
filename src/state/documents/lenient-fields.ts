import { z } from "zod";
import { isUuid } from "../../kernel/base/text.ts";

export const datetimeFormat =
  "Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].";

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

export const hasZone = (text: string): boolean => pattern.exec(text.trim())?.[8] !== undefined;

/** A date with time as the service reads it, as a wire time; undefined when it is none. Upstream Django, `parse_datetime`. */
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

export const text = ({ max, blank = false }: { max?: number; blank?: boolean } = {}) => {
  let inner = z.string();
  if (!blank) inner = inner.min(1);
  if (max !== undefined) inner = inner.max(max);
  return z.preprocess((it) => (typeof it === "number" ? String(it) : typeof it === "string" ? it.trim() : it), inner);
};

const integerText = /^\s*[+-]?\d{1,15}(\.0*)?\s*$/;

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

export const boolean = () =>
  z.preprocess((it) => spelled.get(typeof it === "string" ? it.trim().toLowerCase() : it) ?? it, z.boolean());

export const choice = <const T extends readonly [string, ...string[]]>(values: T) => z.enum(values);

export const numberChoice = <const T extends readonly [number, ...number[]]>(values: T) =>
  z.preprocess(
    (it) => (typeof it === "string" && integerText.test(it) ? Number.parseInt(it, 10) : it),
    z.literal([...values]),
  ) as z.ZodType<T[number]>;

const textOrNothing = (it: unknown) => (typeof it === "string" || it === undefined || it === null ? it : "");

/** `0190f1f8aaaa7bbb8ccc123456789012` with its hyphens. */
const hyphened = (text: string): string =>
  text.replace(/^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/, "$1-$2-$3-$4-$5");

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

export const dictionary = () => z.record(z.string(), z.json());

export const json = () => z.json();
