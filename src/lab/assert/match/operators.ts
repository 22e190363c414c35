import { isObject, type Json } from "../../../kernel/base/json.ts";
import { containsText } from "../../../kernel/base/wildcard.ts";
import { expressionOf } from "./regex-operand.ts";
import { isSame, kinds, momentOf } from "./values.ts";

type Fits = (pattern: unknown, value: Json | undefined) => boolean;

/** The patterns in an operand: one, a list of them, or none. */
type Nested = "pattern" | "patterns" | null;

export interface Operator<Inside extends Nested = Nested> {
  /** In words, before the operand. */
  meaning: string;
  nested: Inside;
  /** The mistake in the operand, in words; null for none. */
  wrong(operand: unknown): string | null;
  /** Called with a valid operand only. An absent value is undefined. */
  holds(value: Json | undefined, operand: unknown, fits: Fits): boolean;
}

const expects =
  (words: string, is: (operand: unknown) => boolean) =>
  (operand: unknown): string | null =>
    is(operand) ? null : `expects ${words}`;

const anything = () => null;
const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const list = (operand: unknown): readonly unknown[] => (Array.isArray(operand) ? operand : []);

const literal = (meaning: string, holds: Operator["holds"]): Operator<null> => ({
  meaning,
  nested: null,
  wrong: anything,
  holds,
});

const listed = (meaning: string, isWanted: boolean): Operator<null> => ({
  meaning,
  nested: null,
  wrong: expects("a list of values", Array.isArray),
  holds: (value, operand) => list(operand).some((item) => isSame(value, item)) === isWanted,
});

/** Of two numbers, or two times; other values have no order. */
function difference(value: Json | undefined, operand: unknown): number {
  if (typeof value === "number") return isNumber(operand) ? value - operand : Number.NaN;
  return (momentOf(value) ?? Number.NaN) - (momentOf(operand) ?? Number.NaN);
}

const comparison = (meaning: string, isRight: (difference: number) => boolean): Operator<null> => ({
  meaning,
  nested: null,
  wrong: expects("a number or an ISO 8601 time", (it) => isNumber(it) || momentOf(it) !== undefined),
  holds: (value, operand) => isRight(difference(value, operand)),
});

const affix = (meaning: string, holds: (text: string, part: string) => boolean): Operator<null> => ({
  meaning,
  nested: null,
  wrong: expects("a string", isText),
  holds: (value, operand) => isText(value) && isText(operand) && holds(value, operand),
});

const many = (meaning: string, holds: Operator["holds"]): Operator<"patterns"> => ({
  meaning,
  nested: "patterns",
  wrong: expects("a list of patterns", Array.isArray),
  holds,
});

const one = (meaning: string, holds: Operator["holds"]): Operator<"pattern"> => ({
  meaning,
  nested: "pattern",
  wrong: anything,
  holds,
});

const kindNames = Object.keys(kinds);
const namesOf = (operand: unknown): readonly unknown[] => (Array.isArray(operand) ? operand : [operand]);
const isKind = (name: unknown): name is string => isText(name) && Object.hasOwn(kinds, name);

/** `0.3`, `{ value, digits }` as jest's and vitest's `closeTo`, or `{ value, within }`. */
function nearness(operand: unknown): { value: number; isNear: (off: number) => boolean } | undefined {
  if (isNumber(operand)) return nearness({ value: operand });
  if (!isObject(operand)) return undefined;
  const { value, digits = 2, within, ...others } = operand;
  if (!isNumber(value) || Object.keys(others).length > 0) return undefined;
  if (within !== undefined) {
    return isNumber(within) && operand.digits === undefined ? { value, isNear: (off) => off <= within } : undefined;
  }
  return isNumber(digits) ? { value, isNear: (off) => off < 10 ** -digits / 2 } : undefined;
}

function searches(value: Json | undefined, operand: unknown): boolean {
  const expression = expressionOf(operand);
  return isText(value) && typeof expression !== "string" && expression.test(value);
}

function contains(value: Json | undefined, operand: unknown, fits: Fits): boolean {
  if (isText(value)) return isText(operand) && containsText(value, operand);
  return Array.isArray(value) && value.some((item) => fits(operand, item));
}

const hasLength = (value: Json | undefined): value is string | Json[] => isText(value) || Array.isArray(value);

/** All operators by name. For an absent value `@exists: false` holds, and so do negations (`@ne`, `@nin`, `@not`). */
const table = {
  "@eq": literal("is equal to, objects with all their keys", (value, operand) => isSame(value, operand)),
  "@ne": literal("is not equal to", (value, operand) => !isSame(value, operand)),
  "@gt": comparison("is more, or later, than", (it) => it > 0),
  "@gte": comparison("is at least, or not before", (it) => it >= 0),
  "@lt": comparison("is less, or earlier, than", (it) => it < 0),
  "@lte": comparison("is at most, or not after", (it) => it <= 0),
  "@at": {
    meaning: "is an ISO 8601 time equal to",
    nested: null,
    wrong: expects("an ISO 8601 time", (it) => momentOf(it) !== undefined),
    holds: (value, operand) => difference(value, operand) === 0,
  },
  "@in": listed("is one of", true),
  "@nin": listed("is none of", false),
  "@exists": {
    meaning: "exists (true), or does not exist (false)",
    nested: null,
    wrong: expects("true or false", (it) => typeof it === "boolean"),
    holds: (value, operand) => (value !== undefined) === operand,
  },
  "@type": {
    meaning: "is of the type, or of one of the types",
    nested: null,
    wrong: expects(
      `one of ${kindNames.join(", ")}, or a list of them`,
      (it) => namesOf(it).length > 0 && namesOf(it).every(isKind),
    ),
    holds: (value, operand) => namesOf(operand).some((name) => isKind(name) && kinds[name]?.(value)),
  },
  "@regex": {
    meaning: "is a string in which the pattern is found",
    nested: null,
    wrong: (operand) => {
      const expression = expressionOf(operand);
      return typeof expression === "string" ? expression : null;
    },
    holds: searches,
  },
  "@contains": one("is a string with this in it, or a list with an item that fits", contains),
  "@startsWith": affix("is a string that starts with", (text, part) => text.startsWith(part)),
  "@endsWith": affix("is a string that ends with", (text, part) => text.endsWith(part)),
  "@len": one(
    "is a string or a list with a length that fits",
    (value, operand, fits) => hasLength(value) && fits(operand, value.length),
  ),
  "@not": one("does not fit", (value, operand, fits) => !fits(operand, value)),
  "@any": many("fits at least one of", (value, operand, fits) => list(operand).some((pattern) => fits(pattern, value))),
  "@all": many("fits all of", (value, operand, fits) => list(operand).every((pattern) => fits(pattern, value))),
  "@each": one(
    "is a list in which every item fits",
    (value, operand, fits) => Array.isArray(value) && value.every((item) => fits(operand, item)),
  ),
  "@closeTo": {
    meaning: "is a number near to",
    nested: null,
    wrong: expects('a number, {"value", "digits"} or {"value", "within"}', (it) => nearness(it) !== undefined),
    holds: (value, operand) => {
      const near = nearness(operand);
      return typeof value === "number" && near !== undefined && near.isNear(Math.abs(value - near.value));
    },
  },
} satisfies Record<string, Operator>;

export const operators: ReadonlyMap<string, Operator> = new Map(Object.entries(table));

/** True if the key is an operator's; `@@x` is the property `@x`. */
export const isOperatorKey = (key: string): boolean => key.charCodeAt(0) === 64 && key.charCodeAt(1) !== 64;

export const propertyOf = (key: string): string => (key.charCodeAt(0) === 64 ? key.slice(1) : key);

export const keyFor = (property: string): string => (property.startsWith("@") ? `@${property}` : property);

/** The compiler's error shows this text and the operator's name. */
interface UnknownOperator<Name> {
  "unknown operator; for a property of this name write one more @": Name;
}

type KeyOf<Key, P> = Key extends `@@${string}`
  ? KnownOperators<P>
  : Key extends keyof typeof table
    ? (typeof table)[Key]["nested"] extends null
      ? unknown
      : KnownOperators<P>
    : Key extends `@${string}`
      ? UnknownOperator<Key>
      : KnownOperators<P>;

type NotWalked = RegExp | Date | ((...args: never[]) => unknown) | { asymmetricMatch: unknown };

/** `P`, unless it has an operator that does not exist. */
type KnownOperators<P> = P extends NotWalked ? P : P extends object ? { [Key in keyof P]: KeyOf<Key, P[Key]> } : P;

/** A parameter of this type infers the pattern's type `P`, and rejects operators that do not exist. */
export type CheckedPattern<P> = P & KnownOperators<P>;
