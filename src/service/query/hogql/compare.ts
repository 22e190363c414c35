import { readBool, readFloat, readUuid } from "./functions/conversions.ts";
import type { FunctionContext } from "./functions/row.ts";
import { Refusal } from "./refusal.ts";
import type { Build, HogQLTerm } from "./term.ts";
import { readDay, readPlainTime } from "./time.ts";
import { type HogQLValue, isMoment, isNumber, type Type, typeName } from "./types.ts";
import { compareValues, keyOf } from "./values.ts";

type Convert = (value: HogQLValue) => HogQLValue;
const same: Convert = (value) => value;

/** How a literal text is read for a comparison with a type. @throws Refusal */
function readAs(type: Type, text: string, context: FunctionContext): HogQLValue {
  const zone = context.zones((isMoment(type) && "zone" in type ? type.zone : undefined) ?? "UTC");
  const read = (): HogQLValue | undefined => {
    if (type.kind === "Bool") return readBool(text);
    if (isNumber(type.kind)) return readFloat(text);
    if (type.kind === "Date") return readDay(text);
    if (type.kind === "UUID") return readUuid(text);
    return isMoment(type) ? readPlainTime(text, zone) : undefined;
  };
  const value = read();
  if (value === undefined) throw new Refusal(`Cannot convert string ${JSON.stringify(text)} to type ${typeName(type)}`);
  return value;
}

const noCommonType = (a: Type, b: Type): Refusal =>
  new Refusal(`There is no supertype for types ${typeName(a)}, ${typeName(b)}`);

/**
 * Makes values of two types comparable: literal texts are read as the other type, dates become times.
 * @throws Refusal if they are not
 */
function converters(left: HogQLTerm, right: HogQLTerm, context: FunctionContext): [Convert, Convert] {
  const [a, b] = [left.type, right.type];
  if (a.kind === "Nothing" || b.kind === "Nothing") return [same, same];
  if (isNumber(a.kind) && isNumber(b.kind)) return [same, same];
  if (isMoment(a) && isMoment(b)) return [same, same];
  const midnight = (of: Type): Convert => {
    const zone = context.zones(("zone" in of ? of.zone : undefined) ?? "UTC");
    return (value) => (value === null ? null : zone.instant(Number(value) * 86_400_000));
  };
  if (a.kind === "Date" && isMoment(b)) return [midnight(b), same];
  if (b.kind === "Date" && isMoment(a)) return [same, midnight(a)];
  if (a.kind === b.kind && a.kind !== "Array" && a.kind !== "Tuple" && a.kind !== "Interval") return [same, same];
  const literal = (term: HogQLTerm, other: Type): Convert | undefined => {
    if (term.op !== "constant" || typeof term.value !== "string") return undefined;
    const value = readAs(other, term.value, context);
    return () => value;
  };
  const fromLeft = a.kind === "String" ? literal(left, b) : undefined;
  const fromRight = b.kind === "String" ? literal(right, a) : undefined;
  if (fromLeft || fromRight) return [fromLeft ?? same, fromRight ?? same];
  if (a.kind === "Tuple" || b.kind === "Tuple" || typeName(a) !== typeName(b)) throw noCommonType(a, b);
  return [same, same];
}

/** An operator: what two values give, and what NULL on one or both sides gives. */
interface Operator {
  readonly test: (a: HogQLValue, b: HogQLValue) => boolean;
  readonly oneNull: 0 | 1;
  readonly bothNull: 0 | 1;
}

const order = (passes: (order: number) => boolean): Operator => ({
  test: (a, b) => !Number.isNaN(a) && !Number.isNaN(b) && passes(compareValues(a, b)),
  oneNull: 0,
  bothNull: 0,
});

/** Comparisons are never NULL. Upstream posthog/hogql/transforms/clickhouse_null_semantics.py. */
const operators: Readonly<Record<string, Operator>> = {
  "==": { test: (a, b) => !Number.isNaN(a) && compareValues(a, b) === 0, oneNull: 0, bothNull: 1 },
  "!=": { test: (a, b) => Number.isNaN(a) || compareValues(a, b) !== 0, oneNull: 1, bothNull: 0 },
  "<": order((it) => it < 0),
  "<=": order((it) => it <= 0),
  ">": order((it) => it > 0),
  ">=": order((it) => it >= 0),
};

/** Operators of texts: [function, negated]. */
const textOperators: Readonly<Record<string, readonly [(context: FunctionContext) => Operator["test"], boolean]>> = {
  like: [
    ({ patterns }) =>
      (a, b) =>
        patterns.like(String(b), false)(String(a)),
    false,
  ],
  "not like": [
    ({ patterns }) =>
      (a, b) =>
        patterns.like(String(b), false)(String(a)),
    true,
  ],
  ilike: [
    ({ patterns }) =>
      (a, b) =>
        patterns.like(String(b), true)(String(a)),
    false,
  ],
  "not ilike": [
    ({ patterns }) =>
      (a, b) =>
        patterns.like(String(b), true)(String(a)),
    true,
  ],
  "=~": [
    ({ patterns }) =>
      (a, b) =>
        patterns.regex(String(b)).isMatch(String(a)),
    false,
  ],
  "!~": [
    ({ patterns }) =>
      (a, b) =>
        patterns.regex(String(b)).isMatch(String(a)),
    true,
  ],
  "=~*": [
    ({ patterns }) =>
      (a, b) =>
        patterns.regex(`(?i)${b}`).isMatch(String(a)),
    false,
  ],
  "!~*": [
    ({ patterns }) =>
      (a, b) =>
        patterns.regex(`(?i)${b}`).isMatch(String(a)),
    true,
  ],
};

/** Names of functions that are comparisons. */
export const comparisonFunctions: Readonly<Record<string, string>> = {
  equals: "==",
  notEquals: "!=",
  less: "<",
  greater: ">",
  lessOrEquals: "<=",
  greaterOrEquals: ">=",
  like: "like",
  notLike: "not like",
  ilike: "ilike",
  notILike: "not ilike",
  in: "in",
  notIn: "not in",
};

/** The code of a comparison. @throws Refusal if the types do not fit */
export function comparison(op: string, left: HogQLTerm, right: HogQLTerm, context: FunctionContext): Build {
  const isText = Object.hasOwn(textOperators, op);
  const [make, isNegated] = (isText ? textOperators[op] : undefined) ?? [];
  if (make) {
    for (const { type } of [left, right])
      if (type.kind !== "String" && type.kind !== "Nothing")
        throw new Refusal(`Illegal type ${typeName(type)} of argument of function ${op}`);
    const test = make(context);
    const negated = isNegated ?? false;
    const operator: Operator = {
      test: (a, b) => test(a, b) !== negated,
      oneNull: negated ? 1 : 0,
      bothNull: negated ? 0 : 1,
    };
    return compared(operator, [same, same]);
  }
  const operator = Object.hasOwn(operators, op) ? operators[op] : undefined;
  if (!operator) throw new Refusal(`The operator ${op.toUpperCase()} is not emulated`);
  return compared(operator, converters(left, right, context));
}

const compared =
  ({ test, oneNull, bothNull }: Operator, [fromLeft, fromRight]: [Convert, Convert]): Build =>
  ([left, right]) =>
  (row) => {
    const a = fromLeft(left?.(row) ?? null);
    const b = fromRight(right?.(row) ?? null);
    if (a === null || b === null) return a === null && b === null ? bothNull : oneNull;
    return Number(test(a, b));
  };

/** Keys of a set for `IN`, in the form of the left side. NULL is a member like others. @throws Refusal */
export function setKeys(left: HogQLTerm, items: readonly HogQLTerm[], context: FunctionContext): Set<unknown> {
  return new Set(
    items.map((item) => {
      if (item.op !== "constant") throw new Refusal("The right side of IN must be literals, or a query", item.at);
      return keyOf(memberValue(left.type, item.type, item, context));
    }),
  );
}

function memberValue(
  left: Type,
  type: Type,
  item: HogQLTerm & { op: "constant" },
  context: FunctionContext,
): HogQLValue {
  if (left.kind === "Tuple" && type.kind === "Tuple" && typeof item.value === "object" && item.value !== null) {
    if (left.items.length !== type.items.length) throw new Refusal("The tuples of IN have different sizes", item.at);
    return item.value.map((value, i) => {
      const [of, from] = [left.items[i] ?? left, type.items[i] ?? type];
      return memberValue(of, from, { ...item, value, type: from }, context);
    });
  }
  if (item.value === null || left.kind === "Nothing") return item.value;
  const isText = left.kind === "String";
  if (isText && type.kind !== "String")
    throw new Refusal(
      `Type mismatch in IN or VALUES section. Expected: ${typeName(left)}. Got: ${typeName(type)}`,
      item.at,
    );
  const subject = { ...item, op: "column" as const, type: left, column: { type: left, read: () => null } };
  const [ofLeft, ofItem] = converters(subject, item, context);
  if (ofLeft !== same) throw noCommonType(left, type);
  return ofItem(item.value);
}
