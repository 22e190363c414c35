import type { Json } from "../../src/kernel/json.ts";

/** What could hide or reorder text where it is pasted: the code must read as it runs. */
export const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|[\ud800-\udfff]/gu;

/** A text with each of its UTF-16 units escaped. */
export const units = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");

/** A text in double quotes; the rules of JSON hold in JavaScript and in YAML, too. */
const quoted = (text: string): string => JSON.stringify(text).replace(hidden, units);

/** How a language writes values. */
export interface Notation {
  readonly text: (text: string) => string;
  /** A key before its colon. */
  readonly key: (key: string) => string;
  /** `true`, `false`, `null`. */
  readonly words: Readonly<Record<string, string>>;
  /** Between brackets and what they hold, where that is on one line. */
  readonly pad: string;
  /** After the last of several lines. */
  readonly lastComma: string;
}

const jsonWords = { true: "true", false: "false", null: "null" };

const bare = /^[A-Za-z_$][\w$]*$/;

/** `__proto__: x` would set the prototype: only as a computed key it is a property. */
const keyInScript = (key: string): string => {
  if (key === "__proto__") return '["__proto__"]';
  return bare.test(key) ? key : quoted(key);
};

/** JSON's own. */
export const json: Notation = { text: quoted, key: quoted, words: jsonWords, pad: "", lastComma: "" };
const script: Notation = { text: quoted, key: keyInScript, words: jsonWords, pad: " ", lastComma: "," };

/** Code that stands for a value that is not written down, e.g. `expect.any(String)`. */
export interface Code {
  readonly code: string;
}

/** JSON, in which code may stand instead of a value. Objects of ours are Maps: keys come from users. */
export type Written = Json | Code | readonly Written[] | ReadonlyMap<string, Written>;

const isCode = (value: Written): value is Code =>
  typeof value === "object" &&
  value !== null &&
  "code" in value &&
  Object.keys(value).length === 1 &&
  isOurs(value);

/** Captured objects have prototypes, or come through `JSON.parse`: code is made here only. */
const ours = new WeakSet<object>();
const isOurs = (value: object): boolean => ours.has(value);

/** Code to be written where a value stands. */
export function code(text: string): Code {
  const made = { code: text };
  ours.add(made);
  return made;
}

function entriesOf(value: Written): [string, Written][] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return value instanceof Map ? [...value] : Object.entries(value as { [key: string]: Json });
}

/** The longest list or object on one line, characters. */
const width = 80;

function bracketed(parts: readonly string[], [open, close]: readonly [string, string], how: How): string {
  if (parts.length === 0) return open + close;
  const { pad, lastComma } = how.notation;
  const inner = open === "{" ? pad : "";
  const line = `${open}${inner}${parts.join(", ")}${inner}${close}`;
  if (!line.includes("\n") && line.length <= width - how.indent) return line;
  const space = " ".repeat(how.indent + how.step);
  return `${open}\n${parts.map((it) => space + it).join(",\n")}${lastComma}\n${" ".repeat(how.indent)}${close}`;
}

interface How {
  readonly notation: Notation;
  readonly indent: number;
  readonly step: number;
}

/** A value in some notation, from a line that is indented so far. */
export function written(value: Written, how: How): string {
  if (typeof value === "string") return how.notation.text(value);
  if (value === null || typeof value === "boolean") return how.notation.words[String(value)] ?? "";
  if (typeof value === "number") return JSON.stringify(value);
  if (isCode(value)) return value.code;
  const deeper = { ...how, indent: how.indent + how.step };
  const entries = entriesOf(value);
  if (entries === undefined)
    return bracketed(
      (value as readonly Written[]).map((it) => written(it, deeper)),
      ["[", "]"],
      how,
    );
  const parts = entries.map(([key, it]) => `${how.notation.key(key)}: ${written(it, deeper)}`);
  return bracketed(parts, ["{", "}"], how);
}

/** A value as JavaScript, from a line that is indented so far. */
export const scriptText = (value: Written, indent = 0): string =>
  written(value, { notation: script, indent, step: 2 });

/** A value as JSON over several lines where it is long. */
export const prettyJson = (value: Written, indent = 0): string =>
  written(value, { notation: json, indent, step: 2 });

/** A value as JSON on one line. Characters that hide or reorder text are escaped. */
export const jsonText = (value: Json): string => JSON.stringify(value).replace(hidden, units);

/** One word for a POSIX shell, whatever is in it. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
