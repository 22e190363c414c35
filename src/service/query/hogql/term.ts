import type { Located } from "./ast.ts";
import type { HogQLValue, Type } from "./types.ts";

/** Value of an expression for a row of its source, or for a group of rows. */
export type Read = (row: number) => HogQLValue;

/** Codes of rows, below `size`: rows with the same code have the same value. */
export interface Dictionary {
  readonly codes: Uint32Array;
  readonly size: number;
}

/** Memory of a query, in values: what it keeps is subtracted. */
export interface ValueBudget {
  /** @throws Refusal once it is used up */
  take(count: number): void;
}

/** What an aggregation does with the rows of a group. */
export interface Accumulator {
  start(): unknown;
  add(state: unknown, row: number): void;
  end(state: unknown): HogQLValue;
}

export interface AggregateCode {
  readonly type: Type;
  /** @param args The code of the arguments */
  accumulate(args: readonly Read[], budget: ValueBudget): Accumulator;
}

/** A column of a source. */
export interface SourceColumn {
  readonly type: Type;
  readonly read: Read;
  readonly dictionary?: Dictionary;
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
      readonly aggregate: AggregateCode;
    }
  // Known once a subquery ran.
  | { readonly op: "late"; readonly value: () => HogQLValue }
  | { readonly op: "local"; readonly local: Local }
  | { readonly op: "lambda"; readonly locals: readonly Local[]; readonly body: HogQLTerm }
);

/** Makes the code of a call from that of its arguments. */
export type Build = (args: readonly Read[]) => Read;

/** A function of values: NULL if one of them is NULL. */
export const strict =
  (run: (...values: HogQLValue[]) => HogQLValue): Build =>
  (args) => {
    const [a, b, c] = args;
    if (!a) return () => run();
    if (!b)
      return (row) => {
        const x = a(row);
        return x === null ? null : run(x);
      };
    if (!c)
      return (row) => {
        const x = a(row);
        if (x === null) return null;
        const y = b(row);
        return y === null ? null : run(x, y);
      };
    return (row) => {
      const values = args.map((it) => it(row));
      return values.includes(null) ? null : run(...values);
    };
  };

/** A function that decides about NULL itself. */
export const lenient =
  (run: (...values: HogQLValue[]) => HogQLValue): Build =>
  (args) => {
    const [a, b, c] = args;
    if (a && !b) return (row) => run(a(row));
    if (a && b && !c) return (row) => run(a(row), b(row));
    return (row) => run(...args.map((it) => it(row)));
  };

/** The dictionary that decides the value of a term alone; undefined if it depends on more. */
function dictionaryOf(term: HogQLTerm): Dictionary | undefined | "constant" {
  if (term.op === "constant" || term.op === "late" || term.op === "local") return "constant";
  if (term.op === "column") return term.column.dictionary;
  if (term.op === "aggregate") return undefined;
  let found: Dictionary | "constant" = "constant";
  for (const part of term.op === "lambda" ? [term.body] : term.args) {
    const own = dictionaryOf(part);
    if (own === undefined || (own !== "constant" && found !== "constant" && own.codes !== found.codes))
      return undefined;
    if (own !== "constant") found = own;
  }
  return found;
}

/** The dictionary of a term that depends on one column with codes. */
export function dictionaryIn(term: HogQLTerm): Dictionary | undefined {
  const found = dictionaryOf(term);
  return found === "constant" ? undefined : found;
}

/** Expressions that are computed before the rows are read, e.g. keys of groups; undefined for others. */
export type Known = (term: HogQLTerm) => Read | undefined;

/** Code of a term. Terms that depend on one column are computed once for each of its values. */
export function compile(term: HogQLTerm, known: Known = () => undefined, isInside = false): Read {
  const found = known(term);
  if (found) return found;
  switch (term.op) {
    case "constant": {
      const { value } = term;
      return () => value;
    }
    case "late": {
      const { value } = term;
      return () => value();
    }
    case "column":
      return term.column.read;
    case "local": {
      const { local } = term;
      return () => local.value;
    }
    case "lambda":
      return compile(term.body, known, true);
    case "aggregate":
      throw new Error(`the aggregation ${term.key} has no place here`);
    case "call": {
      const dictionary = isInside || hasKnown(term, known) ? undefined : dictionaryIn(term);
      const inner = term.build(term.args.map((it) => compile(it, known, isInside || dictionary !== undefined)));
      return dictionary ? cached(inner, dictionary) : inner;
    }
  }
}

const hasKnown = (term: HogQLTerm, known: Known): boolean =>
  known(term) !== undefined ||
  (term.op === "call" && term.args.some((it) => hasKnown(it, known))) ||
  (term.op === "lambda" && hasKnown(term.body, known));

function cached(read: Read, { codes, size }: Dictionary): Read {
  const values = new Array<HogQLValue | undefined>(size).fill(undefined);
  return (row) => {
    const code = codes[row] ?? 0;
    const value = values[code];
    if (value !== undefined) return value;
    const computed = read(row);
    values[code] = computed;
    return computed;
  };
}

/** The aggregations in a term. */
export function aggregatesIn(term: HogQLTerm): (HogQLTerm & { op: "aggregate" })[] {
  if (term.op === "aggregate") return [term];
  if (term.op === "lambda") return aggregatesIn(term.body);
  return term.op === "call" ? term.args.flatMap(aggregatesIn) : [];
}

export const isAggregated = (term: HogQLTerm): boolean => aggregatesIn(term).length > 0;
