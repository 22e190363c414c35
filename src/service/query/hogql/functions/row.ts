import { Refusal } from "../refusal.ts";
import { type Build, type HogQLTerm, lenient, strict } from "../term.ts";
import { type HogQLValue, isInteger, isNumber, isTime, nullable, type Type, typeName } from "../types.ts";
import type { Zones } from "../values.ts";
import type { Patterns } from "./patterns.ts";

/** What functions may use in addition to their arguments. */
export interface FunctionContext {
  /** ms since the epoch */
  readonly now: number;
  /** The project's zone. */
  readonly timeZone: string;
  readonly weekStart: 0 | 1;
  readonly zones: Zones;
  readonly patterns: Patterns;
}

export interface FunctionRow {
  readonly name: string;
  readonly args: readonly [least: number, most: number];
  /** @throws Refusal if the arguments do not fit */
  resolve(args: readonly HogQLTerm[], context: FunctionContext): { type: Type; build: Build };
}

interface Values {
  string: string;
  number: number;
  integer: number;
  time: number;
  any: HogQLValue;
  array: readonly HogQLValue[];
}
type ParameterKind = keyof Values;
/** A kind of value; `?`: it may be left out, `*`: any number of them. */
type Parameter = ParameterKind | `${ParameterKind}?` | `${ParameterKind}*`;
type ValueOf<P> = P extends `${infer K extends ParameterKind}?`
  ? Values[K] | undefined
  : P extends ParameterKind
    ? Values[P]
    : never;
type ArgumentsOf<P extends readonly Parameter[]> = P extends readonly [
  ...infer Fixed extends readonly Parameter[],
  `${infer K extends ParameterKind}*`,
]
  ? [...ArgumentsOf<Fixed>, ...Values[K][]]
  : { [I in keyof P]: ValueOf<P[I]> };

const fits: Readonly<Record<ParameterKind, (type: Type) => boolean>> = {
  string: ({ kind }) => kind === "String",
  number: ({ kind }) => isNumber(kind),
  integer: ({ kind }) => isInteger(kind) || kind === "Bool",
  time: ({ kind }) => isTime(kind),
  any: () => true,
  array: ({ kind }) => kind === "Array",
};

export const illegalType = (type: Type, name: string): Refusal =>
  new Refusal(`Illegal type ${typeName(type)} of argument of function ${name}`);

/** @throws Refusal */
export function expectKind(term: HogQLTerm | undefined, kind: ParameterKind, name: string): void {
  if (term && term.type.kind !== "Nothing" && !fits[kind](term.type)) throw illegalType(term.type, name);
}

export const isAnyNullable = (args: readonly HogQLTerm[]): boolean => args.some((it) => it.type.nullable ?? false);

/** A function of values that returns NULL if an argument is NULL. */
export function fn<const P extends readonly Parameter[]>(
  name: string,
  parameters: P,
  result: Type | ((types: readonly Type[]) => Type),
  run: (...values: ArgumentsOf<P>) => HogQLValue,
): FunctionRow {
  return fnIn(name, parameters, result, () => run);
}

/** The same for a function that uses the context. */
export function fnIn<const P extends readonly Parameter[]>(
  name: string,
  parameters: P,
  result: Type | ((types: readonly Type[]) => Type),
  runIn: (context: FunctionContext) => (...values: ArgumentsOf<P>) => HogQLValue,
): FunctionRow {
  const kinds = parameters.map((it) => it.replace(/[?*]$/, "") as ParameterKind);
  const isOpen = parameters.at(-1)?.endsWith("*") ?? false;
  return {
    name,
    args: [
      parameters.filter((it) => !it.endsWith("?") && !it.endsWith("*")).length,
      isOpen ? Number.POSITIVE_INFINITY : parameters.length,
    ],
    resolve(args, context) {
      const run = runIn(context);
      for (const [i, arg] of args.entries()) expectKind(arg, kinds[i] ?? kinds.at(-1) ?? "any", name);
      const type = typeof result === "function" ? result(args.map((it) => it.type)) : result;
      return {
        type: nullable(type, isAnyNullable(args)),
        build: strict(run as unknown as (...values: HogQLValue[]) => HogQLValue),
      };
    },
  };
}

/** The same function under other names. */
export const named = (names: readonly string[], row: FunctionRow): FunctionRow[] =>
  names.map((name) => ({ ...row, name }));

/** A function that needs the types of its arguments, or the context, or that decides about NULL. */
export const special = (
  name: string,
  args: readonly [number, number],
  resolve: FunctionRow["resolve"],
): FunctionRow => ({ name, args, resolve });

export const many = Number.POSITIVE_INFINITY;

/** Value of an argument that must be a literal. @throws Refusal */
export function literal(term: HogQLTerm | undefined, what: string): HogQLValue {
  if (term?.op !== "constant") throw new Refusal(`${what} must be a literal`, term?.at);
  return term.value;
}

export { lenient, strict };
