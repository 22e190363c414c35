import { maskOf } from "./bind.ts";
import { sieveUrl } from "./exchange.ts";
import { createJudge, type TapeRules } from "./rules.ts";
import { isPublic } from "./shapes.ts";
import { createSieve, type Take } from "./sieve.ts";

/** Masks secrets by the rules of tapes, for what people and agents read. Project keys are public. */
export interface Mask {
  /** Of a path and query: `/e/?q=***`. */
  target(target: string): string;
  /** Of any text; JSON stays JSON. */
  text(text: string): string;
}

/** @param rules Of the project */
export function createMask(rules?: TapeRules): Mask {
  const take: Take = (kind, secret) =>
    isPublic(kind) || secret === "***" ? secret : maskOf({ text: "", kind, number: 0 });
  const sieve = createSieve({ take, known: (text) => text, knownCount: () => 0, judge: createJudge(rules) });
  return {
    target: (target) => sieveUrl(target, "", "", sieve, take),
    text: (text) => sieve.text(text, ""),
  };
}
