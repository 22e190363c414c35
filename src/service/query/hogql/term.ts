import type { Located } from "./ast.ts";
import { Refusal } from "./refusal.ts";
import type { HogQLValue, Type } from "./types.ts";

/** Value of an expression for a row of its source, or for a group of rows. */
export type Read = (row: number) => HogQLValue;

const mostValues = 5_000_000;
/** Values between two looks at the memory of the process. */
const valuesPerCheck = 65_536;

/** Memory of a query, in values: what it keeps is subtracted. */
export class ValueBudget {
  readonly #checkMemory: (() => void) | undefined;
  #left = mostValues;
  #nextCheck = mostValues - valuesPerCheck;

  constructor(checkMemory?: () => void) {
    this.#checkMemory = checkMemory;
  }

  /** @throws Refusal once it is used up; what the check throws */
  take(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw new Refusal(`The query keeps more than ${mostValues} values in memory`);
    if (this.#left > this.#nextCheck) return;
    this.#nextCheck = this.#left - valuesPerCheck;
    this.#checkMemory?.();
  }
}

export interface Accumulator {
  start(): unknown;
  add(state: unknown, row: number): void;
  end(state: unknown): HogQLValue;
}

export interface SourceColumn {
  readonly type: Type;
  readonly read: Read;
  /** The text of JSON objects, whose members can be named. */
  readonly isJson?: true;
}

/** An argument of a lambda: its value during a call. */
export interface Local {
  value: HogQLValue;
}

/** A resolved expression: `key` is equal for equal ones of the same query. */
export type HogQLTerm = { readonly key: string; readonly type: Type; readonly at: Located } & (
  | { readonly op: "constant"; readonly value: HogQLValue }
  | { readonly op: "column"; readonly column: SourceColumn }
  | { readonly op: "call"; readonly args: readonly HogQLTerm[]; readonly build: Build }
  | {
      readonly op: "aggregate";
      readonly name: string;
      readonly args: readonly HogQLTerm[];
      /** @param args The code of the arguments */
      accumulate(args: readonly Read[], budget: ValueBudget): Accumulator;
    }
  // Of the arguments the last are those of PARTITION BY, then those of ORDER BY.
  | {
      readonly op: "window";
      readonly name: string;
      readonly args: readonly HogQLTerm[];
      read(rows: readonly number[], known: Known, budget: ValueBudget): Read;
    }
  // Known once a subquery ran.
  | { readonly op: "late"; readonly value: () => HogQLValue }
  | { readonly op: "local"; readonly local: Local }
  | { readonly op: "lambda"; readonly locals: readonly Local[]; readonly body: HogQLTerm }
);

/** Makes the code of a call from that of its arguments. */
export type Build = (args: readonly Read[]) => Read;

type Run = (...values: HogQLValue[]) => HogQLValue;

/** A function of values: NULL if one of them is NULL. */
export const strict =
  (run: Run): Build =>
  (args) =>
  (row) => {
    const values: HogQLValue[] = [];
    for (const read of args) {
      const value = read(row);
      if (value === null) return null;
      values.push(value);
    }
    return run(...values);
  };

/** A function that decides about NULL itself. */
export const lenient =
  (run: Run): Build =>
  (args) =>
  (row) =>
    run(...args.map((it) => it(row)));

/** Expressions that are computed before the rows are read, e.g. keys of groups; undefined for others. */
export type Known = (term: HogQLTerm) => Read | undefined;

export function compile(term: HogQLTerm, known: Known = () => undefined): Read {
  const read = known(term);
  if (read) return read;
  switch (term.op) {
    case "constant":
      return () => term.value;
    case "late":
      return () => term.value();
    case "column":
      return term.column.read;
    case "local":
      return () => term.local.value;
    case "lambda":
      return compile(term.body, known);
    case "aggregate":
    case "window":
      throw new Error(`${term.key} has no place here`);
    case "call":
      return term.build(compileAll(term.args, known));
  }
}

export const compileAll = (terms: readonly HogQLTerm[], known?: Known): Read[] => terms.map((it) => compile(it, known));

export function termsIn<O extends "aggregate" | "window">(term: HogQLTerm, op: O): (HogQLTerm & { op: O })[] {
  if (term.op === op) return [term as HogQLTerm & { op: O }];
  if (term.op === "lambda") return termsIn(term.body, op);
  return term.op === "call" || term.op === "window" ? term.args.flatMap((it) => termsIn(it, op)) : [];
}

export const isAggregated = (term: HogQLTerm): boolean => termsIn(term, "aggregate").length > 0;
