import { type ClockZone, dayText, isoText, timeText } from "./time.ts";
import { type HogQLValue, isMoment, type Type } from "./types.ts";

/** Gives the zone of a name; made once for each query, as look-ups are slow. */
export type Zones = (name: string) => ClockZone;

const zoneIn = (type: Type, zones: Zones): ClockZone | undefined =>
  isMoment(type) && type.zone !== undefined ? zones(type.zone) : undefined;

export function numberText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  return Object.is(value, -0) ? "-0" : String(value).replace("e+", "e");
}

const quoted = (text: string): string =>
  `'${text.replace(/[\\']/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t")}'`;

/** True for a value that passes a condition. */
export const isTrue = (value: HogQLValue | undefined): boolean => value !== null && value !== undefined && value !== 0;

/** What `toString` returns. */
export function textOf(value: HogQLValue, type: Type, zones: Zones): string {
  if (value === null) return "NULL";
  if (type.kind === "Bool") return value === 0 ? "false" : "true";
  if (type.kind === "Date") return dayText(Number(value));
  if (isMoment(type)) {
    const wall = zoneIn(type, zones)?.wall(Number(value)) ?? Number(value);
    return timeText(wall, type.kind === "DateTime64" ? 6 : 0);
  }
  if (typeof value === "number") return numberText(value);
  if (typeof value === "string") return value;
  const part = (it: HogQLValue, of: Type | undefined): string => {
    if (of === undefined || it === null) return "NULL";
    const text = textOf(it, of, zones);
    return typeof it === "string" || of.kind.startsWith("Date") ? quoted(text) : text;
  };
  if (type.kind === "Tuple") return `(${value.map((it, i) => part(it, type.items[i])).join(",")})`;
  return `[${value.map((it) => part(it, type.kind === "Array" ? type.item : undefined)).join(",")}]`;
}

/** A value in the service's response: numbers that JSON does not have are null. */
export function shown(value: HogQLValue, type: Type, zones: Zones): unknown {
  if (value === null) return null;
  if (type.kind === "Bool") return value !== 0;
  if (type.kind === "Date") return dayText(Number(value));
  if (isMoment(type)) return isoText(Number(value), zoneIn(type, zones));
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "string") return value;
  if (type.kind === "Array") return value.map((it) => shown(it, type.item, zones));
  if (type.kind === "Tuple") return value.map((it, i) => shown(it, type.items[i] ?? type, zones));
  return value;
}

/** Order of the UTF-8 bytes: characters beyond U+FFFF, which JavaScript writes as surrogates, come last. */
function compareBytes(a: string, b: string): number {
  const rank = (unit: number) => (unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit);
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Order of two values of one type: NaN after numbers, NULL last, strings by their UTF-8 bytes. */
export function compareValues(a: HogQLValue, b: HogQLValue): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === "number" && typeof b === "number") {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return a - b || 0;
  }
  if (typeof a === "string" && typeof b === "string") return compareBytes(a, b);
  if (typeof a !== "object" || typeof b !== "object") return 0;
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareValues(a[i] ?? null, b[i] ?? null);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** What a Map or Set compares: arrays become strings that no other array has. */
export const keyOf = (value: HogQLValue): null | number | string =>
  typeof value === "object" && value !== null ? `\0${JSON.stringify(value, finite)}` : value;
const finite = (_: string, it: unknown): unknown => (typeof it === "number" && !Number.isFinite(it) ? `\0${it}` : it);

/** How many values of memory a value counts as. */
export function weightOf(value: HogQLValue): number {
  if (typeof value === "string") return 1 + (value.length >> 6);
  if (typeof value !== "object" || value === null) return 1;
  let sum = 1;
  for (const it of value) sum += weightOf(it);
  return sum;
}

/** The value that a type has without rows: 0, the empty string, 1970. */
export function defaultOf(type: Type): HogQLValue {
  if (type.nullable) return null;
  if (type.kind === "String") return "";
  if (type.kind === "UUID") return "00000000-0000-0000-0000-000000000000";
  if (type.kind === "Array") return [];
  return type.kind === "Tuple" ? type.items.map(defaultOf) : 0;
}
