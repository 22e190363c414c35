import { FlagFailure } from "../reasons.ts";
import type { Scanner } from "./scanner.ts";
import { InvalidPattern } from "./tree.ts";

/** Character sets as sources of JavaScript character classes (mode `v`). */

const digit = String.raw`\p{Nd}`;
const blank = String.raw`\p{White_Space}`;
export const word = String.raw`\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}`;
const hexDigit = "0-9A-Fa-f";

/** The class of escapes such as `\d`; upstream's are Unicode's. */
const perl: ReadonlyMap<string, string> = new Map([
  ["d", `[${digit}]`],
  ["D", `[^${digit}]`],
  ["s", `[${blank}]`],
  ["S", `[^${blank}]`],
  ["w", `[${word}]`],
  ["W", `[^${word}]`],
  ["h", `[${hexDigit}]`],
  ["H", `[^${hexDigit}]`],
]);

const controls: ReadonlyMap<string, number> = new Map([
  ["a", 7],
  ["e", 27],
  ["f", 12],
  ["n", 10],
  ["r", 13],
  ["t", 9],
  ["v", 11],
]);

const posix: ReadonlyMap<string, string> = new Map([
  ["alnum", "0-9A-Za-z"],
  ["alpha", "A-Za-z"],
  ["ascii", String.raw`\x00-\x7F`],
  ["blank", String.raw`\t\x20`],
  ["cntrl", String.raw`\x00-\x1F\x7F`],
  ["digit", "0-9"],
  ["graph", String.raw`\x21-\x7E`],
  ["lower", "a-z"],
  ["print", String.raw`\x20-\x7E`],
  ["punct", String.raw`\x21-\x2F\x3A-\x40\x5B-\x60\x7B-\x7E`],
  ["space", String.raw`\t\n\x0B\f\r\x20`],
  ["upper", "A-Z"],
  ["word", "0-9A-Za-z_"],
  ["xdigit", hexDigit],
]);

/** A code point as it is written in a class. */
const codePoint = (code: number): string => `\\u{${code.toString(16)}}`;

const isClassSource = (source: string): boolean => {
  try {
    new RegExp(source, "v");
    return true;
  } catch {
    return false;
  }
};

const capitalized = (name: string): string =>
  name.toLowerCase().replace(/(^|_)[a-z]/g, (first) => first.toUpperCase());

/** `\p{Greek}`, `\pL`: the name is read as JavaScript knows it, also as that of a script. */
function propertyClass(name: string, isNegated: boolean): string {
  const inverted = isNegated !== name.startsWith("^");
  const plain = name.replace(/^\^/, "").replace(/^(?:sc|script)[=:]/i, "Script=");
  const spellings = [plain, `Script=${plain}`, capitalized(plain), `Script=${capitalized(plain)}`];
  const known = spellings.map((it) => `\\p{${it}}`).find((it) => isClassSource(it));
  if (known === undefined) throw new FlagFailure("unsupported_regex");
  return `[${inverted ? "^" : ""}${known}]`;
}

/** Digits of `\x41`, `\x{41}`, `é`, `\u{e9}` and `\U000000e9`, after the letter. */
function hexEscape(scanner: Scanner, digits: number): number {
  const found =
    scanner.take(/\{([0-9A-Fa-f]{1,8})\}/y) ?? scanner.take(new RegExp(`([0-9A-Fa-f]{${digits}})`, "y"));
  const code = Number.parseInt(found?.[1] ?? "", 16);
  if (!(code <= 0x10ffff)) throw new InvalidPattern();
  return code;
}

const hexDigits: ReadonlyMap<string, number> = new Map([
  ["x", 2],
  ["u", 4],
  ["U", 8],
]);

/** A set, or a single code point. */
export type Atom = { readonly set: string } | { readonly code: number };

export const setOf = (atom: Atom): string => ("set" in atom ? atom.set : `[${codePoint(atom.code)}]`);

/** What an escape stands for, after the backslash, when it is a set or a character. */
export function escapeAtom(scanner: Scanner): Atom {
  const letter = scanner.next();
  if (letter === undefined) throw new InvalidPattern();
  const set = perl.get(letter);
  if (set !== undefined) return { set };
  if (letter === "p" || letter === "P") {
    const name = scanner.take(/\{([^}]*)\}/y)?.[1] ?? scanner.next();
    if (!name) throw new InvalidPattern();
    return { set: propertyClass(name, letter === "P") };
  }
  const digits = hexDigits.get(letter);
  if (digits !== undefined) return { code: hexEscape(scanner, digits) };
  const control = controls.get(letter);
  if (control !== undefined) return { code: control };
  if (/[0-9A-Za-z<>]/.test(letter)) throw new FlagFailure("unsupported_regex");
  return { code: letter.codePointAt(0) ?? 0 };
}

function posixClass(scanner: Scanner): string | undefined {
  const found = scanner.take(/\[:(\^?)([a-z]+):\]/y);
  if (!found) return undefined;
  const members = posix.get(found[2] ?? "");
  if (members === undefined) throw new InvalidPattern();
  return `[${found[1]}${members}]`;
}

/** Upstream refuses classes that are nested deeper. */
const deepest = 250;

function classAtom(scanner: Scanner, depth: number): Atom {
  const named = posixClass(scanner);
  if (named !== undefined) return { set: named };
  if (scanner.skip("[")) return { set: classOf(scanner, depth + 1) };
  if (scanner.skip("\\")) return escapeAtom(scanner);
  return { code: scanner.next()?.codePointAt(0) ?? 0 };
}

/** A character, or a range of them. */
function classItem(scanner: Scanner, depth: number): string {
  const from = classAtom(scanner, depth);
  if (!("code" in from)) return from.set;
  if (!scanner.take(/-(?![\]-])/y)) return codePoint(from.code);
  const to = classAtom(scanner, depth);
  if (!("code" in to) || to.code < from.code) throw new InvalidPattern();
  return `${codePoint(from.code)}-${codePoint(to.code)}`;
}

const operations: Record<string, (left: string, right: string) => string> = {
  "&&": (left, right) => `[${left}&&${right}]`,
  "--": (left, right) => `[${left}--${right}]`,
  "~~": (left, right) => `[[${left}--${right}][${right}--${left}]]`,
};

/**
 * A class in brackets, after the opening one: `[^a-z\d]`, nested, with POSIX names and with `&&`, `--`
 * and `~~`, which bind less than standing side by side.
 */
export function classOf(scanner: Scanner, depth = 0): string {
  if (depth > deepest) throw new InvalidPattern();
  const isNegated = scanner.skip("^");
  let members = scanner.skip("]") ? codePoint(0x5d) : "";
  let left: string | undefined;
  let operation = "";
  const joined = () => {
    const right = `[${members}]`;
    return left === undefined ? right : (operations[operation]?.(left, right) ?? right);
  };
  while (!scanner.skip("]")) {
    if (scanner.isAtEnd) throw new InvalidPattern();
    const found = scanner.take(/&&|--|~~/y)?.[0];
    if (found === undefined) members += classItem(scanner, depth);
    else {
      left = joined();
      operation = found;
      members = "";
    }
  }
  return isNegated ? `[^${joined()}]` : joined();
}
