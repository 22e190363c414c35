import { types } from "node:util";
import { isObject, type Json, own, pointerStep } from "../../../kernel/base/json.ts";
import { nearest } from "../../../kernel/base/nearest.ts";
import { isOperatorKey, operators, propertyOf } from "./operators.ts";
import { type Predicate, predicateOf, testWith } from "./predicates.ts";
import { quoted } from "./printable.ts";
import type { Pattern } from "./types.ts";
import { momentOf } from "./values.ts";

export interface PatternProblem {
  /** JSON pointer into the pattern; "" is the pattern itself. */
  pointer: string;
  detail: string;
  hint: string | null;
}

/** The kinds of patterns: each is tested, described and sent in its own way. */
export type PatternShape =
  | { is: "literal"; value: unknown }
  | { is: "absent" }
  | { is: "predicate"; predicate: Predicate }
  | { is: "regex"; regex: RegExp }
  | { is: "moment"; date: Date }
  | { is: "list"; items: readonly Pattern[] }
  | { is: "operators"; object: { readonly [key: string]: Pattern } }
  | { is: "object"; object: { readonly [key: string]: Pattern } }
  /** The result of its `toJSON`, e.g. of a URL. */
  | { is: "converted"; pattern: Pattern }
  /** No JSON value can fit it: a Map, a bigint, a symbol. */
  | { is: "never" };

const isNever = (value: object): boolean =>
  types.isMap(value) || types.isSet(value) || types.isPromise(value) || types.isAnyArrayBuffer(value);

/** Most patterns are plain objects: they skip the tests for instances of classes. */
const isPlain = (pattern: object): boolean => Object.getPrototypeOf(pattern) === Object.prototype;

function instanceShape(pattern: object): PatternShape | undefined {
  if (types.isRegExp(pattern)) return { is: "regex", regex: pattern };
  if (types.isDate(pattern)) return { is: "moment", date: pattern };
  return isNever(pattern) ? { is: "never" } : undefined;
}

function objectShape(pattern: object): PatternShape {
  if (Array.isArray(pattern)) return { is: "list", items: pattern };
  const predicate = predicateOf(pattern);
  if (predicate) return { is: "predicate", predicate };
  const instance = isPlain(pattern) ? undefined : instanceShape(pattern);
  if (instance) return instance;
  if ("toJSON" in pattern && typeof pattern.toJSON === "function") {
    const made: unknown = pattern.toJSON();
    return made === pattern ? { is: "never" } : { is: "converted", pattern: made };
  }
  const object = pattern as { readonly [key: string]: Pattern };
  return { is: Object.keys(object).some(isOperatorKey) ? "operators" : "object", object };
}

export function shapeOf(pattern: Pattern): PatternShape {
  if (pattern === undefined) return { is: "absent" };
  if (typeof pattern === "bigint" || typeof pattern === "symbol") return { is: "never" };
  if (typeof pattern === "function") return { is: "predicate", predicate: predicateOf(pattern) ?? (() => false) };
  if (typeof pattern !== "object" || pattern === null) return { is: "literal", value: pattern };
  return objectShape(pattern);
}

const holdsAll = (object: { readonly [key: string]: Pattern }, value: Json | undefined): boolean =>
  Object.keys(object).every((key) => {
    const operator = operators.get(key);
    const operand = object[key];
    return operator?.wrong(operand) === null && operator.holds(value, operand, fits);
  });

const fitsObject = (object: { readonly [key: string]: Pattern }, value: Json | undefined): boolean =>
  isObject(value) && Object.keys(object).every((key) => fits(object[key], own(value, propertyOf(key))));

/** `search` starts at the beginning and does not change `lastIndex`, whatever the flags are. */
const finds = (regex: RegExp, value: Json | undefined): boolean =>
  typeof value === "string" && value.search(regex) !== -1;

const isMoment = (date: Date, value: Json | undefined): boolean => {
  const moment = momentOf(date);
  return moment !== undefined && momentOf(value) === moment;
};

/**
 * True if the value fits the pattern; `Pattern` in types.ts describes the language. An absent value is undefined; it
 * fits `undefined`, `@exists: false` and negations (`@not`, `@ne`, `@nin`). Nothing fits a pattern with mistakes
 * (`checkPattern`).
 */
export function fits(pattern: Pattern, value: Json | undefined): boolean {
  if (typeof pattern !== "object" || pattern === null) {
    return typeof pattern === "function" ? fitsShape(shapeOf(pattern), value) : pattern === value;
  }
  return fitsShape(objectShape(pattern), value);
}

function fitsShape(shape: PatternShape, value: Json | undefined): boolean {
  switch (shape.is) {
    case "object":
      return fitsObject(shape.object, value);
    case "operators":
      return holdsAll(shape.object, value);
    case "list":
      return (
        Array.isArray(value) &&
        value.length === shape.items.length &&
        shape.items.every((item, i) => fits(item, value[i]))
      );
    case "predicate":
      return testWith(shape.predicate, value).fits;
    case "regex":
      return finds(shape.regex, value);
    case "moment":
      return isMoment(shape.date, value);
    case "converted":
      return fits(shape.pattern, value);
    case "literal":
      return shape.value === value;
    case "absent":
      return value === undefined;
    case "never":
      return false;
  }
}

const deepest = 100;

export const step = (pointer: string, key: string | number): string => pointer + pointerStep(key);

const otherNames: Readonly<Record<string, string>> = {
  "@gt": "greater greaterthan more morethan after above over exceeds",
  "@gte": "min minimum atleast greaterorequal greaterthanorequal from ge",
  "@lt": "less lessthan fewer before below under smaller smallerthan",
  "@lte": "max maximum atmost lessorequal lessthanorequal until le",
  "@eq": "equal equals is exact exactly same",
  "@ne": "neq notequal notequals isnot different",
  "@in": "oneof anyof of enum among",
  "@nin": "notin noneof",
  "@exists": "exist present set defined isset has",
  "@type": "typeof kind a an instanceof",
  "@regex": "match matches matching regexp re pattern like ilike test",
  "@contains": "contain containing include includes including icontains substring",
  "@startsWith": "prefix beginswith starts begins",
  "@endsWith": "suffix ends",
  "@len": "length size count",
  "@not": "no isnt nor",
  "@any": "or some either",
  "@all": "and both",
  "@each": "every items foreach",
  "@closeTo": "near approx approximately about around close nearly",
};

function meantOperator(key: string): string | undefined {
  const word = key.replace(/[^a-z]/gi, "").toLowerCase();
  return (
    Object.keys(otherNames).find((name) => otherNames[name]?.split(" ").includes(word)) ??
    nearest(key, [...operators.keys()])
  );
}

function unknownOperator(key: string, pointer: string): PatternProblem {
  const known = [...operators.keys()].join(", ");
  const near = meantOperator(key);
  return {
    pointer,
    detail: `there is no operator ${quoted(key)}${near === undefined ? "" : `; did you mean ${near}?`}`,
    hint:
      near === undefined
        ? `operators: ${known}; for a property of this name write ${quoted(`@${key}`)}`
        : `for a property of this name write ${quoted(`@${key}`)}`,
  };
}

function operatorProblems(key: string, operand: Pattern, pointer: string, depth: number): PatternProblem[] {
  const operator = operators.get(key);
  if (!operator) return [unknownOperator(key, pointer)];
  const wrong = operator.wrong(operand);
  if (wrong !== null) return [{ pointer, detail: `${key} ${wrong}`, hint: `${key}: ${operator.meaning} …` }];
  return operator.nested === null ? [] : problems(operand, pointer, depth + 1);
}

function mixedKeys(object: object, pointer: string): PatternProblem[] {
  const plain = Object.keys(object).find((key) => !isOperatorKey(key));
  if (plain === undefined) return [];
  const operator = Object.keys(object).find(isOperatorKey) ?? "@…";
  return [
    {
      pointer,
      detail: `operators and properties in one object: ${quoted(operator)} beside ${quoted(plain)}`,
      hint: `join them with {"@all": [{…operators}, {…properties}]}; for a property of this name write ${quoted(`@${operator}`)}`,
    },
  ];
}

/** As in the queries of MongoDB. */
const isForeignOperator = (key: string): boolean => key.startsWith("$") && operators.has(key.replace("$", "@"));

function problems(pattern: Pattern, pointer: string, depth: number): PatternProblem[] {
  if (depth > deepest) {
    return [{ pointer, detail: `the pattern is nested deeper than ${deepest} levels`, hint: null }];
  }
  const shape = shapeOf(pattern);
  if (shape.is === "list") return shape.items.flatMap((item, i) => problems(item, step(pointer, i), depth + 1));
  if (shape.is === "object") {
    const foreign = Object.keys(shape.object).find(isForeignOperator);
    if (depth > 0 && foreign !== undefined) {
      const hint = `write ${quoted(foreign.replace("$", "@"))}`;
      return [{ pointer: step(pointer, foreign), detail: `operators begin with @, not ${quoted(foreign)}`, hint }];
    }
    return Object.entries(shape.object).flatMap(([key, it]) => problems(it, step(pointer, key), depth + 1));
  }
  if (shape.is !== "operators") return [];
  const mixed = mixedKeys(shape.object, pointer);
  if (mixed.length > 0) return mixed;
  return Object.entries(shape.object).flatMap(([key, operand]) =>
    operatorProblems(key, operand, step(pointer, key), depth),
  );
}

/**
 * The mistakes in a pattern, from HTTP or in process: unknown operators, wrong operands, operators and properties in
 * one object, too many levels.
 */
export const checkPattern = (pattern: Pattern): PatternProblem[] => problems(pattern, "", 0);
