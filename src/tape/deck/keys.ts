import { hash } from "node:crypto";
import type { Ask } from "./ask.ts";
import { canonical, type Rules } from "./canonical.ts";
import { type Policy, policyOf, type Tier } from "./policies.ts";
import type { Secrecy } from "./secrecy.ts";
import { isVolatileField } from "./volatile.ts";

/** What has to be equal, and the ids that have to be the same ones. */
export interface Key {
  /** Hash of everything but the ids. */
  shape: string;
  ids: string[];
}

/** 128 bits: two documents that share a hash do not happen. */
export const digest = (text: string): string => hash("sha1", text, "base64").slice(0, 22);

/** What all documents of a tape have in common. */
export interface Lexicon {
  ids: RegExp;
  noise: ReadonlySet<string>;
  secrecy: Secrecy;
}

/** The rules for the requests that a policy is for. */
export const rulesOf = ({ ids, noise, secrecy }: Lexicon, { dropsVolatile }: Policy): Rules => ({
  ids,
  secrecy,
  drops: (name, path) => (dropsVolatile && isVolatileField(name)) || noise.has(path),
});

/** The key of a request in one tier. */
export function keyOf(ask: Ask, tier: Tier, lexicon: Lexicon): Key {
  const { text, ids } = canonical(tier.parts(ask), rulesOf(lexicon, policyOf(ask)));
  return { shape: digest(`${ask.route} ${tier.name} ${text}`), ids };
}

const eachSigned = ["yes", "no"] as const;

/** A recorded request's keys in one tier: one that needed no credentials answers those with and without. */
export function recordedKeys(ask: Ask, tier: Tier, lexicon: Lexicon): Key[] {
  const variants = ask.signed === "any" ? eachSigned.map((signed) => ({ ...ask, signed })) : [ask];
  const keys = variants.map((it) => keyOf(it, tier, lexicon));
  return keys.filter(({ shape }, at) => keys.findIndex((other) => other.shape === shape) === at);
}
