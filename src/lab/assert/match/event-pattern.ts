import { isObject, type Json } from "../../../kernel/base/json.ts";
import { didYouMean } from "../../../kernel/base/nearest.ts";
import type { StoredEvent } from "../../../state/journal/stored-event.ts";
import { describePattern } from "./describe.ts";
import { countOf } from "./evaluate.ts";
import { checkPattern, fits, type PatternProblem, shapeOf, step } from "./pattern.ts";
import { readMatcher } from "./predicates.ts";
import { quoted } from "./printable.ts";
import type { Pattern, Terms } from "./types.ts";
import { momentOf } from "./values.ts";

type Keys = { readonly [key: string]: Pattern };

interface KeyFacts {
  readonly is: "string" | "number" | "object" | "list";
  readonly orNull?: true;
  /** All values of kept events, if there are few. */
  readonly kept?: readonly Json[];
}

/** Each key of an event; the compiler checks that the list is complete. */
const eventKeys: Readonly<Record<keyof StoredEvent, KeyFacts>> = {
  event: { is: "string" },
  distinct_id: { is: "string" },
  properties: { is: "object" },
  timestamp: { is: "string" },
  uuid: { is: "string", orNull: true },
  seq: { is: "number" },
  outcome: { is: "string", kept: ["kept"] },
  reason: { is: "string", orNull: true, kept: [null] },
  detail: { is: "string", orNull: true },
  warnings: { is: "list" },
  project: { is: "number", orNull: true },
  received_at: { is: "string" },
  person_id: { is: "string", orNull: true },
  person_mode: { is: "string", kept: ["full", "propertyless"] },
  request: { is: "number" },
};
const knownKeys = Object.keys(eventKeys);
const isEventKey = (key: string): key is keyof StoredEvent => Object.hasOwn(eventKeys, key);

function keysIn(pattern: Pattern): Keys | undefined {
  const shape = shapeOf(pattern);
  if (shape.is === "object") return shape.object;
  if (shape.is !== "predicate" || typeof pattern !== "object" || pattern === null) return undefined;
  const known = readMatcher(pattern);
  return known?.name === "ObjectContaining" && isObject(known.sample) ? known.sample : undefined;
}

const kindOf = (value: unknown): string => (Array.isArray(value) ? "list" : typeof value);
const isOfKind = ({ is, orNull }: KeyFacts, value: unknown): boolean =>
  value === null ? orNull === true : kindOf(value) === is;
const listed = (operand: unknown): readonly unknown[] => (Array.isArray(operand) ? operand : []);

/** The operators that decide whether a kind of value can fit. */
const operatorCanFit: Readonly<Record<string, (facts: KeyFacts, operand: unknown) => boolean>> = {
  "@exists": (_, operand) => operand !== false,
  "@eq": isOfKind,
  "@in": (facts, operand) => listed(operand).some((it) => isOfKind(facts, it)),
  "@any": (facts, operand) => listed(operand).some((it) => canFit(facts, it)),
  "@all": (facts, operand) => listed(operand).every((it) => canFit(facts, it)),
};

function canFit(facts: KeyFacts, pattern: Pattern): boolean {
  const shape = shapeOf(pattern);
  switch (shape.is) {
    case "literal":
      return isOfKind(facts, shape.value);
    case "list":
    case "object":
      return facts.is === shape.is;
    case "regex":
    case "moment":
      return facts.is === "string";
    case "operators":
      return Object.entries(shape.object).every(([key, operand]) => operatorCanFit[key]?.(facts, operand) ?? true);
    case "converted":
      return canFit(facts, shape.pattern);
    case "predicate":
      return true;
    case "absent":
    case "never":
      return false;
  }
}

function keyProblems(key: string, pattern: Pattern, pointer: string): PatternProblem[] {
  if (!isEventKey(key)) {
    const near = didYouMean(key, knownKeys);
    const hint = near === "" ? `it has ${knownKeys.join(", ")}; what the app sends is in properties` : null;
    return [{ pointer, detail: `an event has no ${quoted(key)}${near}`, hint }];
  }
  const facts = eventKeys[key];
  if (!canFit(facts, pattern)) {
    const kind = `${facts.is === "object" ? "an" : "a"} ${facts.is}${facts.orNull ? " or null" : ""}`;
    const detail = `${quoted(key)} of an event is ${kind}: ${describePattern(pattern)} never fits`;
    return [{ pointer, detail, hint: `give ${quoted(key)} as ${kind}, or a pattern for it` }];
  }
  const nested = key === "properties" ? keysIn(pattern)?.properties : undefined;
  const inner = nested === undefined ? undefined : keysIn(nested);
  if (!inner) return [];
  const detail = `properties are given flat: ${describePattern(inner)}, not ${describePattern({ properties: inner })}`;
  const hint = 'for a property with the name "properties" write {"properties": {"@all": [{…}]}}';
  return [{ pointer: step(pointer, "properties"), detail, hint }];
}

/** Operators whose operands are patterns of the same event. */
const joining: ReadonlySet<string> = new Set(["@not", "@any", "@all"]);

function eventProblems(pattern: Pattern, pointer: string): PatternProblem[] {
  const shape = shapeOf(pattern);
  if (shape.is === "list") return shape.items.flatMap((it, i) => eventProblems(it, step(pointer, i)));
  if (shape.is === "operators") {
    const joined = Object.entries(shape.object).filter(([key]) => joining.has(key));
    return joined.flatMap(([key, operand]) => eventProblems(operand, step(pointer, key)));
  }
  return Object.entries(keysIn(pattern) ?? {}).flatMap(([key, it]) => keyProblems(key, it, step(pointer, key)));
}

/**
 * The mistakes in a pattern of an event: those of `checkPattern`, and keys and values that no event has. Nothing would
 * ever fit them, so that "none came" would always hold.
 */
export function checkEventPattern(pattern: Pattern): PatternProblem[] {
  const problems = checkPattern(pattern);
  return problems.length > 0 ? problems : eventProblems(pattern, "");
}

const isAsync = (pattern: Pattern): boolean =>
  typeof pattern === "function" && Object.prototype.toString.call(pattern) === "[object AsyncFunction]";

/** Matchers of vitest and jest that no JSON value fits. */
const neverAny: readonly unknown[] = [Function, BigInt, Symbol, Date, RegExp, Map, Set, Promise];

/** Why no value fits a part of a pattern; undefined if one can. */
function neverFits(pattern: Pattern): string | undefined {
  const shape = shapeOf(pattern);
  if (shape.is === "never") return "no JSON value fits it";
  if (shape.is === "literal" && typeof shape.value === "number" && !Number.isFinite(shape.value))
    return "JSON has no such number";
  if (shape.is === "moment" && momentOf(shape.date) === undefined) return "no time fits it";
  if (isAsync(pattern)) return "an async function answers with a promise: use one that returns true or false";
  if (shape.is === "predicate" && typeof pattern === "object" && pattern !== null) {
    const known = readMatcher(pattern);
    if (known?.name === "Any" && neverAny.includes(known.sample)) return "no JSON value fits it";
  }
  if (shape.is !== "operators") return undefined;
  const empty = ["@in", "@any"].find((key) => {
    const operand = shape.object[key];
    return Array.isArray(operand) && operand.length === 0;
  });
  return empty && `${empty} of an empty list fits nothing`;
}

function* partsOf(pattern: Pattern, pointer: string): Generator<[Pattern, string]> {
  yield [pattern, pointer];
  const shape = shapeOf(pattern);
  if (shape.is === "list") for (const [i, it] of shape.items.entries()) yield* partsOf(it, step(pointer, i));
  if (shape.is !== "object" && shape.is !== "operators") return;
  for (const [key, it] of Object.entries(shape.object)) {
    const inner = shape.is === "operators" && Array.isArray(it) ? it : [it];
    for (const one of inner) yield* partsOf(one, step(pointer, key));
  }
}

const fixOf: Readonly<Record<string, string>> = {
  outcome: "events.dropped() lists dropped events, toHaveNoDroppedEvents() asserts that there are none",
  reason: "events.dropped() lists dropped events, toHaveNoDroppedEvents() asserts that there are none",
};

function keptProblems(pattern: Pattern, pointer: string): PatternProblem[] {
  return Object.entries(keysIn(pattern) ?? {}).flatMap(([key, it]): PatternProblem[] => {
    const at = step(pointer, key);
    const isName = key === "event" || key === "distinct_id";
    if (isName && it === "")
      return [{ pointer: at, detail: `no kept event has an empty ${key}`, hint: `give a ${key}` }];
    const { kept } = isEventKey(key) ? eventKeys[key] : {};
    if (kept === undefined || kept.some((value) => fits(it, value))) return [];
    const detail = `assertions are about kept events: ${quoted(key)} is ${kept.map((value) => describePattern(value)).join(" or ")}, and ${describePattern(it)} never fits`;
    return [{ pointer: at, detail, hint: fixOf[key] ?? null }];
  });
}

/** The mistakes in an asserted pattern: no kept event can fit it, whatever the app does. */
export function checkAsserted(pattern: Pattern, outcome: "kept" | "dropped" = "kept"): PatternProblem[] {
  const problems = checkEventPattern(pattern);
  if (problems.length > 0) return problems;
  for (const [part, pointer] of partsOf(pattern, "")) {
    const why = neverFits(part);
    if (why !== undefined) return [{ pointer, detail: `${describePattern(part)} never fits: ${why}`, hint: null }];
  }
  return outcome === "kept" ? keptProblems(pattern, "") : [];
}

/** Names that have nothing in common. */
const unlike = ["a", "Z", "0", "$", "_", "-", "\u00e9", "signed up", "$pageview", "a.b:c/d"];

function fitsAnyText(source: string, flags = ""): boolean {
  try {
    const expression = new RegExp(source, flags.replace(/[gy]/g, ""));
    return unlike.every((it) => expression.test(it));
  } catch {
    return false;
  }
}

const fittingAll: Readonly<Record<string, (operand: unknown) => boolean>> = {
  "@exists": (operand) => operand === true,
  "@all": (operand) => listed(operand).every(isAnyValue),
  "@any": (operand) => listed(operand).some(isAnyValue),
  "@regex": (operand) => typeof operand === "string" && fitsAnyText(operand),
  "@contains": (operand) => operand === "",
  "@startsWith": (operand) => operand === "",
  "@endsWith": (operand) => operand === "",
};

/** True if the pattern fits every value of a key that every event has. */
function isAnyValue(pattern: Pattern): boolean {
  const shape = shapeOf(pattern);
  if (shape.is === "object") return Object.keys(shape.object).length === 0;
  if (shape.is === "regex") return fitsAnyText(shape.regex.source, shape.regex.flags);
  if (shape.is === "operators")
    return Object.entries(shape.object).every(([key, operand]) => fittingAll[key]?.(operand) ?? false);
  const known = typeof pattern === "object" && pattern !== null ? readMatcher(pattern) : undefined;
  return (
    known?.name === "Any" || known?.name === "Anything" || (known?.name === "StringContaining" && known.sample === "")
  );
}

export function fitsEvery(pattern: Pattern): boolean {
  const keys = keysIn(pattern);
  if (!keys) return isAnyValue(pattern);
  return Object.entries(keys).every(([key, it]) => {
    const { kept } = isEventKey(key) ? eventKeys[key] : {};
    return isAnyValue(it) || kept?.every((value) => fits(it, value)) === true;
  });
}

/** The mistakes in terms that would hold, or fail, whatever the app does; the pointer begins at the terms. */
export function checkTerms(terms: Terms): PatternProblem[] {
  return terms.expect.flatMap((expectation, i): PatternProblem[] => {
    const { match } = expectation;
    const pointer = `/expect/${i}/match`;
    const [problem] = checkAsserted(match);
    if (problem) return [{ ...problem, pointer: pointer + problem.pointer }];
    const { min = 0, max } = countOf(expectation);
    if (max === undefined && fitsEvery(match)) {
      const detail = `${describePattern(match)} fits every event`;
      return [{ pointer, detail, hint: "give a name, or a pattern with a key" }];
    }
    if (min === 0 && max === undefined && !terms.nothingElse) {
      const detail = "a count without a minimum and a maximum always holds";
      return [{ pointer: `/expect/${i}/count`, detail, hint: 'give a number, or {"min"} or {"max"}' }];
    }
    if (max !== 0) return [];
    for (const [part, at] of partsOf(match, "")) {
      if (part !== undefined) continue;
      const detail = "undefined in the pattern of events that must not come: it fits only events without the property";
      return [{ pointer: pointer + at, detail, hint: 'write {"@exists": false} if that is meant' }];
    }
    return [];
  });
}
