import { z } from "zod";
import { isUuid } from "../kernel/ids.ts";
import { datetimeFormat } from "./invalid.ts";
import { readWireTime } from "./wire-time.ts";

/**
 * Fields as Django REST framework reads them: lenient where it is lenient. Combine them with `.optional()`
 * and `.nullable()`; a schema for PATCH has no defaults.
 */

/** Text. Numbers become text, surrounding blanks are cut. */
export const text = ({ max, blank = false }: { max?: number; blank?: boolean } = {}) => {
  let inner = z.string();
  if (!blank) inner = inner.min(1);
  if (max !== undefined) inner = inner.max(max);
  return z.preprocess(
    (it) => (typeof it === "number" ? String(it) : typeof it === "string" ? it.trim() : it),
    inner,
  );
};

const integerText = /^\s*[+-]?\d{1,15}(\.0*)?\s*$/;

/** A whole number, also as text. */
export const integer = ({ min, max }: { min?: number; max?: number } = {}) => {
  let inner = z.int();
  if (min !== undefined) inner = inner.min(min);
  if (max !== undefined) inner = inner.max(max);
  return z.preprocess(
    (it) => (typeof it === "string" && integerText.test(it) ? Number.parseInt(it, 10) : it),
    inner,
  );
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

/** Anything that is not a text fails by its format, not by its type. */
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

/** A list. */
export const list = <T extends z.ZodType>(item: T) => z.array(item);

/** An object with free keys. */
export const dictionary = () => z.record(z.string(), z.json());

/** Any JSON value. */
export const json = () => z.json();
