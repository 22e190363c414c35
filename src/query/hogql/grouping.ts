import { dictionaryIn, type Read, type Term } from "./term.ts";
import type { Value } from "./types.ts";
import { keyOf } from "./values.ts";

/** Numbers of the distinct values of an expression, from 0 in order of their first row. */
export type Numbering = (row: number) => number;

/** Values of columns with codes are looked up once for each code. */
export function numbering(term: Term, read: Read): Numbering {
  const numbers = new Map<Value, number>();
  const numberOf = (row: number): number => {
    const key = keyOf(read(row));
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, numbers.size);
    return numbers.size - 1;
  };
  const dictionary = dictionaryIn(term);
  if (!dictionary) return numberOf;
  const { codes, size } = dictionary;
  const known = new Int32Array(size).fill(-1);
  return (row) => {
    const code = codes[row] ?? 0;
    const number = known[code] ?? -1;
    if (number >= 0) return number;
    const made = numberOf(row);
    known[code] = made;
    return made;
  };
}

/** Numbers of the distinct combinations of several numberings. */
export function combined(numberings: readonly Numbering[]): Numbering {
  const [first, ...others] = numberings;
  if (!first) return () => 0;
  return others.reduce((left, right) => {
    // Numbers are below 2^26: memory ends before.
    const numbers = new Map<number, number>();
    return (row) => {
      const pair = left(row) * 0x4000000 + right(row);
      const known = numbers.get(pair);
      if (known !== undefined) return known;
      numbers.set(pair, numbers.size);
      return numbers.size - 1;
    };
  }, first);
}
