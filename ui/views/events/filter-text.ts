import { valueText } from "../../../src/filter/print.ts";
import { scan, type Token } from "../../../src/filter/scan.ts";

/** The terms that must all hold, outside of parentheses. Undefined: terms are joined by OR, none must hold. */
function mustHold(text: string): readonly Token[] | undefined {
  const found: Token[] = [];
  let depth = 0;
  let isNegated = false;
  for (const token of scan(text).tokens) {
    if (token.kind === "or" && depth === 0) return undefined;
    if (token.kind === "open") depth++;
    else if (token.kind === "close") depth--;
    else if (depth === 0 && token.kind !== "not" && !isNegated) found.push(token);
    isNegated = token.kind === "not";
  }
  return found;
}

const textOf = (text: string, { at, length }: Token): string => text.slice(at, at + length);

/** Does the filter demand this term? */
export const hasTerm = (text: string, term: string): boolean =>
  mustHold(text)?.some((it) => textOf(text, it) === term) === true;

/** The filter without that term. */
export function withoutTerm(text: string, term: string): string {
  const found = mustHold(text)?.find((it) => textOf(text, it) === term);
  if (!found) return text.trim();
  const [before, after] = [text.slice(0, found.at), text.slice(found.at + found.length)];
  return `${before.trimEnd()} ${after.trimStart()}`.trim();
}

/** The filter and that term. */
export function withTerm(text: string, term: string): string {
  if (text.trim() === "") return term;
  const whole = mustHold(text) === undefined ? `(${text.trim()})` : text.trim();
  return hasTerm(text, term) ? text : `${whole} ${term}`;
}

/** With the term, and without its rivals; without it where it was there. */
export function toggled(text: string, term: string, rivals: readonly string[] = []): string {
  if (hasTerm(text, term)) return withoutTerm(text, term);
  return withTerm(rivals.reduce(withoutTerm, text), term);
}

/** The demands for a name of an event. */
export const namesIn = (text: string): string[] =>
  (mustHold(text) ?? []).map((it) => textOf(text, it)).filter((it) => it.startsWith("event:"));

export const nameTerm = (name: string): string => `event:${valueText(name)}`;

/** Only what comes after that event. */
const afterTerm = (seq: number): string => `seq:>${seq}`;

/** The filter that shows only what comes after that event; it takes the place of one before. */
export function sinceNow(text: string, seq: number): string {
  const before = (mustHold(text) ?? []).map((it) => textOf(text, it)).filter((it) => /^seq:>\d+$/.test(it));
  return withTerm(before.reduce(withoutTerm, text), afterTerm(seq));
}
