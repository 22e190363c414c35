import type { Json } from "../../src/kernel/base/json.ts";

/** Characters that could hide or reorder pasted code. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|[\ud800-\udfff]/gu;

const units = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");

/** A quoted string for JSON, JavaScript and YAML. */
const quoted = (text: string): string => JSON.stringify(text).replace(hidden, units);

/** Syntax of a language's values. */
interface Notation {
  readonly text: (text: string) => string;
  readonly key: (key: string) => string;
  /** `true`, `false`, `null`. */
  readonly words: Readonly<Record<string, string>>;
  /** Padding inside braces on one line. */
  readonly pad: string;
  readonly lastComma: string;
}

const jsonWords = { true: "true", false: "false", null: "null" };

const bare = /^[A-Za-z_$][\w$]*$/;

/** `__proto__: x` would set the prototype, a computed key does not. */
const keyInScript = (key: string): string => {
  if (key === "__proto__") return '["__proto__"]';
  return bare.test(key) ? key : quoted(key);
};

const json: Notation = { text: quoted, key: quoted, words: jsonWords, pad: "", lastComma: "" };
const script: Notation = { text: quoted, key: keyInScript, words: jsonWords, pad: " ", lastComma: "," };

/** Python reads `\ud83d\ude00` as two characters; characters beyond the first plane need `\U`. */
const pythonEscape = (character: string): string =>
  character.length === 1 ? units(character) : `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;

/** A quoted string for Python and YAML. */
const quotedPython = (text: string): string => JSON.stringify(text).replace(hidden, pythonEscape);

const python: Notation = {
  text: quotedPython,
  key: quotedPython,
  words: { true: "True", false: "False", null: "None" },
  pad: "",
  lastComma: ",",
};

const yaml: Notation = { ...json, text: quotedPython, key: quotedPython };

/** Code instead of a value, e.g. `expect.any(String)`. */
export interface Code {
  readonly code: string;
}

/** JSON that may contain code. Our own objects are Maps, since keys come from users. */
export type Written = Json | Code | readonly Written[] | ReadonlyMap<string, Written>;

const isCode = (value: Written): value is Code =>
  typeof value === "object" && value !== null && "code" in value && Object.keys(value).length === 1 && isOurs(value);

/** Only `code()` creates code: captured objects with a `code` key are data. */
const ours = new WeakSet<object>();
const isOurs = (value: object): boolean => ours.has(value);

export function code(text: string): Code {
  const made = { code: text };
  ours.add(made);
  return made;
}

function entriesOf(value: Written): [string, Written][] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return value instanceof Map ? [...value] : Object.entries(value as { [key: string]: Json });
}

/** Maximum length of a list or object on one line. */
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

function written(value: Written, how: How): string {
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

/** A value as JavaScript, at an indentation. */
export const scriptText = (value: Written, indent = 0): string => written(value, { notation: script, indent, step: 2 });

export const yamlText = (value: Written, indent = 0): string => written(value, { notation: yaml, indent, step: 2 });

export const pythonText = (value: Written, indent = 0): string => written(value, { notation: python, indent, step: 4 });

/** A value as JSON, on several lines if long. */
export const prettyJson = (value: Written, indent = 0): string => written(value, { notation: json, indent, step: 2 });

/** A value as JSON on one line, with unsafe characters escaped. */
export const jsonText = (value: Json): string => JSON.stringify(value).replace(hidden, units);
