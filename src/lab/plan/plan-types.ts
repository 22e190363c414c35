import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import type { Plan, PlannedEvent } from "./plan.ts";
import { propertiesOf } from "./wording.ts";

/** Definitions may refer to each other without end. */
const mostDepth = 8;

interface Scope {
  readonly definitions: JsonObject;
  readonly indent: string;
  readonly depth: number;
}

/**
 * TypeScript source with the types of the plan's events: `Events` (properties by event), `EventName`,
 * `CapturedEvent` (a union) and `Capture` (a typed `capture`). Events that only a validator describes without
 * a JSON Schema are open.
 */
export function planTypes(plan: Plan): string {
  const events = [...plan.events.values()].map((it) => eventLines(it, plan.definitions));
  return `${[
    "// Made by `phx-sim plan types`; changes are lost when it is made again.",
    "",
    "/** The properties of each event. */",
    "export interface Events {",
    ...events,
    "}",
    "",
    "export type EventName = keyof Events;",
    "",
    "/** An event with its properties. */",
    "export type CapturedEvent = {",
    "  [Name in EventName]: { event: Name; properties: Events[Name] };",
    "}[EventName];",
    "",
    "/** `capture` for these events only, e.g. `const capture: Capture = posthog.capture.bind(posthog)`. */",
    "export type Capture = <Name extends EventName>(event: Name, properties: Events[Name]) => void;",
  ].join("\n")}\n`;
}

function eventLines({ name, description, schema }: PlannedEvent, definitions: JsonObject): string {
  const scope = { definitions, indent: "  ", depth: 0 };
  const type = schema ? eventType(schema, scope) : "{ [property: string]: unknown }";
  return `${commentLines(description, "  ")}  ${quoted(name)}: ${type};`;
}

/** An event may always carry what SDKs add. */
function eventType(schema: JsonObject, scope: Scope): string {
  const isClosed = schema.additionalProperties === false;
  return objectType(schema, scope, isClosed ? "[sdk: `$${string}`]: unknown" : "[property: string]: unknown");
}

/** A JSON string is a TypeScript string; two line separators are escaped for old parsers. */
const quoted = (text: string): string =>
  JSON.stringify(text).replace(/[\u2028\u2029]/g, (it) => (it === "\u2028" ? "\\u2028" : "\\u2029"));

const commentLines = (description: unknown, indent: string): string => {
  if (typeof description !== "string" || description === "") return "";
  const lines = description.replaceAll("*/", "*\\/").split(/[\n\r\u2028\u2029]+/);
  return `${[`${indent}/** ${lines[0]}`, ...lines.slice(1).map((it) => `${indent} * ${it}`)].join("\n")} */\n`;
};

function objectType(schema: JsonObject, scope: Scope, rest: string | undefined): string {
  const inner = { ...scope, indent: `${scope.indent}  `, depth: scope.depth + 1 };
  const required = Array.isArray(schema.required) ? schema.required : [];
  const known = propertiesOf(schema);
  const unnamed = required.filter((it): it is string => typeof it === "string" && !Object.hasOwn(known, it));
  const lines = [
    ...Object.entries(known).map(([name, it]) => {
      const comment = commentLines(isObject(it) ? it.description : undefined, inner.indent);
      return `${comment}${inner.indent}${quoted(name)}${required.includes(name) ? "" : "?"}: ${typeOf(it, inner)};`;
    }),
    ...unnamed.map((name) => `${inner.indent}${quoted(name)}: unknown;`),
    ...(rest === undefined ? [] : [`${inner.indent}${rest};`]),
  ];
  return lines.length === 0 ? "Record<string, never>" : `{\n${lines.join("\n")}\n${scope.indent}}`;
}

const writers: Readonly<Record<string, (schema: JsonObject, scope: Scope) => string>> = {
  string: () => "string",
  number: () => "number",
  integer: () => "number",
  boolean: () => "boolean",
  null: () => "null",
  array: arrayType,
  object: (schema, scope) =>
    objectType(schema, scope, schema.additionalProperties === false ? undefined : "[key: string]: unknown"),
};

function arrayType(schema: JsonObject, scope: Scope): string {
  const { items } = schema;
  const hasTuple = Object.hasOwn(schema, "prefixItems");
  return items === undefined || hasTuple ? "unknown[]" : `Array<${typeOf(items, scope)}>`;
}

const union = (types: readonly string[]): string => {
  const all = [...new Set(types)];
  return all.includes("unknown") || all.length === 0 ? "unknown" : all.join(" | ");
};

/** The TypeScript type of a schema's values, or a wider one; `unknown` where types cannot express it. */
function typeOf(schema: Json, scope: Scope): string {
  if (schema === false) return "never";
  if (!isObject(schema) || scope.depth > mostDepth) return "unknown";
  const deeper = { ...scope, depth: scope.depth + 1 };
  if (typeof schema.$ref === "string") return typeOf(definition(schema.$ref, scope), deeper);
  if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
  if (schema.const !== undefined) return literal(schema.const);
  const forms = [schema.anyOf, schema.oneOf].find((it) => Array.isArray(it));
  if (Array.isArray(forms) && schema.type === undefined) return union(forms.map((it) => typeOf(it, deeper)));
  return union([schema.type ?? []].flat().map((type) => writers[String(type)]?.(schema, scope) ?? "unknown"));
}

function definition(ref: string, { definitions }: Scope): Json {
  const name = ref.replace("#/$defs/", "");
  return Object.hasOwn(definitions, name) ? (definitions[name] ?? {}) : {};
}

const literal = (value: Json): string => {
  if (typeof value === "string") return quoted(value);
  return typeof value === "object" && value !== null ? "unknown" : String(value);
};
