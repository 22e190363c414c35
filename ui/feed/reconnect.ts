import { closing } from "../../src/state/journal/feed/frames.ts";

/** Consequences of a closed connection. */
export interface Ending {
  /** Shown to the user; null: obvious. */
  readonly why: string | null;
  /** When to reconnect: immediately, with backoff, only after the longest wait, or never. */
  readonly again: "immediately" | "soon" | "late" | "never";
}

const lost: Ending = { why: null, again: "soon" };

const endings: Readonly<Record<number, Ending>> = {
  [closing.bad_frame]: { why: "The sim and this page have different versions: reload the page.", again: "late" },
  [closing.token_required]: { why: null, again: "never" },
  [closing.stalled]: { why: null, again: "immediately" },
  [closing.too_many_messages]: { why: "This page sent too many requests. It resumes soon.", again: "late" },
  [closing.too_many_pages]: { why: "Too many pages of this sim are open: close some.", again: "late" },
  1001: { why: "The sim was stopped.", again: "soon" },
};

/** Consequences of a close code. */
export const endingOf = (code: number): Ending => endings[code] ?? lost;

const shortest = 250;
const longest = 5_000;

/**
 * Delay before reconnecting, ms, randomised so that pages do not reconnect at the same time.
 * @param tried Attempts since the connection was lost
 * @param chance From 0 to 1
 */
export function delayBefore(again: Exclude<Ending["again"], "never">, tried: number, chance: number): number {
  if (again === "immediately" && tried === 0) return 0;
  const wait = again === "late" ? longest : Math.min(longest, shortest * 2 ** Math.min(tried, 10));
  return Math.round(wait * (0.75 + chance / 2));
}
