/** Units of dates and intervals, as functions name them. */
export const units = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"] as const;
export type TimeUnit = (typeof units)[number];

const integers = ["UInt8", "UInt16", "UInt32", "UInt64", "Int8", "Int16", "Int32", "Int64"] as const;
export type IntegerKind = (typeof integers)[number];

/**
 * A type of ClickHouse. `Nothing` is the type of NULL; it fits everywhere. Values: Bool and numbers are numbers,
 * Date is days and DateTime ms since the epoch, intervals are numbers of their unit.
 */
export type Type = { readonly nullable?: boolean } & (
  | { readonly kind: "String"; readonly shown?: string }
  | { readonly kind: "UUID" | "Bool" | "Float64" | "Date" | IntegerKind }
  | { readonly kind: "Nothing"; readonly shown?: string }
  | { readonly kind: "DateTime" | "DateTime64"; readonly zone: string | undefined }
  | { readonly kind: "Interval"; readonly unit: TimeUnit }
  | { readonly kind: "Array"; readonly item: Type }
  | { readonly kind: "Tuple"; readonly items: readonly Type[] }
);

export type Kind = Type["kind"];
export type HogQLValue = null | number | string | readonly HogQLValue[];

export const nothing: Type = { kind: "Nothing", nullable: true };
export const string: Type = { kind: "String" };
export const float: Type = { kind: "Float64" };
export const date: Type = { kind: "Date" };
/** Type of comparisons, and of small numbers. */
export const flag: Type = { kind: "UInt8" };

export const isInteger = (kind: Kind): kind is IntegerKind => integers.some((it) => it === kind);
export const isNumber = (kind: Kind): boolean => kind === "Float64" || kind === "Bool" || isInteger(kind);
/** A time, not a day. */
export const isMoment = (type: Type): type is Type & { readonly kind: "DateTime" | "DateTime64" } =>
  type.kind === "DateTime" || type.kind === "DateTime64";
export const isTime = (kind: Kind): boolean => kind === "Date" || kind === "DateTime" || kind === "DateTime64";
export const zoneNameOf = (type: Type): string => (isMoment(type) ? type.zone : undefined) ?? "UTC";

/** The type, with NULL among its values or not. Arrays and tuples are never NULL. */
export function nullable(type: Type, isNullable = true): Type {
  if (type.kind === "Nothing" || (type.nullable ?? false) === isNullable) return type;
  return type.kind === "Array" || type.kind === "Tuple" ? type : { ...type, nullable: isNullable };
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The name that ClickHouse shows, e.g. `Nullable(Float64)`. */
export function typeName(type: Type): string {
  const name = plainName(type);
  return type.nullable && type.kind !== "Nothing" ? `Nullable(${name})` : name;
}

function plainName(type: Type): string {
  switch (type.kind) {
    case "String":
      return type.shown ?? "String";
    case "Nothing":
      return type.shown ?? "Nullable(Nothing)";
    case "DateTime":
      return type.zone === undefined ? "DateTime" : `DateTime('${type.zone}')`;
    case "DateTime64":
      return type.zone === undefined ? "DateTime64(6)" : `DateTime64(6, '${type.zone}')`;
    case "Interval":
      return `Interval${capital(type.unit)}`;
    case "Array":
      return `Array(${typeName(type.item)})`;
    case "Tuple":
      return `Tuple(${type.items.map(typeName).join(", ")})`;
    default:
      return type.kind;
  }
}

const bitsOf = (kind: IntegerKind): number => Number(kind.replace(/\D/g, ""));
const isSigned = (kind: IntegerKind): boolean => kind.startsWith("Int");

export function integerType(bits: number, signed: boolean): Type {
  const wide = Math.min(64, Math.max(8, bits));
  return { kind: integers.find((it) => bitsOf(it) === wide && isSigned(it) === signed) ?? "Int64" };
}

/** Smallest type of a literal. */
export function typeOfInteger(value: number): Type {
  const bits = [8, 16, 32].find((it) => (value < 0 ? value >= -(2 ** (it - 1)) : value < 2 ** it)) ?? 64;
  return integerType(bits, value < 0);
}

/** Type of `a + b` and the like: one size larger than the larger of two integers. */
export function sumType(a: Type, b: Type, signed = false): Type {
  if (a.kind === "Nothing" || b.kind === "Nothing") return nothing;
  const [left, right] = [a, b].map(({ kind }) => (kind === "Bool" ? "UInt8" : kind)) as [Kind, Kind];
  if (!isInteger(left) || !isInteger(right)) return float;
  const bits = Math.max(bitsOf(left), bitsOf(right)) * 2;
  return integerType(bits, signed || isSigned(left) || isSigned(right));
}

/** Type of the sum of a column. */
export function totalType(type: Type): Type {
  if (type.kind === "Bool") return { kind: "UInt64" };
  return isInteger(type.kind) ? integerType(64, isSigned(type.kind)) : float;
}

/** The type that has the values of all of these; undefined if there is none. Upstream ClickHouse, getLeastSupertype. */
export function commonType(types: readonly Type[]): Type | undefined {
  const isNullable = types.some((it) => it.nullable ?? false);
  const known = types.filter((it) => it.kind !== "Nothing");
  const [first] = known;
  if (!first) return types[0] ?? nothing;
  const plain = known.map((it) => nullable(it, false));
  const common = plainCommon(plain, nullable(first, false));
  return common && nullable(common, isNullable);
}

function plainCommon(types: readonly Type[], first: Type): Type | undefined {
  if (types.every((it) => typeName(it) === typeName(first))) return first;
  const kinds = types.map((it) => (it.kind === "Bool" ? "UInt8" : it.kind));
  if (kinds.every(isInteger)) return commonInteger(kinds);
  if (kinds.every(isNumber)) return float;
  // A Date among times would have to be converted.
  if (types.every(isMoment)) return types.find((it) => it.kind === "DateTime64") ?? first;
  if (types.every((it) => it.kind === "Array")) {
    const item = commonType(types.map((it) => (it.kind === "Array" ? it.item : nothing)));
    return item && { kind: "Array", item };
  }
  if (first.kind !== "Tuple") return undefined;
  const items = first.items.map((_, i) =>
    commonType(types.map((it) => (it.kind === "Tuple" ? (it.items[i] ?? nothing) : nothing))),
  );
  const fits = types.every((it) => it.kind === "Tuple" && it.items.length === first.items.length);
  return fits && items.every((it) => it !== undefined) ? { kind: "Tuple", items } : undefined;
}

function commonInteger(kinds: readonly IntegerKind[]): Type | undefined {
  const signed = kinds.filter(isSigned).map(bitsOf);
  const unsigned = kinds.filter((it) => !isSigned(it)).map(bitsOf);
  if (signed.length === 0) return integerType(Math.max(...unsigned), false);
  const bits = Math.max(...signed, ...unsigned.map((it) => it * 2));
  return bits > 64 ? undefined : integerType(bits, true);
}
