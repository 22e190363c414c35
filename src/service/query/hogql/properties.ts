import { isObject, type Json } from "../../../kernel/base/json.ts";
import { memo } from "../memo.ts";
import type { EventColumn } from "../table.ts";
import { readFloat } from "./functions/conversions.ts";
import { detectedType, type PropertyType } from "./property-types.ts";
import type { SourceColumn } from "./term.ts";
import { type ClockZone, readTime } from "./time.ts";
import type { HogQLValue, Type } from "./types.ts";

/**
 * Text of a value as the service extracts it: JSON without the quotes of a string, whose escapes stay. NULL for a
 * missing value and for null. Upstream posthog/hogql/printer: JSONExtractRaw.
 */
export function propertyText(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  const text = JSON.stringify(value);
  return typeof value === "string" ? text.slice(1, -1) : text;
}

/** What a property of a type is converted to. Upstream posthog/hogql/transforms/property_types.py. */
const conversions: Readonly<Record<PropertyType, (zone: ClockZone) => { type: Type; read(text: string): HogQLValue }>> =
  {
    String: () => ({ type: { kind: "String", nullable: true }, read: (text) => text }),
    Numeric: () => ({ type: { kind: "Float64", nullable: true }, read: (text) => readFloat(text) ?? null }),
    Boolean: () => ({
      type: { kind: "Bool", nullable: true },
      read: (text) => (text === "true" ? 1 : text === "false" ? 0 : null),
    }),
    DateTime: (zone) => ({
      type: { kind: "DateTime64", zone: zone.name, nullable: true },
      read: (text) => readTime(text, zone) ?? null,
    }),
  };

/** Type of a property: that of the first event with a value; undefined if no event has one. */
function typeIn(name: string, { column, length, now }: PropertySource): PropertyType | undefined {
  let seen: PropertyType | undefined;
  for (let row = 0; row < length; row++) {
    const value = column(row);
    if (value === undefined || value === null) continue;
    const type = detectedType(name, value, now);
    if (type) return type;
    // Objects and lists have no type: such a property is a string.
    seen ??= "String";
  }
  return seen;
}

export interface PropertySource {
  readonly column: EventColumn;
  readonly length: number;
  readonly zone: ClockZone;
  readonly now: number;
}

/** A column of converted values; each distinct value is converted once. */
function converted(
  { column }: PropertySource,
  type: Type,
  read: (value: Json | undefined) => HogQLValue,
): SourceColumn {
  const convert = memo(read);
  return { type, read: (row) => convert(column(row)) };
}

/** The property `name` with the type that the service detects. */
export function typedProperty(name: string, source: PropertySource): SourceColumn {
  const found = typeIn(name, source);
  if (!found) return converted(source, { kind: "Nothing", nullable: true, shown: "Nullable(String)" }, () => null);
  const { type, read } = conversions[found](source.zone);
  return converted(source, type, (value) => {
    const text = propertyText(value);
    return text === null ? null : read(text);
  });
}

/** The value at a path of keys, and of numbers of items from 1; undefined if there is none. */
export function valueAt(value: Json | undefined, path: readonly (string | number)[]): Json | undefined {
  let here: Json | undefined = value;
  for (const step of path) {
    if (Array.isArray(here)) here = typeof step === "number" ? here.at(step > 0 ? step - 1 : step) : undefined;
    else here = isObject(here) && Object.hasOwn(here, step) ? here[step] : undefined;
  }
  return here;
}

export function nestedProperty(source: PropertySource, path: readonly (string | number)[]): SourceColumn {
  return converted(source, { kind: "String", nullable: true }, (value) => propertyText(valueAt(value, path)));
}

/** The JSON of a property; empty if it is missing. */
export const jsonProperty = (source: PropertySource): SourceColumn =>
  converted(source, { kind: "String" }, (value) => (value === undefined ? "" : JSON.stringify(value)));
