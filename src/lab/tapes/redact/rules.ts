import { boundedReplace } from "../../../kernel/base/bounded-regexp.ts";
import { isObject } from "../../../kernel/base/json.ts";
import { headerSecrecyOf, kindOfName, plainName, secrecyOf } from "./names.ts";

/** One more kind of secret: exactly one of `pattern`, `field` and `path` says where it is. */
export interface RedactionRule {
  /** What placeholders call it: `{{secret:order_token#1}}`. */
  readonly name: string;
  /** A regular expression: what it matches is secret, wherever it stands. */
  readonly pattern?: string | RegExp;
  /** The name of a header, parameter or field: its value is secret. Case, `-`, `_` and a leading `$` do not matter. */
  readonly field?: string;
  /** A place, with all that is below it: `req.body.customer.pin`, `req.headers.x-shop`, `res.body.items[].code`. */
  readonly path?: string;
}

/** Rules of a project, applied when a tape is written and when requests are compared with it. */
export interface RedactionRules {
  /** What is secret over what the built-in rules find. */
  readonly rules?: readonly RedactionRule[];
  /** Names or paths of fields that are no secrets, whatever the built-in rules say. */
  readonly keep?: readonly string[];
  /** Paths that differ without meaning: not compared on replay and by `verify` (`req.body.request_id`). */
  readonly ignore?: readonly string[];
}

export type TapeRules = Pick<RedactionRules, "rules" | "keep">;

/** What is wrong with rules, and where: `rules[0].pattern`. */
export class RedactionRuleError extends Error {
  readonly path: string;

  constructor(path: string, detail: string) {
    super(detail);
    this.name = "RedactionRuleError";
    this.path = path;
  }
}

const wrong = (path: string, detail: string): never => {
  throw new RedactionRuleError(path, detail);
};

const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 80);

function checkKeys(value: object, known: readonly string[], path: string): void {
  const key = Object.keys(value).find((it) => !known.includes(it));
  if (key !== undefined) wrong(path === "" ? key : `${path}.${key}`, `is not known; there are ${known.join(", ")}`);
}

function readTexts(value: unknown, path: string): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return wrong(path, `must be a list of strings, not ${shown(value)}`);
  return value.map((it, i) =>
    typeof it === "string" && it !== "" ? it : wrong(`${path}[${i}]`, `must be a string, not ${shown(it)}`),
  );
}

/** The source and flags of a pattern: `/a/i` in a config file is written `"/a/i"` or `"a"`. */
function readPattern(value: unknown, path: string): string {
  const [, source, flags = ""] =
    value instanceof RegExp
      ? ["", value.source, value.flags.replace(/[gy]/g, "")]
      : (/^\/(.+)\/([imsu]*)$/s.exec(String(value)) ?? ["", String(value)]);
  if ((typeof value !== "string" && !(value instanceof RegExp)) || value === "")
    return wrong(path, `must be a regular expression, not ${shown(value)}`);
  try {
    const pattern = new RegExp(source ?? "", flags);
    if (pattern.test("")) wrong(path, `must not match the empty string: ${shown(String(value))}`);
  } catch (error) {
    if (error instanceof SyntaxError) wrong(path, `is no regular expression: ${error.message}`);
    throw error;
  }
  return `/${source}/${flags}`;
}

const places = ["pattern", "field", "path"] as const;

function readRule(value: unknown, path: string): RedactionRule {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return wrong(path, `must be an object such as {"name": "pin", "field": "pin"}, not ${shown(value)}`);
  checkKeys(value, ["name", ...places], path);
  const rule: Partial<Record<"name" | (typeof places)[number], unknown>> = value;
  const { name } = rule;
  if (typeof name !== "string" || !/^[a-z][a-z\d_]{0,39}$/.test(name))
    return wrong(`${path}.name`, `must be a name such as order_token, not ${shown(name)}`);
  const [place, another] = places.filter((it) => rule[it] !== undefined);
  if (place === undefined || another !== undefined) return wrong(path, `must have one of ${places.join(", ")}`);
  if (place === "pattern") return { name, pattern: readPattern(rule.pattern, `${path}.pattern`) };
  const text = rule[place];
  if (typeof text !== "string" || plainName(text) === "")
    return wrong(`${path}.${place}`, `must be a string, not ${shown(text)}`);
  if (place === "path" && !/^(?:req|res)\./.test(text))
    return wrong(`${path}.path`, `must begin with req. or res., not ${shown(text)}`);
  return { name, [place]: text };
}

/** Checks rules and brings them into the form that JSON can hold. @throws RedactionRuleError */
export function readRules(value: unknown): Required<RedactionRules> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return wrong("", `must be an object with rules, keep or ignore, not ${shown(value)}`);
  checkKeys(value, ["rules", "keep", "ignore"], "");
  const given: Partial<Record<keyof RedactionRules, unknown>> = value;
  const { rules = [] } = given;
  if (!Array.isArray(rules)) return wrong("rules", `must be a list, not ${shown(rules)}`);
  const ignore = readTexts(given.ignore, "ignore");
  ignore.forEach((it, i) => {
    if (!/^(?:req|res)\./.test(it)) wrong(`ignore[${i}]`, `must begin with req. or res., not ${shown(it)}`);
  });
  return { rules: rules.map((it, i) => readRule(it, `rules[${i}]`)), keep: readTexts(given.keep, "keep"), ignore };
}

/** What of checked rules goes into a tape's header; undefined: nothing. */
export const tapeRules = ({ rules = [], keep = [] }: RedactionRules = {}): TapeRules | undefined =>
  rules.length + keep.length === 0 ? undefined : { rules, keep };

/** The rules that a tape's header carries; undefined: none, or none that can be read. */
export function rulesInHeader(value: unknown): TapeRules | undefined {
  if (!isObject(value)) return undefined;
  try {
    const { rules, keep } = readRules(value);
    return { rules, keep };
  } catch {
    return undefined;
  }
}

export function bothRules(a: TapeRules | undefined, b: TapeRules | undefined): TapeRules | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const once = <T>(all: readonly T[]): T[] => [...new Map(all.map((it) => [JSON.stringify(it), it])).values()];
  return { rules: once([...(a.rules ?? []), ...(b.rules ?? [])]), keep: once([...(a.keep ?? []), ...(b.keep ?? [])]) };
}

/** A path without positions in lists, as rules write it. */
const generic = (path: string): string => path.replace(/\[\d+\]/g, "[]").replace(/\["((?:[^"\\]|\\.)*)"\]/g, ".$1");

const isAt = (path: string, place: string): boolean =>
  path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);

const lastName = (path: string): string => plainName(path.slice(path.lastIndexOf(".") + 1).replace(/(?:\[\])+$/, ""));

const regExpOf = (pattern: string | RegExp): RegExp => {
  const [, source = "", flags = ""] = /^\/(.+)\/([a-z]*)$/s.exec(String(pattern)) ?? ["", String(pattern)];
  return new RegExp(source, `${flags.replace(/[gy]/g, "")}g`);
};

export function createSecretRules({ rules = [], keep = [] }: TapeRules = {}) {
  const named = new Map(
    rules.flatMap(({ name, field }) => (field === undefined ? [] : [[plainName(field), name] as const])),
  );
  const paths = rules.flatMap(({ name, path }) => (path === undefined ? [] : [{ kind: name, path }]));
  const isNamed = (name: string): boolean => named.size > 0 && named.has(plainName(name));
  const keptNames = new Set(keep.filter((it) => !/^(?:req|res)\./.test(it)).map(plainName));
  const keptPaths = keep.filter((it) => /^(?:req|res)\./.test(it));
  return {
    secrecy: (name: string) => (isNamed(name) ? "strong" : secrecyOf(name)),
    headerSecrecy: (name: string) => (isNamed(name) ? "strong" : headerSecrecyOf(name)),
    kind: (name: string) => (named.size > 0 ? named.get(plainName(name)) : undefined) ?? kindOfName(name),
    kindOfPlace(path: string) {
      if (paths.length === 0) return undefined;
      const place = generic(path);
      return paths.find((it) => isAt(place, it.path))?.kind;
    },
    keeps(path: string) {
      if (keep.length === 0) return false;
      const place = generic(path);
      return keptNames.has(lastName(place)) || keptPaths.some((it) => isAt(place, it));
    },
    patterns: rules.flatMap(({ name, pattern }) =>
      pattern === undefined ? [] : [{ kind: name, replace: boundedReplace(regExpOf(pattern)) }],
    ),
  };
}

export type SecretRules = ReturnType<typeof createSecretRules>;
