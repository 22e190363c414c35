import { numberIn } from "../../app/route.ts";
import { demandsOf, withoutTerm, withTerm } from "../../parts/filter-box/filter-text.ts";

/** The events in the page's address: `12`, or `12/compare/15`. */
export interface Place {
  readonly seq: number | undefined;
  /** The event to compare with. */
  readonly other: number | undefined;
}

export function placeOf([first, word, second]: readonly string[]): Place {
  const seq = numberIn(first);
  return { seq, other: seq !== undefined && word === "compare" ? numberIn(second) : undefined };
}

/** Required terms for an event name. */
export const namesIn = (text: string): string[] => demandsOf(text).filter((it) => it.startsWith("event:"));

const afterTerm = (seq: number): string => `seq:>${seq}`;

/** The filter restricted to events after `seq`, replacing such a restriction. */
export function sinceNow(text: string, seq: number): string {
  const before = demandsOf(text).filter((it) => /^seq:>\d+$/.test(it));
  return withTerm(before.reduce(withoutTerm, text), afterTerm(seq));
}
