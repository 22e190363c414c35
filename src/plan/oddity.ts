import { nearest } from "../kernel/nearest.ts";

const isNumberText = (value: unknown): boolean =>
  typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value));

interface Row {
  readonly wanted: readonly string[];
  readonly isIt: (value: unknown) => boolean;
  readonly hint: string;
}

/** What is often mistaken, first match counts. */
const rows: readonly Row[] = [
  { wanted: ["number", "integer"], isIt: isNumberText, hint: "number as text" },
  { wanted: ["boolean"], isIt: (it) => it === "true" || it === "false", hint: "true or false as text" },
  { wanted: ["boolean"], isIt: (it) => it === 0 || it === 1, hint: "number in place of true or false" },
  { wanted: ["string"], isIt: (it) => typeof it === "number", hint: "number in place of text" },
  { wanted: ["integer"], isIt: (it) => typeof it === "number", hint: "not whole" },
  { wanted: ["array"], isIt: (it) => it !== null && typeof it !== "object", hint: "not in a list" },
];

/** What is odd about a value of the wrong type. */
export function oddType(types: unknown, value: unknown): string | null {
  const [wanted, ...others] = [types].flat().filter((it) => it !== "null");
  // Where many types will do, nobody knows which was meant.
  const row =
    others.length === 0 ? rows.find((it) => it.isIt(value) && it.wanted.includes(String(wanted))) : undefined;
  return row?.hint ?? (value === null ? "null is a value: leave the property out, or allow null" : null);
}

/** What is odd about a value that is none of those allowed. */
export function oddValue(allowed: readonly unknown[], value: unknown): string | null {
  const asText = allowed.find((it) => it !== value && String(it) === String(value));
  if (asText !== undefined) return typeof value === "string" ? "number as text" : "number in place of text";
  if (typeof value !== "string") return null;
  const texts = allowed.filter((it): it is string => typeof it === "string");
  if (texts.some((it) => it.toLowerCase() === value.toLowerCase())) return "case differs";
  return meant(value, texts);
}

/** `did you mean "plan"?` */
export function meant(word: string, known: readonly string[]): string | null {
  const found = nearest(word, known);
  return found === undefined ? null : `did you mean ${JSON.stringify(found)}?`;
}
