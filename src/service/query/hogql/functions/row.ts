import { Refusal } from "../refusal.ts";
import { type Build, type HogQLTerm, lenient, strict } from "../term.ts";
import { type HogQLValue, isInteger, isNumber, isTime, nullable, type Type, typeName } from "../types.ts";
import type { Zones } from "../values.ts";
import type { Patterns } from "./patterns.ts";

export interface FunctionContext {
  /** ms since the epoch */
  readonly now: number;
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

export function expectKind(term: HogQLTerm | undefined, kind: ParameterKind, name: string): void {
  if (term && term.type.kind !== "Nothing" && !fits[kind](term.type)) throw illegalType(term.type, name);
}

export const isAnyNullable = (args: readonly HogQLTerm[]): boolean => args.some((it) => it.type.nullable ?? false);

/**
 * A function of values that is NULL if an argument is NULL. `resolve` has the types, and the context.
 * @throws Refusal from `resolve` if the arguments do not fit
 */
export function typed<const P extends readonly Parameter[]>(
  name: string,
  parameters: P,
  resolve: (
    args: readonly HogQLTerm[],
    context: FunctionContext,
  ) => readonly [Type, (...values: ArgumentsOf<P>) => HogQLValue],
): FunctionRow {
  const kinds = parameters.map((it) => it.replace(/[?*]$/, "") as ParameterKind);
  const least = parameters.filter((it) => !/[?*]$/.test(it)).length;
  return special(name, [least, parameters.at(-1)?.endsWith("*") ? many : parameters.length], (args, context) => {
    for (const [i, arg] of args.entries()) expectKind(arg, kinds[i] ?? kinds.at(-1) ?? "any", name);
    const [type, run] = resolve(args, context);
    const isNull = isAnyNullable(args) || (type.nullable ?? false);
    return { type: nullable(type, isNull), build: strict(run as (...values: unknown[]) => HogQLValue) };
  });
}

/** The same for a function whose result needs the types of the arguments at most. */
export const fn = <const P extends readonly Parameter[]>(
  name: string,
  parameters: P,
  result: Type | ((types: readonly Type[]) => Type),
  run: (...values: ArgumentsOf<P>) => HogQLValue,
): FunctionRow =>
  typed(name, parameters, (args) => [typeof result === "function" ? result(args.map((it) => it.type)) : result, run]);

/** A function that evaluates its arguments itself, or that decides about NULL. */
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
