import { own } from "../../../kernel/base/json.ts";
import type { Located } from "./ast.ts";
import { readBool, readFloat, readUuid } from "./functions/conversions.ts";
import type { Patterns } from "./functions/patterns.ts";
import type { FunctionContext } from "./functions/row.ts";
import { Refusal } from "./refusal.ts";
import type { Build, HogQLTerm } from "./term.ts";
import { lengths, readDay, readPlainTime } from "./time.ts";
import { type HogQLValue, isMoment, isNumber, nothing, type Type, typeName, zoneNameOf } from "./types.ts";
import { compareValues, keyOf } from "./values.ts";

type Convert = (value: HogQLValue) => HogQLValue;
const same: Convert = (value) => value;

/** How a literal text is read for a comparison with a type. @throws Refusal */
function readAs(type: Type, text: string, context: FunctionContext): HogQLValue {
  const read = (): HogQLValue | undefined => {
    if (type.kind === "Bool") return readBool(text);
    if (isNumber(type.kind)) return readFloat(text);
    if (type.kind === "Date") return readDay(text);
    if (type.kind === "UUID") return readUuid(text);
    return isMoment(type) ? readPlainTime(text, context.zones(zoneNameOf(type))) : undefined;
  };
  const value = read();
  if (value === undefined) throw new Refusal(`Cannot convert string ${JSON.stringify(text)} to type ${typeName(type)}`);
  return value;
}

const noCommonType = (a: Type, b: Type): Refusal =>
  new Refusal(`There is no supertype for types ${typeName(a)}, ${typeName(b)}`);

const isEither = (a: Type, b: Type, test: (type: Type) => boolean): boolean => test(a) && test(b);

/** True for types whose values compare as they are. */
const areAlike = (a: Type, b: Type): boolean =>
  isEither(a, b, ({ kind }) => isNumber(kind)) ||
  isEither(a, b, isMoment) ||
  a.kind === "Nothing" ||
  b.kind === "Nothing";

/** Makes values of two types comparable: literal texts are read as the other type, dates become times. @throws Refusal if they are not */
function converters(left: HogQLTerm, right: HogQLTerm, context: FunctionContext): [Convert, Convert] {
  const [a, b] = [left.type, right.type];
  if (areAlike(a, b)) return [same, same];
  const midnight = (of: Type): Convert => {
    const zone = context.zones(zoneNameOf(of));
    return (value) => (value === null ? null : zone.instant(Number(value) * lengths.day));
  };
  if (a.kind === "Date" && isMoment(b)) return [midnight(b), same];
  if (b.kind === "Date" && isMoment(a)) return [same, midnight(a)];
  if (a.kind === b.kind && a.kind !== "Array" && a.kind !== "Tuple" && a.kind !== "Interval") return [same, same];
  const literal = (term: HogQLTerm, other: Type): Convert | undefined => {
    if (term.op !== "constant" || typeof term.value !== "string" || term.type.kind !== "String") return undefined;
    const value = readAs(other, term.value, context);
    return () => value;
  };
  const [fromLeft, fromRight] = [literal(left, b), literal(right, a)];
  if (fromLeft || fromRight) return [fromLeft ?? same, fromRight ?? same];
  if (a.kind === "Tuple" || b.kind === "Tuple" || typeName(a) !== typeName(b)) throw noCommonType(a, b);
  return [same, same];
}

type Test = (a: HogQLValue, b: HogQLValue) => boolean;

const order =
  (passes: (order: number) => boolean): Test =>
  (a, b) =>
    !Number.isNaN(a) && !Number.isNaN(b) && passes(compareValues(a, b));
const equal: Test = (a, b) => !Number.isNaN(a) && compareValues(a, b) === 0;

/** Operators of two values of one type. */
const operators: Readonly<Record<string, Test>> = {
  "==": equal,
  "!=": (a, b) => !equal(a, b),
  "<": order((it) => it < 0),
  "<=": order((it) => it <= 0),
  ">": order((it) => it > 0),
  ">=": order((it) => it >= 0),
};

/** Operators of texts and patterns; each has an opposite: `not like`, `!~`. */
const textOperators: Readonly<Record<string, (patterns: Patterns, pattern: string) => (text: string) => boolean>> = {
  like: (patterns, pattern) => patterns.like(pattern, false),
  ilike: (patterns, pattern) => patterns.like(pattern, true),
  "=~": (patterns, pattern) => patterns.regex(pattern).isMatch,
  "=~*": (patterns, pattern) => patterns.regex(`(?i)${pattern}`).isMatch,
};

export const comparisonFunctions: Readonly<Record<string, string>> = {
  ...{ equals: "==", notEquals: "!=", less: "<", greater: ">", lessOrEquals: "<=", greaterOrEquals: ">=" },
  ...{ like: "like", notLike: "not like", ilike: "ilike", notILike: "not ilike", in: "in", notIn: "not in" },
};

export const arithmeticFunctions = {
  "+": "plus",
  "-": "minus",
  "*": "multiply",
  "/": "divide",
  "%": "modulo",
} as const;

/**
 * The code of a comparison, which is never NULL. Upstream posthog/hogql/transforms/clickhouse_null_semantics.py.
 * @throws Refusal if the types do not fit
 */
export function comparison(op: string, left: HogQLTerm, right: HogQLTerm, context: FunctionContext): Build {
  const positive = op.replace(/^not /, "").replace("!~", "=~");
  const text = own(textOperators, positive);
  if (!text) {
    const test = own(operators, op);
    if (!test) throw new Refusal(`The operator ${op.toUpperCase()} is not emulated`);
    return compared(test, op === "!=", op === "==", converters(left, right, context));
  }
  for (const { type } of [left, right])
    if (type.kind !== "String" && type.kind !== "Nothing")
      throw new Refusal(`Illegal type ${typeName(type)} of argument of function ${op}`);
  const isNegated = positive !== op;
  const test: Test = (a, b) => text(context.patterns, String(b))(String(a)) !== isNegated;
  return compared(test, isNegated, !isNegated, [same, same]);
}

/** `oneNull`, `bothNull`: the result where one side is NULL, and where both are. */
const compared =
  (test: Test, oneNull: boolean, bothNull: boolean, [fromLeft, fromRight]: [Convert, Convert]): Build =>
  ([left, right]) =>
  (row) => {
    const a = fromLeft(left?.(row) ?? null);
    const b = fromRight(right?.(row) ?? null);
    return Number(a === null ? (b === null ? bothNull : oneNull) : b === null ? oneNull : test(a, b));
  };

/** Keys of a set for `IN`, in the form of the left side. NULL is a member like others. @throws Refusal */
export function setKeys(left: HogQLTerm, items: readonly HogQLTerm[], context: FunctionContext): Set<unknown> {
  return new Set(
    items.map((item) => {
      if (item.op !== "constant") throw new Refusal("The right side of IN must be literals, or a query", item.at);
      return keyOf(memberValue(left.type, item, context));
    }),
  );
}

function memberValue(left: Type, item: HogQLTerm & { op: "constant" }, context: FunctionContext): HogQLValue {
  const { type, value } = item;
  if (left.kind === "Tuple" && type.kind === "Tuple" && typeof value === "object" && value !== null) {
    if (left.items.length !== type.items.length) throw new Refusal("The tuples of IN have different sizes", item.at);
    return value.map((part, i) =>
      memberValue(left.items[i] ?? left, { ...item, value: part, type: type.items[i] ?? type }, context),
    );
  }
  if (value === null || left.kind === "Nothing") return value;
  if (left.kind === "String" && type.kind !== "String")
    throw new Refusal(
      `Type mismatch in IN or VALUES section. Expected: ${typeName(left)}. Got: ${typeName(type)}`,
      item.at,
    );
  const subject: HogQLTerm = { ...item, op: "column", type: left, column: { type: left, read: () => null } };
  const [ofLeft, ofItem] = converters(subject, item, context);
  if (ofLeft !== same) throw noCommonType(left, type);
  return ofItem(value);
}

/** @throws Refusal if values of the types cannot be equal as they are */
export function checkMembers(left: Type, right: Type, at: Located, clause = "IN"): void {
  if (left.kind === "Tuple" && right.kind === "Tuple" && left.items.length === right.items.length) {
    for (const [i, it] of left.items.entries()) checkMembers(it, right.items[i] ?? nothing, at, clause);
  } else if (!areAlike(left, right) && (left.kind !== right.kind || left.kind === "Tuple"))
    throw new Refusal(`Type mismatch in ${clause}: ${typeName(left)} and ${typeName(right)}`, at);
}
