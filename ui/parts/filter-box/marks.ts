import type { Completion, FilterProblem } from "../../../src/filter/types.ts";

/** A piece of the filter's text. */
export interface Marked {
  readonly text: string;
  readonly isWrong: boolean;
}

/** The text in pieces, so that what is wrong can be underlined. A mistake at the end gets a place of its own. */
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

/** A text, and where the caret is in it. */
export interface Typed {
  readonly text: string;
  readonly caret: number;
}

/** A name wants its value next; a value is done. */
export const isBegun = ({ text }: Completion): boolean => /[:.~]$/.test(text);

/** The text with what was offered in its place. */
export function accepted(text: string, offer: Completion): Typed {
  const rest = text.slice(offer.to);
  const end = isBegun(offer) || /^[\s)]/.test(rest) ? "" : " ";
  const before = text.slice(0, offer.from) + offer.text + end;
  return { text: before + rest, caret: before.length };
}

/** The next of so many, from `index` on; -1 is none, between the last and the first. */
export const nextOf = (index: number, count: number, step: 1 | -1): number =>
  ((index + 1 + step + count + 1) % (count + 1)) - 1;
