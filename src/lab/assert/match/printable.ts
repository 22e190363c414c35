import { spelledOut } from "../../../kernel/base/text.ts";

/** Captured text as one line that is safe on every terminal, cut to `limit` characters before escaping. */
export function printable(text: string, limit = 200): string {
  const cut = text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
  return spelledOut(cut);
}

export function quoted(text: string, limit = 80): string {
  const cut = text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
  return printable(JSON.stringify(cut), Number.POSITIVE_INFINITY);
}

/** `signup`, or `"sign up"` if the name is more than one word. */
export const nameText = (name: string): string =>
  name === "" ? "(no name)" : /^[\w$.:/-]{1,80}$/.test(name) ? name : quoted(name);

const word = /^[A-Za-z_$][\w$]{0,79}$/;

export const keyText = (key: string): string => (word.test(key) ? key : quoted(key));

/** The path of a property below another path, as in code: `items[2].sku`. */
export function pathTo(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  if (!word.test(key)) return `${path}[${quoted(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}
