import { Refusal } from "../refusal.ts";
import { flag, type HogQLValue, string, type Type } from "../types.ts";
import { textOf } from "../values.ts";
import type { Regex } from "./patterns.ts";
import { type FunctionRow, fn, lenient, many, special, typed } from "./row.ts";

const length: Type = { kind: "UInt64" };
const strings: Type = { kind: "Array", item: string };

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);
const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (it) => it.toLowerCase());
const upperAscii = (text: string): string => text.replace(/[a-z]+/g, (it) => it.toUpperCase());

/** Characters, or bytes of UTF-8, of a string, from a place (1 is the first, -1 the last). */
function sliced<T extends { length: number; slice(from: number, to: number): T }>(
  of: T,
  from: number,
  count: number,
): T {
  if (from === 0) throw new Refusal("Indices in strings are 1-based");
  const start = from > 0 ? from - 1 : of.length + from;
  const end = count < 0 ? of.length + count : start + count;
  return of.slice(Math.max(0, start), Math.max(0, end));
}

const substring = (text: string, from: number, count = text.length): string =>
  isAscii(text) ? sliced(text, from, count) : sliced(Buffer.from(text), from, count).toString();
const substringUTF8 = (text: string, from: number, count = text.length): string =>
  isAscii(text) ? sliced(text, from, count) : sliced([...text], from, count).join("");

const size = (text: string): number => Buffer.byteLength(text);

/** Place of a part in a text in bytes, from 1; 0 if it does not occur. */
function position(text: string, part: string, from = 1): number {
  const start = isAscii(text)
    ? from - 1
    : Buffer.from(text)
        .subarray(0, from - 1)
        .toString().length;
  const at = text.indexOf(part, start);
  return at < 0 ? 0 : size(text.slice(0, at)) + 1;
}

const mostCharacters = 1_000_000;
function limited(text: string, count: number): void {
  if (text.length * count > mostCharacters) throw new Refusal(`A string has at most ${mostCharacters} characters`);
}

function padded(text: string, width: number, fill: string, isLeft: boolean): string {
  limited(" ", width);
  const characters = [...text];
  if (characters.length >= width) return characters.slice(0, width).join("");
  const missing = width - characters.length;
  const padding = [...fill.repeat(Math.ceil(missing / Math.max(1, [...fill].length)))].slice(0, missing).join("");
  return isLeft ? padding + text : text + padding;
}

const pad = (name: string, isLeft: boolean): FunctionRow =>
  fn(name, ["string", "integer", "string?"], string, (text, width, fill = " ") => padded(text, width, fill, isLeft));

const trim = (name: string, isLeft: boolean, isRight: boolean): FunctionRow =>
  fn(name, ["string", "string?"], string, (text, characters = " ") => {
    const set = new Set(characters);
    const all = [...text];
    let [from, to] = [0, all.length];
    while (isLeft && from < to && set.has(all[from] ?? "")) from++;
    while (isRight && to > from && set.has(all[to - 1] ?? "")) to--;
    return all.slice(from, to).join("");
  });

/** Text of a value; NULL is the empty string. Upstream posthog/hogql/printer/clickhouse.py. */
const concat = special("concat", [2, many], (args, { zones }) => {
  const text = (it: HogQLValue, i: number) => (it === null ? "" : textOf(it, args[i]?.type ?? string, zones));
  return { type: string, build: lenient((...values) => values.map(text).join("")) };
});

const replaceOne = (text: string, part: string, by: string): string => {
  const at = text.indexOf(part);
  return at < 0 || part === "" ? text : text.slice(0, at) + by + text.slice(at + part.length);
};
const replaceAll = (text: string, part: string, by: string): string => (part === "" ? text : text.split(part).join(by));

const afterScheme = (text: string): string => text.replace(/^[a-z][a-z0-9+.-]*:\/\/|^\/\//i, "");
const hasScheme = (text: string): boolean => /^(?:[a-z][a-z0-9+.-]*:)?\/\//i.test(text);
export const hostOf = (text: string): string => {
  if (!hasScheme(text)) return "";
  const authority = /^[^/?#]*/.exec(afterScheme(text))?.[0] ?? "";
  return authority.replace(/^.*@/, "").replace(/:\d*$/, "");
};
export const pathOf = (text: string): string => {
  const full = fullPathOf(text);
  return full.replace(/[?#].*$/s, "");
};
const fullPathOf = (text: string): string => /^[^/?#]*(\/.*)$/s.exec(afterScheme(text))?.[1] ?? "";

function parameterOf(text: string, name: string): string {
  const query = /\?([^#]*)/.exec(text)?.[1] ?? "";
  const parameter = query.split("&").find((it) => it.startsWith(`${name}=`));
  return parameter === undefined ? "" : parameter.slice(name.length + 1);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refusal(`decodeURLComponent of ${JSON.stringify(text.slice(0, 100))}: no UTF-8, which is not emulated`);
  }
}

const search = (name: string, type: Type, run: (text: string, regex: Regex) => HogQLValue): FunctionRow =>
  typed(name, ["string", "string"], (_, { patterns }) => [type, (text, pattern) => run(text, patterns.regex(pattern))]);

const replaceRegex = (name: string, isGlobal: boolean): FunctionRow =>
  typed(name, ["string", "string", "string"], (_, { patterns }) => [
    string,
    (text, pattern, by) => patterns.regex(pattern).replaced(text, by, isGlobal),
  ]);

function right(text: string, count: number): string {
  if (count > 0) return [...text].slice(-count).join("");
  return substringUTF8(`${text} `, 1 - count, text.length).slice(0, -1);
}

function repeat(text: string, count: number): string {
  limited(text, count);
  return text.repeat(Math.max(0, count));
}

function splitByChar(separator: string, text: string): HogQLValue {
  if (size(separator) !== 1) throw new Refusal("Illegal separator for function splitByChar. Must be exactly one byte.");
  return text.split(separator);
}

function positionUTF8(text: string, part: string): number {
  const at = text.indexOf(part);
  return at < 0 ? 0 : [...text.slice(0, at)].length + 1;
}

const ofText: Readonly<Record<string, (text: string) => string>> = {
  lower: lowerAscii,
  upper: upperAscii,
  lowerUTF8: (text) => text.toLowerCase(),
  upperUTF8: (text) => text.toUpperCase(),
  reverseUTF8: (text) => [...text].reverse().join(""),
  regexpQuoteMeta: (text) => text.replace(/[\\^$.*+?()[\]{}|-]/g, "\\$&"),
  base64Encode: (text) => Buffer.from(text).toString("base64"),
  encodeURLComponent: encodeURIComponent,
  decodeURLComponent: decoded,
  domain: hostOf,
  domainWithoutWWW: (text) => hostOf(text).replace(/^www\./, ""),
  path: pathOf,
  pathFull: fullPathOf,
  protocol: (text) => /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1] ?? "",
  queryString: (text) => /\?([^#]*)/.exec(text)?.[1] ?? "",
  fragment: (text) => /#(.*)$/s.exec(text)?.[1] ?? "",
  cutQueryString: (text) => text.replace(/\?[^#]*/, ""),
  cutFragment: (text) => text.replace(/#.*$/s, ""),
  cutQueryStringAndFragment: (text) => text.replace(/[?#].*$/s, ""),
  cutWWW: (text) => text.replace(/^((?:[a-z][a-z0-9+.-]*:)?\/\/)www\./i, "$1"),
};

export const stringFunctions: readonly FunctionRow[] = [
  ...Object.entries(ofText).map(([name, run]) => fn(name, ["string"], string, run)),
  fn("lengthUTF8", ["string"], length, (text) => [...text].length),
  fn("ascii", ["string"], { kind: "Int32" }, (text) => Buffer.from(text)[0] ?? 0),
  fn("left", ["string", "integer"], string, (text, count) => (count === 0 ? "" : substringUTF8(text, 1, count))),
  fn("right", ["string", "integer"], string, right),
  fn("substring", ["string", "integer", "integer"], string, substring),
  fn("substringUTF8", ["string", "integer", "integer"], string, substringUTF8),
  concat,
  fn("concatWithSeparator", ["string", "string", "string*"], string, (by, ...texts) => texts.join(by)),
  fn("repeat", ["string", "integer"], string, repeat),
  ...["leftPad", "leftPadUTF8", "lpad"].map((name) => pad(name, true)),
  ...["rightPad", "rightPadUTF8", "rpad"].map((name) => pad(name, false)),
  fn("startsWith", ["string", "string"], flag, (text, part) => Number(text.startsWith(part))),
  fn("endsWith", ["string", "string"], flag, (text, part) => Number(text.endsWith(part))),
  fn("position", ["string", "string", "integer?"], length, position),
  fn("locate", ["string", "string"], length, (part, text) => position(text, part)),
  fn("positionCaseInsensitive", ["string", "string"], length, (a, b) => position(lowerAscii(a), lowerAscii(b))),
  fn("positionUTF8", ["string", "string"], length, positionUTF8),
  fn("countSubstrings", ["string", "string"], length, (text, part) => (part === "" ? 0 : text.split(part).length - 1)),
  search("match", flag, (text, regex) => Number(regex.isMatch(text))),
  search("extract", string, (text, regex) => regex.first(text)),
  search("extractAll", strings, (text, regex) => regex.all(text)),
  search("countMatches", length, (text, regex) => regex.count(text)),
  ...["replace", "replaceAll"].map((name) => fn(name, ["string", "string", "string"], string, replaceAll)),
  fn("replaceOne", ["string", "string", "string"], string, replaceOne),
  replaceRegex("replaceRegexpAll", true),
  replaceRegex("replaceRegexpOne", false),
  ...["trim", "btrim"].map((name) => trim(name, true, true)),
  ...["trimLeft", "ltrim"].map((name) => trim(name, true, false)),
  ...["trimRight", "rtrim"].map((name) => trim(name, false, true)),
  fn("splitByChar", ["string", "string"], strings, splitByChar),
  fn("splitByString", ["string", "string"], strings, (by, text) => (by === "" ? [...text] : text.split(by))),
  fn("extractURLParameter", ["string", "string"], string, parameterOf),
];
