import { demandsOf, withoutTerm, withTerm } from "../../parts/filter-box/terms.ts";

/** The demands for a name of an event. */
export const namesIn = (text: string): string[] => demandsOf(text).filter((it) => it.startsWith("event:"));

/** Only what comes after that event. */
const afterTerm = (seq: number): string => `seq:>${seq}`;

/** The filter that shows only what comes after that event; it takes the place of one before. */
export function sinceNow(text: string, seq: number): string {
  const before = demandsOf(text).filter((it) => /^seq:>\d+$/.test(it));
  return withTerm(before.reduce(withoutTerm, text), afterTerm(seq));
}
