import { createHash } from "node:crypto";

/** The first 60 bits of a text's SHA-1 as a fraction, by itself: the tests compare the engine with it. */
export const fractionOf = (text: string): number =>
  Number(BigInt(`0x${createHash("sha1").update(text).digest("hex").slice(0, 15)}`)) / Number(0xfffffffffffffffn);

/** The first `user-n` whose fraction is accepted. */
export function subjectWhere(input: (id: string) => string, accepts: (fraction: number) => boolean): string {
  for (let n = 0; n < 100_000; n++) if (accepts(fractionOf(input(`user-${n}`)))) return `user-${n}`;
  throw new Error("no such subject");
}
