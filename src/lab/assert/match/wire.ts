import type { Json } from "../../../kernel/base/json.ts";
import { keyFor, operators } from "./operators.ts";
import { shapeOf } from "./pattern.ts";
import { type KnownMatcher, readMatcher } from "./predicates.ts";
import { longestPattern } from "./regex-operand.ts";
import type { Pattern } from "./types.ts";
import { isJson, momentOf } from "./values.ts";

export interface WirePattern {
  /** Fits every value that the pattern fits. */
  wire: Json;
  /** True if it fits no other value; else its results must be tested with the pattern itself. */
  exact: boolean;
}

const exactly = (wire: Json): WirePattern => ({ wire, exact: true });
/** Fits everything, absent values too. */
const anyValue: WirePattern = { wire: { "@all": [] }, exact: false };
const present: WirePattern = { wire: { "@exists": true }, exact: false };
const never: WirePattern = exactly({ "@in": [] });

/** Each level becomes up to three in JSON, whose depth is limited. */
const deepest = 30;

/** Fits present values that do not fit. The negation of a wider pattern would fit too little. */
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

/** An operand without patterns, as JSON; undefined if JSON has no form for it. */
function plainOperand(key: string, operand: unknown): Json | undefined {
  const shape = shapeOf(operand);
  if (shape.is === "moment" && comparisons.has(key)) {
    return momentOf(shape.date) === undefined ? null : shape.date.toISOString();
  }
  if (shape.is === "regex" && key === "@regex") {
    return { pattern: shape.regex.source, flags: shape.regex.flags.replace(/[dgy]/g, "") };
  }
  if (isJson(operand)) return operand;
  // the sim reports unknown operators
  return operators.has(key) ? undefined : null;
}

const leftOut: readonly [string, WirePattern] = ["@all", { wire: [], exact: false }];

function operatorWire(key: string, operand: unknown, depth: number): readonly [string, WirePattern] {
  const nested = operators.get(key)?.nested;
  if (nested === "patterns" && Array.isArray(operand)) {
    const { wires, exact } = each(operand, depth);
    return [key, { wire: wires, exact }];
  }
  if (nested === "pattern") {
    const inner = convert(operand, depth + 1);
    // the negation of a wider pattern would fit too little
    return key === "@not" && !inner.exact ? leftOut : [key, inner];
  }
  const plain = plainOperand(key, operand);
  return plain === undefined ? leftOut : [key, exactly(plain)];
}

/** Operators on one value; omitted ones can have the same key as another, which then needs a list. */
function operatorsWire(pattern: { readonly [key: string]: Pattern }, depth: number): WirePattern {
  const entries = Object.entries(pattern).map(([key, operand]) => operatorWire(key, operand, depth));
  const isUnique = new Set(entries.map(([key]) => key)).size === entries.length;
  if (isUnique) return object(entries);
  return { wire: { "@all": entries.map(([key, { wire }]): Json => ({ [key]: wire })) }, exact: false };
}

/** The runners' matchers distinguish 0 and -0. */
const hasZero = (value: Json): boolean =>
  value === 0 || (typeof value === "object" && value !== null && Object.values(value).some((it) => hasZero(it)));

/** Equality of vitest and jest: no subsets, and no operators. */
function equalWire(sample: unknown, depth: number): WirePattern {
  if (typeof sample === "object" && sample !== null && shapeOf(sample).is === "predicate") {
    return convert(sample, depth + 1);
  }
  if (!isJson(sample)) return present;
  return hasZero(sample) ? present : exactly({ "@eq": sample });
}

/** `objectContaining` also finds inherited properties; that of some runners reads strings and lists. */
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
  // `typeof null` is "object", also in both runners
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
  // a matcher with `g` keeps its position between calls
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

/** The matchers of vitest 4 and jest 30, by their printed names. */
const matchers: ReadonlyMap<string, Convert> = new Map<string, Convert>([
  ["Any", ({ sample }) => anyWires.get(sample) ?? present],
  ["Anything", () => exactly({ "@exists": true, "@ne": null })],
  ["StringContaining", ({ sample }) => containing(sample)],
  ["StringNotContaining", ({ sample }) => opposite(containing(sample))],
  ["StringMatching", ({ sample }, depth) => matching(sample, depth)],
  ["StringNotMatching", ({ sample }, depth) => opposite(matching(sample, depth))],
  ["ObjectContaining", ({ sample }, depth) => objectContaining(sample, depth)],
  // a list fits in vitest, and does not in jest
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
  if (depth > deepest) return anyValue;
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
    case "predicate":
      return matcherWire(pattern, depth);
    case "regex":
      return regexWire(shape.regex, depth);
    case "moment":
      return momentWire(shape.date);
    case "converted":
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
 * The JSON form of a pattern. Regular expressions, dates and the matchers of vitest and jest become operators;
 * predicates and other matchers become a wider pattern, and `exact` is false. Mistakes such as an unknown operator are
 * sent unchanged: the sim reports them.
 */
export const toWire = (pattern: Pattern): WirePattern => convert(pattern, 0);
