import { valueText } from "../../../src/state/journal/filter/print.ts";
import { scan, type Token } from "../../../src/state/journal/filter/scan.ts";
import type { Completion, FilterProblem } from "../../../src/state/journal/filter/types.ts";

/** Terms outside parentheses that must hold; undefined if there is an OR. */
function demandsIn(text: string): readonly Token[] | undefined {
  const found: Token[] = [];
  let depth = 0;
  let before: Token["kind"] | undefined;
  for (const token of scan(text).tokens) {
    const { kind } = token;
    if (kind === "or" && depth === 0) return undefined;
    if (kind === "open") depth++;
    else if (kind === "close") depth--;
    else if (depth === 0 && isTerm(token) && before !== "not") found.push(token);
    before = kind;
  }
  return found;
}

const isTerm = ({ kind }: Token): boolean => kind === "term" || kind === "text";

const textOf = (text: string, { at, length }: Token): string => text.slice(at, at + length);

/** The required terms of a filter, as written. */
export const demandsOf = (text: string): string[] => (demandsIn(text) ?? []).map((it) => textOf(text, it));

export const nameTerm = (name: string): string => `event:${valueText(name)}`;

/** True if the filter requires this term. */
export const hasTerm = (text: string, term: string): boolean => demandsOf(text).includes(term);

/** The filter without a term, and without an AND next to it. */
export function withoutTerm(text: string, term: string): string {
  const found = demandsIn(text)?.find((it) => textOf(text, it) === term);
  if (!found) return text.trim();
  const before = text.slice(0, found.at).trimEnd();
  const after = text.slice(found.at + found.length).trimStart();
  const isLast = /(?:^|\s)and$/i.test(before);
  const rest = isLast ? `${before.slice(0, -3)}${after}` : `${before} ${after.replace(/^and\s/i, "")}`;
  return withoutTerm(rest, term);
}

export function withTerm(text: string, term: string): string {
  if (text.trim() === "") return term;
  const whole = demandsIn(text) === undefined ? `(${text.trim()})` : text.trim();
  return hasTerm(text, term) ? text : `${whole} ${term}`;
}

/** Adds the term and removes its alternatives, or removes the term if present. */
export function toggled(text: string, term: string, rivals: readonly string[] = []): string {
  if (hasTerm(text, term)) return withoutTerm(text, term);
  return withTerm(rivals.reduce(withoutTerm, text), term);
}

interface Marked {
  readonly text: string;
  readonly isWrong: boolean;
}

/** The text split at problems, which are underlined. A problem at the end gets a piece of its own. */
export function markedText(text: string, problems: readonly FilterProblem[]): Marked[] {
  const pieces: Marked[] = [];
  let done = 0;
  for (const { at, length } of problems.toSorted((a, b) => a.at - b.at)) {
    const from = Math.max(done, Math.min(at, text.length));
    const to = Math.max(from, Math.min(text.length, at + Math.max(1, length)));
    if (from > done) pieces.push({ text: text.slice(done, from), isWrong: false });
    if (to > from) pieces.push({ text: text.slice(from, to), isWrong: true });
    else if (from === text.length && from === at) pieces.push({ text: " ", isWrong: true });
    done = to;
  }
  if (done < text.length) pieces.push({ text: text.slice(done), isWrong: false });
  return pieces;
}

interface Typed {
  readonly text: string;
  readonly caret: number;
}

/** True for a field name, which a value follows. */
export const isBegun = ({ text }: Completion): boolean => /[:.~]$/.test(text);

/** The text with an accepted completion. */
export function accepted(text: string, offer: Completion): Typed {
  const rest = text.slice(offer.to);
  const end = isBegun(offer) || /^[\s)]/.test(rest) ? "" : " ";
  const before = text.slice(0, offer.from) + offer.text + end;
  return { text: before + rest, caret: before.length };
}

/** The next index in a cycle of `count` items and -1 (none). */
export const nextOf = (index: number, count: number, step: 1 | -1): number =>
  ((index + 1 + step + count + 1) % (count + 1)) - 1;
