import type { Json } from "../../../kernel/base/json.ts";
import { distance } from "../../../kernel/base/nearest.ts";
import { counted } from "../../../kernel/base/text.ts";
import { readMoment } from "../../../kernel/base/time-text.ts";
import { isSame, momentOf } from "./values.ts";

/** What is odd about a value that differs from the expected one, in a few words; null for nothing. */
type Hint = (wanted: Json, value: Json) => string | null;

const both =
  (hint: (wanted: string, value: string) => string | null): Hint =>
  (wanted, value) =>
    typeof wanted === "string" && typeof value === "string" ? hint(wanted, value) : null;

const when = (is: boolean, words: string): string | null => (is ? words : null);

const numberIn = (text: string): number | undefined =>
  /^\s*-?\d+(\.\d+)?(e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : undefined;

function parsed(text: string): Json | undefined {
  if (text.length > 100_000 || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const typesDiffer: Hint = (wanted, value) => {
  if (typeof wanted === "number" && typeof value === "string") {
    return numberIn(value) === undefined ? null : "number as a string";
  }
  if (typeof wanted === "string" && typeof value === "number") {
    return when(numberIn(wanted) !== undefined, "number where a string is expected");
  }
  return null;
};

const booleans: Hint = (wanted, value) => {
  if (typeof wanted === "boolean") {
    if (typeof value === "string") return when(/^\s*(true|false|yes|no|0|1)\s*$/i.test(value), "boolean as a string");
    return when(value === Number(wanted), "boolean as a number");
  }
  return when(typeof value === "boolean" && wanted === String(value), "boolean where a string is expected");
};

const nothing: Hint = (wanted, value) => {
  return when(
    wanted !== value && typeof value === "string" && /^(undefined|null|NaN|\[object Object\])$/.test(value),
    `the string ${JSON.stringify(value)}: a missing value was converted to a string`,
  );
};

const letters = (count: number) => `${counted(count, "letter")} differ${count === 1 ? "s" : ""}`;

const folded = (text: string): string => text.replace(/[\W_]/g, "").toLowerCase();

const texts = both((wanted, value) => {
  if (wanted.trim() === value.trim()) return "whitespace around it";
  if (wanted.toLowerCase() === value.toLowerCase()) return "case differs";
  if (wanted.normalize() === value.normalize()) return "same letters, in another Unicode form";
  return when(folded(wanted) !== "" && folded(wanted) === folded(value), "case or separators differ");
});

const typos = both((wanted, value) => {
  if (Math.max(wanted.length, value.length) > 64 || wanted.length < 4) return null;
  const most = wanted.length < 8 ? 1 : 2;
  const off = distance(wanted, value);
  if (off <= most) return letters(off);
  return when(distance(folded(wanted), folded(value)) <= most, "similar, apart from case and separators");
});

const moments: Hint = (wanted, value) => {
  const [a, b] = [momentOf(wanted), momentOf(value)];
  if (a !== undefined && b !== undefined) return when(a === b, "same time, in another format (use @at)");
  if (typeof wanted === "number" && b !== undefined)
    return when(b === wanted || b === wanted * 1000, "ISO time, not epoch");
  if (typeof value === "number" && a !== undefined)
    return when(a === value || a === value * 1000, "epoch, not ISO time");
  return null;
};

const numbers: Hint = (wanted, value) => {
  if (typeof wanted !== "number" || typeof value !== "number") return null;
  if (Math.abs(wanted) >= 1e11 && Math.abs(wanted - value * 1000) < 1000) return "seconds, not milliseconds";
  if (Math.abs(value) >= 1e11 && Math.abs(value - wanted * 1000) < 1000) return "milliseconds, not seconds";
  if (wanted !== 0 && wanted * 100 === value) return "100 times as much (cents?)";
  if (wanted !== 0 && value * 100 === wanted) return "a hundredth (not in cents?)";
  return when(Math.abs(wanted - value) <= 1e-9 * Math.abs(wanted), "rounding (use @closeTo)");
};

const isShuffled = (a: readonly Json[], b: readonly Json[]): boolean => {
  const texts = (list: readonly Json[]) => list.map((item) => JSON.stringify(item)).sort();
  return a.length === b.length && isSame(texts(a), texts(b));
};

export const lengthHint = (length: number, wanted: number): string => `${counted(length, "item")}, not ${wanted}`;

const lists: Hint = (wanted, value) => {
  const isApart = typeof value === "string" && typeof wanted === "object" && wanted !== null;
  if (isApart && parsed(value) !== undefined) return "JSON as a string";
  if (Array.isArray(wanted) && Array.isArray(value)) {
    if (isShuffled(wanted, value)) return "another order";
    return when(wanted.length !== value.length, lengthHint(value.length, wanted.length));
  }
  if (Array.isArray(wanted)) return when(wanted.length === 1 && isSame(wanted[0], value), "not in a list");
  return when(Array.isArray(value) && value.length === 1 && isSame(value[0], wanted), "in a list");
};

const rows: readonly Hint[] = [typesDiffer, booleans, texts, moments, numbers, lists, nothing, typos];

export function hintFor(wanted: Json, value: Json): string | null {
  for (const row of rows) {
    const hint = row(wanted, value);
    if (hint !== null) return hint;
  }
  return null;
}

/** The values that were probably meant, each with the hint for it. */
export function readings(value: Json): { value: Json; hint: string }[] {
  if (typeof value === "string") return textReadings(value);
  if (typeof value === "number") {
    return [
      { value: String(value), hint: "number where a string is expected" },
      ...(value >= 1e8 ? [{ value: value * 1000, hint: "seconds, not milliseconds" }] : []),
      ...(value >= 1e11 ? [{ value: value / 1000, hint: "milliseconds, not seconds" }] : []),
    ];
  }
  if (typeof value === "boolean") return [{ value: String(value), hint: "boolean where a string is expected" }];
  return value === null ? [] : [{ value: JSON.stringify(value), hint: "an object where a string is expected" }];
}

function textReadings(text: string): { value: Json; hint: string }[] {
  const short = text.slice(0, 2_000);
  const [number, object, moment] = [numberIn(short), parsed(text), readMoment(short)];
  return [
    ...(number === undefined ? [] : [{ value: number, hint: "number as a string" }]),
    ...(/^(true|false)$/.test(short) ? [{ value: short === "true", hint: "boolean as a string" }] : []),
    ...(object === undefined ? [] : [{ value: object, hint: "JSON as a string" }]),
    ...(moment === undefined ? [] : [{ value: moment, hint: "ISO time, not epoch" }]),
    { value: short.trim(), hint: "whitespace around it" },
    { value: short.toLowerCase(), hint: "case differs" },
    { value: short.toUpperCase(), hint: "case differs" },
  ];
}
