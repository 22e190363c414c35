import { isObject, type Json, own, parsedJson } from "../../../../kernel/base/json.ts";
import { Refusal } from "../refusal.ts";
import { flag, float, type HogQLValue, nullable, string, type Type } from "../types.ts";
import { expectKind, type FunctionRow, fn, isAnyNullable, literal, many, special, strict } from "./row.ts";

/** The value at a path of keys, and of numbers of items or members from 1; undefined if there is none. */
function valueAt(text: HogQLValue, path: readonly HogQLValue[]): Json | undefined {
  let here = parsedJson(String(text));
  for (const step of path) {
    if (typeof step === "string") here = isObject(here) ? own(here, step) : undefined;
    else {
      const all: Json[] = Array.isArray(here) ? here : isObject(here) ? Object.values(here) : [];
      here = step === 0 ? undefined : all.at(Number(step) > 0 ? Number(step) - 1 : Number(step));
    }
    if (here === undefined) return undefined;
  }
  return here;
}

const extract = (name: string, type: Type, read: (value: Json | undefined) => HogQLValue): FunctionRow =>
  special(name, [1, many], (args) => {
    for (const [i, it] of args.entries())
      expectKind(it, i === 0 || it.type.kind === "String" ? "string" : "integer", name);
    return {
      type: nullable(type, isAnyNullable(args)),
      build: strict((text = "", ...steps) => read(valueAt(text, steps))),
    };
  });

/** Versions of ClickHouse differ in what they make of a value of another type. */
const unclear = (name: string, value: Json): Refusal =>
  new Refusal(`${name} of the value ${JSON.stringify(value).slice(0, 50)} is not emulated: it has another type`);

const number = (name: string, isWhole: boolean) => (value: Json | undefined) => {
  if (typeof value === "string" || typeof value === "boolean") throw unclear(name, value);
  if (typeof value !== "number") return 0;
  const whole = Math.trunc(value);
  if (isWhole && !Number.isSafeInteger(whole)) throw unclear(name, value);
  return isWhole ? whole : value;
};

const bool = (name: string) => (value: Json | undefined) => {
  if (typeof value === "number") throw unclear(name, value);
  return Number(value === true);
};

const rawOf = (value: Json | undefined): string => (value === undefined ? "" : JSON.stringify(value));
const rawArray: Type = { kind: "Array", item: string };

/** Types that `JSONExtract(json, …, 'type')` reads. */
const readers: Readonly<Record<string, readonly [Type, (value: Json | undefined) => HogQLValue]>> = {
  String: [string, (value) => (typeof value === "string" ? value : rawOf(value === null ? undefined : value))],
  Float64: [float, number("JSONExtract", false)],
  Float: [float, number("JSONExtract", false)],
  Int64: [{ kind: "Int64" }, number("JSONExtract", true)],
  Int: [{ kind: "Int64" }, number("JSONExtract", true)],
  Bool: [{ kind: "Bool" }, bool("JSONExtract")],
};

function readerFor(name: string): readonly [Type, (value: Json | undefined) => HogQLValue] {
  const [, inner] = /^Array\((\w+)\)$/.exec(name) ?? [];
  const reader = own(readers, inner ?? name);
  if (!reader) throw new Refusal(`JSONExtract of the type ${name} is not emulated`);
  if (inner === undefined) return reader;
  const [item, read] = reader;
  return [{ kind: "Array", item }, (value) => (Array.isArray(value) ? value.map(read) : [])];
}

const sizeOf = (value: Json | undefined): number =>
  Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0;

export const jsonFunctions: readonly FunctionRow[] = [
  extract("JSONExtractString", string, (value) => (typeof value === "string" ? value : "")),
  extract("JSONExtractInt", { kind: "Int64" }, number("JSONExtractInt", true)),
  extract("JSONExtractFloat", float, number("JSONExtractFloat", false)),
  extract("JSONExtractBool", { kind: "Bool" }, bool("JSONExtractBool")),
  extract("JSONExtractRaw", string, rawOf),
  extract("JSONExtractArrayRaw", rawArray, (value) => (Array.isArray(value) ? value.map(rawOf) : [])),
  extract("JSONExtractKeys", rawArray, (value) => (isObject(value) ? Object.keys(value) : [])),
  extract("JSONHas", flag, (value) => Number(value !== undefined)),
  extract("JSONLength", { kind: "UInt64" }, sizeOf),
  special("JSONExtract", [2, many], (args, context) => {
    const [type, read] = readerFor(String(literal(args.at(-1), "The type of JSONExtract")));
    const { build } = extract("JSONExtract", type, read).resolve(args.slice(0, -1), context);
    return { type, build: (reads) => build(reads.slice(0, -1)) };
  }),
  fn("isValidJSON", ["string"], flag, (text) => Number(parsedJson(text) !== undefined)),
];
