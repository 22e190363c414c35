import type { Json } from "../../base/json.ts";
import { longestPattern } from "./expression.ts";
import { type KnownMatcher, readMatcher } from "./matchers.ts";
import { keyFor, operators } from "./operators.ts";
import { shapeOf } from "./pattern.ts";
import type { Pattern } from "./types.ts";
import { isJson, momentOf } from "./values.ts";

/** A pattern that can be sent. */
export interface WirePattern {
  /** Fits every value that the pattern fits. */
  wire: Json;
  /** Does it fit no other value? If not, what it lets through must be judged by the pattern itself. */
  exact: boolean;
}

const exactly = (wire: Json): WirePattern => ({ wire, exact: true });
/** Fits everything, absent values too. */
const whatever: WirePattern = { wire: { "@all": [] }, exact: false };
/** Fits everything that is there. */
const present: WirePattern = { wire: { "@exists": true }, exact: false };
const never: WirePattern = exactly({ "@in": [] });

/** Each nested level takes up to three on the wire, which has a limit. */
const deepest = 30;

/** What is there and does not fit. The negation of what fits too much would fit too little. */
const opposite = ({ wire, exact }: WirePattern): WirePattern =>
  exact ? exactly({ "@exists": true, "@not": wire }) : present;

function each(patterns: readonly Pattern[], depth: number): { wires: Json[]; exact: boolean } {
  const all = Array.from(patterns, (pattern) => convert(pattern, depth + 1));
  return { wires: all.map(({ wire }) => wire), exact: all.every(({ exact }) => exact) };
}

function object(entries: readonly (readonly [string, WirePattern])[]): WirePattern {
  return {
    wire: Object.fromEntries(entries.map(([key, { wire }]) => [key, wire])),
    exact: entries.every(([, { exact }]) => exact),
  };
}

function regexWire({ source, flags }: RegExp, depth: number): WirePattern {
  if (depth < 0 || source.length > longestPattern) return present;
  const kept = flags.replace(/[dgy]/g, "");
  const operand: Json = kept === "" ? source : { pattern: source, flags: kept };
  return { wire: { "@regex": operand }, exact: !flags.includes("y") };
}

function momentWire(date: Date): WirePattern {
  return momentOf(date) === undefined ? never : exactly({ "@at": date.toISOString() });
}

const comparisons: ReadonlySet<string> = new Set(["@gt", "@gte", "@lt", "@lte", "@at"]);

/** An operand that holds no patterns, in JSON; undefined when JSON cannot say it. */
function plainOperand(key: string, operand: unknown): Json | undefined {
  const shape = shapeOf(operand);
  if (shape.is === "moment" && comparisons.has(key)) {
    return momentOf(shape.date) === undefined ? null : shape.date.toISOString();
  }
  if (shape.is === "regex" && key === "@regex") {
    return { pattern: shape.regex.source, flags: shape.regex.flags.replace(/[dgy]/g, "") };
  }
  if (isJson(operand)) return operand;
  // What is unknown is sent: the other end says so.
  return operators.has(key) ? undefined : null;
}

/** An operator that is left out fits everything. */
const leftOut: readonly [string, WirePattern] = ["@all", { wire: [], exact: false }];

function operatorWire(key: string, operand: unknown, depth: number): readonly [string, WirePattern] {
  const nested = operators.get(key)?.nested;
  if (nested === "patterns" && Array.isArray(operand)) {
    const { wires, exact } = each(operand, depth);
    return [key, { wire: wires, exact }];
  }
  if (nested === "pattern") {
    const inner = convert(operand, depth + 1);
    // The negation of what fits too much would fit too little.
    return key === "@not" && !inner.exact ? leftOut : [key, inner];
  }
  const plain = plainOperand(key, operand);
  return plain === undefined ? leftOut : [key, exactly(plain)];
}

/** Operators on one value; what is left out may share a key with another, hence the list. */
function operatorsWire(pattern: { readonly [key: string]: Pattern }, depth: number): WirePattern {
  const entries = Object.entries(pattern).map(([key, operand]) => operatorWire(key, operand, depth));
  const isUnique = new Set(entries.map(([key]) => key)).size === entries.length;
  if (isUnique) return object(entries);
  return { wire: { "@all": entries.map(([key, { wire }]): Json => ({ [key]: wire })) }, exact: false };
}

/** Zeros are not all equal to the runners' matchers, but JSON has two. */
const hasZero = (value: Json): boolean =>
  value === 0 ||
  (typeof value === "object" && value !== null && Object.values(value).some((it) => hasZero(it)));

/** What vitest and jest call equal: nothing is a subset, no key an operator. */
function equalWire(sample: unknown, depth: number): WirePattern {
  if (typeof sample === "object" && sample !== null && shapeOf(sample).is === "asker") {
    return convert(sample, depth + 1);
  }
  if (!isJson(sample)) return present;
  return hasZero(sample) ? present : exactly({ "@eq": sample });
}

/** `objectContaining` also finds inherited properties, and some runners' looks into texts and lists. */
const isOrdinary = (key: string): boolean =>
  !/^\d+$/.test(key) &&
  ![Array.prototype, String.prototype, Number.prototype, Boolean.prototype].some((it) => key in it);

function objectContaining(sample: unknown, depth: number): WirePattern {
  if (typeof sample !== "object" || sample === null || Array.isArray(sample)) return present;
  const keys = Object.keys(sample);
  if (keys.length === 0 || !keys.every(isOrdinary) || Object.getOwnPropertySymbols(sample).length > 0) {
    return present;
  }
  return object(Object.entries(sample).map(([key, it]) => [keyFor(key), equalWire(it, depth)] as const));
}

function arrayContaining(sample: unknown, depth: number): WirePattern {
  if (!Array.isArray(sample)) return present;
  if (sample.length === 0) return exactly({ "@exists": true });
  const items = Array.from(sample, (item) => equalWire(item, depth));
  return {
    wire: { "@type": "array", "@all": items.map(({ wire }): Json => ({ "@contains": wire })) },
    exact: items.every(({ exact }) => exact),
  };
}

function arrayOf(sample: unknown, depth: number): WirePattern {
  const { wire, exact } = equalWire(sample, depth);
  return { wire: { "@each": wire }, exact };
}

const anyWires = new Map<unknown, WirePattern>([
  [String, exactly({ "@type": "string" })],
  [Number, exactly({ "@type": "number" })],
  [Boolean, exactly({ "@type": "boolean" })],
  [Array, exactly({ "@type": "array" })],
  // `typeof null` is "object", and both runners say so.
  [Object, exactly({ "@type": ["object", "array", "null"] })],
  [Function, never],
  [BigInt, never],
  [Symbol, never],
]);

const containing = (sample: unknown): WirePattern =>
  typeof sample === "string" ? exactly({ "@type": "string", "@contains": sample }) : present;

const matching = (sample: unknown, depth: number): WirePattern => {
  const shape = shapeOf(sample);
  if (shape.is !== "regex") return present;
  const { wire } = regexWire(shape.regex, depth);
  // A matcher with `g` remembers where it was: it is not the same twice.
  return { wire, exact: !/[gy]/.test(shape.regex.flags) && shape.regex.source.length <= longestPattern };
};

function closeTo({ sample, precision }: KnownMatcher): WirePattern {
  if (typeof sample !== "number" || typeof precision !== "number") return present;
  if (!Number.isFinite(sample)) return never;
  return Number.isFinite(precision)
    ? exactly({ "@closeTo": { value: sample, digits: precision } })
    : { wire: { "@type": "number" }, exact: false };
}

function notCloseTo(matcher: KnownMatcher): WirePattern {
  const { wire, exact } = closeTo(matcher);
  return exact ? exactly({ "@type": "number", "@not": wire }) : { wire: { "@type": "number" }, exact: false };
}

type Convert = (matcher: KnownMatcher, depth: number) => WirePattern;

/** The matchers of vitest 4 and jest 30, by the names they print. */
const matchers: ReadonlyMap<string, Convert> = new Map<string, Convert>([
  ["Any", ({ sample }) => anyWires.get(sample) ?? present],
  ["Anything", () => exactly({ "@exists": true, "@ne": null })],
  ["StringContaining", ({ sample }) => containing(sample)],
  ["StringNotContaining", ({ sample }) => opposite(containing(sample))],
  ["StringMatching", ({ sample }, depth) => matching(sample, depth)],
  ["StringNotMatching", ({ sample }, depth) => opposite(matching(sample, depth))],
  ["ObjectContaining", ({ sample }, depth) => objectContaining(sample, depth)],
  // Of a list, vitest says that it does not contain it, jest says that it is no object.
  ["ObjectNotContaining", ({ sample }, d) => ({ ...opposite(objectContaining(sample, d)), exact: false })],
  ["ArrayContaining", ({ sample }, depth) => arrayContaining(sample, depth)],
  ["ArrayNotContaining", ({ sample }, depth) => opposite(arrayContaining(sample, depth))],
  ["ArrayOf", ({ sample }, depth) => arrayOf(sample, depth)],
  ["NotArrayOf", ({ sample }, depth) => opposite(arrayOf(sample, depth))],
  ["NumberCloseTo", closeTo],
  ["NumberNotCloseTo", notCloseTo],
]);

function matcherWire(pattern: unknown, depth: number): WirePattern {
  const known = typeof pattern === "object" && pattern !== null ? readMatcher(pattern) : undefined;
  return (known && matchers.get(known.name)?.(known, depth)) ?? present;
}

function convert(pattern: Pattern, depth: number): WirePattern {
  if (depth > deepest) return whatever;
  const shape = shapeOf(pattern);
  switch (shape.is) {
    case "object":
      return object(Object.entries(shape.object).map(([key, it]) => [key, convert(it, depth + 1)] as const));
    case "operators":
      return operatorsWire(shape.object, depth);
    case "list": {
      const { wires, exact } = each(shape.items, depth);
      return { wire: wires, exact };
    }
    case "asker":
      return matcherWire(pattern, depth);
    case "regex":
      return regexWire(shape.regex, depth);
    case "moment":
      return momentWire(shape.date);
    case "stand-in":
      return convert(shape.pattern, depth + 1);
    case "absent":
      return exactly({ "@exists": false });
    case "never":
      return never;
    case "literal":
      return isJson(shape.value) ? exactly(shape.value) : never;
  }
}

/**
 * What of a pattern can be said over HTTP. Regular expressions, dates and the matchers of vitest and jest
 * become operators; what cannot be said (predicates, other matchers) becomes something that fits more, and
 * `exact` is false. Mistakes (an unknown operator) are sent as they are, for the other end to complain.
 */
export const toWire = (pattern: Pattern): WirePattern => convert(pattern, 0);
