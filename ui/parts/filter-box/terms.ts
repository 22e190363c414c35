import { valueText } from "../../../src/filter/print.ts";
import { scan, type Token } from "../../../src/filter/scan.ts";

/** What must hold, outside of parentheses. Undefined: there is an OR, none must hold. */
function demandsIn(text: string): readonly Token[] | undefined {
  const found: Token[] = [];
  let depth = 0;
  let before: Token["kind"] | undefined;
  for (const token of scan(text).tokens) {
    const { kind } = token;
    if (kind === "or" && depth === 0) return undefined;
    if (kind === "open") depth++;
    else if (kind === "close") depth--;
    else if (depth === 0 && isSaid(token) && before !== "not") found.push(token);
    before = kind;
  }
  return found;
}

const isSaid = ({ kind }: Token): boolean => kind === "term" || kind === "text";

const textOf = (text: string, { at, length }: Token): string => text.slice(at, at + length);

/** The terms that a filter demands, as they are written. */
export const demandsOf = (text: string): string[] => (demandsIn(text) ?? []).map((it) => textOf(text, it));

/** The term that finds the events with a name. */
export const nameTerm = (name: string): string => `event:${valueText(name)}`;

/** Does the filter demand this term? */
export const hasTerm = (text: string, term: string): boolean => demandsOf(text).includes(term);

/** The filter without that term, however often it is there; an AND beside it goes with it. */
export function withoutTerm(text: string, term: string): string {
  const found = demandsIn(text)?.find((it) => textOf(text, it) === term);
  if (!found) return text.trim();
  const before = text.slice(0, found.at).trimEnd();
  const after = text.slice(found.at + found.length).trimStart();
  const isLast = /(?:^|\s)and$/i.test(before);
  const rest = isLast ? `${before.slice(0, -3)}${after}` : `${before} ${after.replace(/^and\s/i, "")}`;
  return withoutTerm(rest, term);
}

/** The filter and that term. */
export function withTerm(text: string, term: string): string {
  if (text.trim() === "") return term;
  const whole = demandsIn(text) === undefined ? `(${text.trim()})` : text.trim();
  return hasTerm(text, term) ? text : `${whole} ${term}`;
}

/** With the term, and without its rivals; without it where it was there. */
export function toggled(text: string, term: string, rivals: readonly string[] = []): string {
  if (hasTerm(text, term)) return withoutTerm(text, term);
  return withTerm(rivals.reduce(withoutTerm, text), term);
}
