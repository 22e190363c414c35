import { createHash } from "node:crypto";
import { uuidV5 } from "../base/ids.ts";

/** Ids that a scenario does not give are derived from its names: the same file, the same ids. */
const namespace = "5f3b2f4e-6c56-4d0a-9a53-5a0f6b3f9c01";

export const derivedUuid = (name: string): string => uuidV5(namespace, name);

const digest = (name: string): string =>
  createHash("sha256").update(namespace).update(name, "utf8").digest("base64url");

/** A token of 30 characters of `[A-Za-z0-9_-]`, as the service's access tokens are. */
export const derivedToken = (name: string): string => digest(name).slice(0, 30);

/** `length` letters and digits, at most 20. */
export const derivedLetters = (name: string, length: number): string =>
  digest(name).replace(/[-_]/g, "").slice(0, length);

/** Gives out numbers of one kind in the order of the document. */
export interface Numbers {
  /** The number that is given, else the next above all before it that no other document gives itself. */
  take(given: number | undefined): number;
  /** The highest so far, or 0. */
  readonly highest: number;
}

/** @param given The numbers that documents anywhere in the scenario give themselves. */
export function createNumbers(given: Iterable<number | undefined>): Numbers {
  const reserved = new Set(given);
  let highest = 0;
  const next = (): number => {
    let number = highest + 1;
    while (reserved.has(number)) number++;
    return number;
  };
  return {
    take(own) {
      const number = own ?? next();
      highest = Math.max(highest, number);
      return number;
    },
    get highest() {
      return highest;
    },
  };
}
