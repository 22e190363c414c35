import { maskOf } from "./bind.ts";
import { filterUrl } from "./exchange.ts";
import { createSecretRules, type TapeRules } from "./rules.ts";
import { createSecretFilter, type Take } from "./secret-filter.ts";
import { isPublic } from "./shapes.ts";

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
  const filter = createSecretFilter({
    take,
    known: (text) => text,
    knownCount: () => 0,
    secretRules: createSecretRules(rules),
  });
  return { target: (target) => filterUrl(target, "", "", filter, take), text: (text) => filter.text(text, "") };
}
