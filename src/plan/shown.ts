import { unsafeCharacters } from "../kernel/unsafe-text.ts";

const longest = 120;

const spelled = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;

/** Text of unknown origin on one line, safe to print. */
export const printable = (text: string, limit = longest): string =>
  (text.length > limit ? `${text.slice(0, limit)}…` : text).replace(unsafeCharacters, spelled);

/** A value as one would write it, cut to a line; undefined is nothing. */
export const shownValue = (value: unknown): string | null =>
  value === undefined ? null : printable(JSON.stringify(value) ?? String(value));

const join = (words: readonly string[], last: string): string => {
  const head = words.slice(0, -1).join(", ");
  return [head, words.at(-1) ?? ""].filter(Boolean).join(` ${last} `);
};

const mostListed = 8;

/** `"a", "b" or "c"`; of a long list the beginning. */
export function alternatives(values: readonly unknown[]): string {
  const shown = values.slice(0, mostListed).map((it) => shownValue(it) ?? "nothing");
  const more = values.length - shown.length;
  return join(more > 0 ? [...shown, `${more} others`] : shown, "or");
}

/** `a text or null` */
export const orOf = (words: readonly string[]): string => join([...new Set(words)], "or");
