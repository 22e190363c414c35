import type { Json } from "../base/json.ts";

/** Gives each distinct value a code, from 1; code 0 is the missing value. */
export interface Distinct<T> {
  /** By code. It only grows. */
  readonly values: readonly T[];
  /** What the values take, in bytes; an estimate. */
  readonly bytes: number;
  codeOf(value: T): number;
}

/** What an entry of a map and of an array takes besides its value, in bytes. */
const entryBytes = 64;

/** Distinct texts; "" has code 0. */
export function distinctTexts(): Distinct<string> {
  const values = [""];
  const codes = new Map([["", 0]]);
  let bytes = 0;
  return {
    values,
    get bytes() {
      return bytes;
    },
    codeOf(text) {
      const known = codes.get(text);
      if (known !== undefined) return known;
      codes.set(text, values.length);
      bytes += entryBytes + text.length;
      return values.push(text) - 1;
    },
  };
}

/** Distinct JSON values; objects and arrays are the same value if their JSON texts are the same. */
export function distinctJson(): Distinct<Json | undefined> {
  const values: (Json | undefined)[] = [undefined];
  const plain = new Map<Json, number>();
  const nested = new Map<string, number>();
  let bytes = 0;

  function added(value: Json, size: number): number {
    bytes += entryBytes + size;
    return values.push(value) - 1;
  }

  return {
    values,
    get bytes() {
      return bytes;
    },
    codeOf(value) {
      if (value === undefined) return 0;
      if (typeof value !== "object" || value === null) {
        const known = plain.get(value);
        if (known !== undefined) return known;
        const code = added(value, typeof value === "string" ? value.length : 8);
        plain.set(value, code);
        return code;
      }
      const text = JSON.stringify(value);
      const known = nested.get(text);
      if (known !== undefined) return known;
      const code = added(value, text.length * 4);
      nested.set(text, code);
      return code;
    },
  };
}

/** An array with room for at least `length` numbers; a larger one, if it is made, starts with the same numbers. */
export function withRoom<A extends Uint32Array | Float64Array>(array: A, length: number): A {
  if (length <= array.length) return array;
  const size = Math.max(length, Math.ceil(array.length * 1.5), 256);
  const larger = (array instanceof Float64Array ? new Float64Array(size) : new Uint32Array(size)) as A;
  larger.set(array);
  return larger;
}
