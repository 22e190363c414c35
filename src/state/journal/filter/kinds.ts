import type { Json } from "../../../kernel/base/json.ts";
import { nearest } from "../../../kernel/base/nearest.ts";
import { readDuration, readMoment } from "../../../kernel/base/time-text.ts";
import { nameTest } from "../../../kernel/base/wildcard.ts";
import type { Op, Value } from "./scan.ts";
import { holdsText } from "./values.ts";

export type ValueCheck = (found: Json, now: number) => boolean;

export interface ValueProblem {
  readonly message: string;
  readonly hint: string;
}

export interface FieldExample {
  readonly name: string;
  readonly example: string;
  readonly choices?: readonly string[] | undefined;
}

export function meant(word: string, known: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const longer = lower.length > 1 ? known.find((it) => it.startsWith(lower)) : undefined;
  return longer ?? nearest(word, known);
}

type Reader = (value: Value, asked: FieldExample) => ValueCheck | ValueProblem;

const numberShape = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const isNumberGlob = (text: string): boolean => /^[\d*.-]*$/.test(text) && text.includes("*");

export const numberIn = (text: string): number | undefined => (numberShape.test(text) ? Number(text) : undefined);

const orders: Readonly<Record<">" | ">=" | "<" | "<=", (a: number | string, b: number | string) => boolean>> = {
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
};

type Order = keyof typeof orders;

const isOrder = (op: Op): op is Order => op in orders;

/** Compares strings by their characters, numbers by their value, and other values by their word; quotes make a string. */
function equalTo({ text, isQuoted }: Value, isFolded: boolean): ValueCheck {
  const fold = (it: string) => (isFolded ? it.toLowerCase() : it);
  const wanted = fold(text);
  const test = isQuoted ? (it: string) => it === wanted : nameTest(wanted);
  if (isQuoted) return (found) => typeof found === "string" && test(fold(found));
  const number = numberIn(text);
  const word = text.toLowerCase();
  return (found) => {
    if (typeof found === "string") return test(fold(found));
    if (typeof found === "number") return found === number || test(String(found));
    if (typeof found === "boolean") return test(String(found)) || word === String(found);
    return found === null && word === "null";
  };
}

const containing = ({ text }: Value): ValueCheck => {
  const lower = text.toLowerCase();
  return (found) => holdsText(found, lower);
};

/** Compares numbers, also those in strings; otherwise strings, as for ISO times. */
function inOrder({ text }: Value, op: Order): ValueCheck {
  const number = numberIn(text);
  const fits = orders[op];
  if (number === undefined) return (found) => typeof found === "string" && fits(found, text);
  return (found) => {
    const given = typeof found === "string" ? numberIn(found) : found;
    return typeof given === "number" && fits(given, number);
  };
}

const oneOf = (choices: readonly string[]): string => `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;

/** Rejects a word that is none of the choices; globs and parts of words may match several. */
function unknownWord({ text, op, isQuoted }: Value, { name, choices }: FieldExample): ValueProblem | undefined {
  const isOpen = op !== ":" || (!isQuoted && text.includes("*"));
  if (!choices || isOpen || choices.includes(text.toLowerCase())) return undefined;
  const near = meant(text, choices);
  const hint = near === undefined ? `${name}:${choices[0]}, for example` : `did you mean ${name}:${near}?`;
  return { message: `"${name}" is ${oneOf(choices)}`, hint };
}

const readName: Reader = (value) => (value.op === "~" ? containing(value) : equalTo(value, false));

const readWord: Reader = (value, asked) =>
  unknownWord(value, asked) ?? (value.op === "~" ? containing(value) : equalTo(value, true));

const readNumber: Reader = (value, { name, example }) => {
  const { text, op } = value;
  const isWord = op === ":" && (isNumberGlob(text) || text.toLowerCase() === "null");
  if (numberIn(text) === undefined && !isWord)
    return { message: `"${name}" is a number`, hint: `for example ${example}` };
  return isOrder(op) ? inOrder(value, op) : equalTo({ ...value, isQuoted: false }, false);
};

const readAnything: Reader = (value) => {
  const { op } = value;
  if (isOrder(op)) return inOrder(value, op);
  return op === "~" ? containing(value) : equalTo(value, false);
};

const readTime =
  (fits: (at: number, limit: number) => boolean): Reader =>
  ({ text }, { name }) => {
    const ago = readDuration(text);
    if (ago !== undefined) return (found, now) => typeof found === "number" && fits(found, now - ago);
    const moment = readMoment(text);
    if (moment !== undefined) return (found) => typeof found === "number" && fits(found, moment);
    const hint = `for example ${name}:5m, ${name}:1h30m or ${name}:2025-06-01T12:00:00Z`;
    return { message: `"${name}" is a length of time before now, or a time in ISO 8601`, hint };
  };

/** Two times with dots between; the first one is included. */
const readBetween: Reader = ({ text }, { name, example }) => {
  const [from, to, ...others] = text.split("..").map(readMoment);
  if (from === undefined || to === undefined || others.length > 0)
    return { message: `"${name}" is two times in ISO 8601, with .. between`, hint: `for example ${example}` };
  return (found) => typeof found === "number" && found >= from && found < to;
};

const kinds = {
  name: { ops: [":", "~"], read: readName },
  word: { ops: [":", "~"], read: readWord },
  number: { ops: [":", ">", ">=", "<", "<="], read: readNumber },
  anything: { ops: [":", "~", ">", ">=", "<", "<="], read: readAnything },
  after: { ops: [":"], read: readTime((at, limit) => at >= limit) },
  between: { ops: [":"], read: readBetween },
  before: { ops: [":"], read: readTime((at, limit) => at <= limit) },
} as const satisfies Record<string, { ops: readonly Op[]; read: Reader }>;

export type KindName = keyof typeof kinds;

export function checkFor(kind: KindName, value: Value, asked: FieldExample): ValueCheck | ValueProblem {
  const { ops, read } = kinds[kind];
  const known: readonly Op[] = ops;
  if (known.includes(value.op)) return read(value, asked);
  return {
    message: `"${asked.name}" is not compared with ${value.op}`,
    hint: `it takes ${known.join(" ")}, for example ${asked.example}`,
  };
}
