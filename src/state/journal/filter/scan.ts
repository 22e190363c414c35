import type { FilterProblem } from "./types.ts";

export type Op = ":" | "~" | ">" | ">=" | "<" | "<=";

export interface Span {
  readonly at: number;
  readonly length: number;
}

/** A value as it was typed; `text` is without the quotes. */
export interface Value extends Span {
  readonly op: Op;
  readonly text: string;
  readonly isQuoted: boolean;
}

/** `prop."a.b".c` as its steps. */
export interface Name extends Span {
  readonly path: readonly string[];
  /** False where nothing follows its last dot. */
  readonly isWhole: boolean;
}

export interface Term extends Span {
  readonly name: Name;
  /** Any of these; with `!=` none of them. */
  readonly values: readonly Value[];
  readonly isNegated: boolean;
}

export type Token =
  | ({ readonly kind: "open" | "close" | "or" | "and" | "not" } & Span)
  | ({ readonly kind: "text"; readonly text: string; readonly isQuoted: boolean } & Span)
  | ({ readonly kind: "term"; readonly term: Term } & Span);

export interface Scan {
  readonly tokens: readonly Token[];
  readonly problems: readonly FilterProblem[];
}

// Each of them looks at a character once or twice: the time taken grows with the text's length alone.
const blank = /\s+/y;
const quotedShape = /"((?:[^"\\]|\\[\s\S])*)"/y;
const firstStep = /[\p{L}_$][\p{L}\p{N}_$-]*/uy;
const nextStep = /[^\s.:~<>=!(),"]+/y;
const opShape = /!=|>=|<=|[:=~><]/y;
const innerOp = />=|<=|[~><]/y;
const bareValue = /[^\s(),"](?:[^\s(),"]|"(?:[^"\\]|\\[\s\S])*")*/y;
const bareWord = /[^\s()"][^\s()]*/y;

/** Words that join terms; in quotes they are words like others. */
const joiners = new Map([
  ["OR", "or"],
  ["or", "or"],
  ["AND", "and"],
  ["and", "and"],
  ["NOT", "not"],
] as const);

const parentheses = { "(": "open", ")": "close" } as const;

const isParenthesis = (character: string): character is "(" | ")" => character in parentheses;

function matchAt(shape: RegExp, text: string, at: number): RegExpExecArray | undefined {
  shape.lastIndex = at;
  return shape.exec(text) ?? undefined;
}

const unescaped = (text: string): string => text.replace(/\\(["\\])/g, "$1");

const unclosed = (text: string, at: number): FilterProblem => ({
  at,
  length: text.length - at,
  message: "this quote is not closed",
  hint: 'write \\" for a quote inside a phrase',
});

interface Quoted extends Span {
  readonly text: string;
  readonly problem?: FilterProblem;
}

function quotedAt(text: string, at: number): Quoted | undefined {
  if (text[at] !== '"') return undefined;
  const found = matchAt(quotedShape, text, at);
  if (found) return { at, length: found[0].length, text: unescaped(found[1] ?? "") };
  return { at, length: text.length - at, text: text.slice(at + 1), problem: unclosed(text, at) };
}

function stepAt(text: string, at: number, shape: RegExp): { step: string; end: number } | undefined {
  const quoted = at > 0 && text[at - 1] === "." ? quotedAt(text, at) : undefined;
  if (quoted && !quoted.problem) return { step: quoted.text, end: at + quoted.length };
  const found = matchAt(shape, text, at);
  return found && { step: found[0], end: at + found[0].length };
}

export function nameAt(text: string, at: number): Name | undefined {
  const first = stepAt(text, at, firstStep);
  if (!first) return undefined;
  const path = [first.step];
  let { end } = first;
  while (text[end] === ".") {
    const next = stepAt(text, end + 1, nextStep);
    if (!next) return { at, length: end + 1 - at, path, isWhole: false };
    path.push(next.step);
    end = next.end;
  }
  return { at, length: end - at, path, isWhole: true };
}

function valueAt(text: string, from: number, outer: Op): Value & { readonly problem?: FilterProblem } {
  const inner = outer === ":" ? matchAt(innerOp, text, from)?.[0] : undefined;
  const at = from + (inner?.length ?? 0);
  const op = (inner as Op | undefined) ?? outer;
  const quoted = quotedAt(text, at);
  if (quoted) return { ...quoted, op, isQuoted: true };
  const bare = matchAt(bareValue, text, at)?.[0] ?? "";
  const value = { at, length: bare.length, op, text: bare, isQuoted: false };
  if (bare !== "") return value;
  const message = "a value is missing here";
  return { ...value, problem: { at: from - 1, length: at - from + 1, message, hint: 'write "" for none' } };
}

/** `a,b,"c"`, right after the sign that compares. */
function valuesAt(text: string, from: number, op: Op): { values: Value[]; problems: FilterProblem[] } {
  const values: Value[] = [];
  const problems: FilterProblem[] = [];
  let at = from;
  do {
    const { problem, ...value } = valueAt(text, at, op);
    values.push(value);
    if (problem) problems.push(problem);
    at = value.at + value.length + 1;
  } while (text[at - 1] === ",");
  return { values, problems };
}

interface Scanned {
  readonly token: Token;
  readonly problems?: readonly FilterProblem[];
}

const isAddress = (text: string, end: number): boolean => text.startsWith("://", end);

function brokenName(text: string, { at, length }: Name): Scanned {
  const token: Token = { kind: "text", at, length: text.length - at, text: "", isQuoted: true };
  return { token, problems: [unclosed(text, at + length)] };
}

function termAt(text: string, at: number): Scanned | undefined {
  const name = nameAt(text, at);
  if (name && !name.isWhole && text[at + name.length] === '"') return brokenName(text, name);
  const sign = name && matchAt(opShape, text, at + name.length)?.[0];
  if (!name || !sign || isAddress(text, at + name.length)) return undefined;
  const op = sign === "=" || sign === "!=" ? ":" : (sign as Op);
  const { values, problems } = valuesAt(text, at + name.length + sign.length, op);
  const last = values.at(-1);
  const length = (last ? last.at + last.length : text.length) - at;
  const term: Term = { at, length, name, values, isNegated: sign === "!=" };
  return { token: { kind: "term", at, length, term }, problems };
}

function phraseAt(text: string, at: number): Scanned | undefined {
  const quoted = quotedAt(text, at);
  if (!quoted) return undefined;
  const token: Token = { kind: "text", at, length: quoted.length, text: quoted.text, isQuoted: true };
  return { token, problems: quoted.problem ? [quoted.problem] : [] };
}

function markAt(text: string, at: number): Scanned | undefined {
  const character = text[at] ?? "";
  if (isParenthesis(character)) return { token: { kind: parentheses[character], at, length: 1 } };
  return character === "-" ? { token: { kind: "not", at, length: 1 } } : undefined;
}

function wordAt(text: string, at: number): Scanned {
  const word = matchAt(bareWord, text, at)?.[0] ?? text.slice(at, at + 1);
  const joiner = joiners.get(word as "OR");
  const span = { at, length: word.length };
  return { token: joiner ? { kind: joiner, ...span } : { kind: "text", ...span, text: word, isQuoted: false } };
}

/** The text as tokens, with what is wrong with single ones. Nothing is thrown, whatever the text. */
export function scan(text: string): Scan {
  const tokens: Token[] = [];
  const problems: FilterProblem[] = [];
  let at = matchAt(blank, text, 0)?.[0].length ?? 0;
  while (at < text.length) {
    const found = phraseAt(text, at) ?? markAt(text, at) ?? termAt(text, at) ?? wordAt(text, at);
    tokens.push(found.token);
    problems.push(...(found.problems ?? []));
    at += found.token.length;
    at += matchAt(blank, text, at)?.[0].length ?? 0;
  }
  return { tokens, problems };
}
