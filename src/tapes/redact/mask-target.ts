import { maskOf } from "./bind.ts";
import { sieveUrl } from "./exchange.ts";
import { createJudge, type TapeRules } from "./rules.ts";
import { isPublic } from "./shapes.ts";
import { createSieve, type Take } from "./sieve.ts";

/** Masks the secrets in paths and queries for logs: `/e/?q=***`. Project keys are public. @param rules Of the project */
export function createTargetMask(rules?: TapeRules): (target: string) => string {
  const take: Take = (kind, secret) =>
    isPublic(kind) || secret === "***" ? secret : maskOf({ text: "", kind, number: 0 });
  const sieve = createSieve({ take, known: (text) => text, knownCount: () => 0, judge: createJudge(rules) });
  return (target) => sieveUrl(target, "", "", sieve, take);
}
