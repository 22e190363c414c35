import { z } from "zod";
import type { Json } from "../base/json.ts";
import type { Option } from "./options.ts";

/** `distinct-id` for `distinct_id`. */
type OptionName<Name> = Name extends `${infer First}_${infer Rest}` ? `${First}-${OptionName<Rest>}` : Name;

type OptionFor<Value> = Json extends Value
  ? { kind: "json" }
  : [Value] extends [boolean]
    ? { kind: "switch" }
    : [Value] extends [number]
      ? { kind: "count" }
      : [Value] extends [readonly (infer Item)[]]
        ? { choices: readonly Item[]; many: true }
        : { choices: readonly Exclude<Value, number>[] };

type WithDefault<Field> =
  undefined extends z.output<Field> ? unknown : undefined extends z.input<Field> ? { default: string } : unknown;

type ShapeOptions<Shape extends z.ZodObject> = {
  readonly [Name in keyof Shape["shape"] as OptionName<Name>]: Option &
    OptionFor<NonNullable<z.input<Shape["shape"][Name]>>> &
    WithDefault<Shape["shape"][Name]>;
};

interface Definition {
  readonly type: string;
  readonly innerType?: z.core.$ZodType;
  readonly in?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly defaultValue?: unknown;
  readonly entries?: Readonly<Record<string, string>>;
}

function optionFor(field: z.core.$ZodType): Option {
  const { type, innerType, in: input, element, entries = {}, defaultValue } = field._zod.def as unknown as Definition;
  const inner = innerType ?? input ?? element;
  const { describe: innerText = "", ...below } = inner ? optionFor(inner) : {};
  const option = { ...below, describe: z.globalRegistry.get(field)?.description ?? innerText };
  if (element) return { ...option, many: true };
  if (inner) return typeof defaultValue === "number" ? { ...option, default: String(defaultValue) } : option;
  if (type === "boolean") return { ...option, kind: "switch" };
  if (type === "number") return { ...option, kind: field instanceof z.ZodNumber && field.isInt ? "count" : "json" };
  if (type === "lazy") return { ...option, kind: "json" };
  return type === "enum" ? { ...option, choices: Object.values(entries) } : option;
}

/** Options for the parameters of an endpoint, which is the one place where they are described. */
export const optionsOf = <Shape extends z.ZodObject>({ shape }: Shape) =>
  Object.fromEntries(
    Object.entries(shape).map(([name, field]) => [name.replaceAll("_", "-"), optionFor(field)]),
  ) as ShapeOptions<Shape>;
