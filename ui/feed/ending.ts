import { closing } from "../../src/feed/frames.ts";

/** What the end of a connection means. */
export interface Ending {
  /** For people; null: nothing that they could not see by themselves. */
  readonly why: string | null;
  /** When to connect again: at once, after waiting longer each time, only after the longest wait, or never. */
  readonly again: "at once" | "soon" | "late" | "never";
}

const lost: Ending = { why: null, again: "soon" };

const endings: Readonly<Record<number, Ending>> = {
  [closing.bad_frame]: {
    why: "The sim did not understand this page. It may be of another version: reload the page.",
    again: "late",
  },
  [closing.token_required]: { why: null, again: "never" },
  [closing.stalled]: { why: null, again: "at once" },
  [closing.too_many_messages]: {
    why: "This page asked too much at a time. It goes on in a moment.",
    again: "late",
  },
  [closing.too_many_pages]: {
    why: "Too many pages of this sim are open. Close some: this one connects as soon as there is room.",
    again: "late",
  },
  1001: { why: "The sim was stopped.", again: "soon" },
};

/** What it means that a connection ended with this code. */
export const endingOf = (code: number): Ending => endings[code] ?? lost;

const shortest = 250;
const longest = 5_000;

/**
 * How long to wait before connecting again, ms. Not all pages come back in the same moment.
 * @param tried How often it was tried since the connection was lost
 * @param chance From 0 to 1
 */
export function delayBefore(again: Exclude<Ending["again"], "never">, tried: number, chance: number): number {
  if (again === "at once" && tried === 0) return 0;
  const wait = again === "late" ? longest : Math.min(longest, shortest * 2 ** Math.min(tried, 10));
  return Math.round(wait * (0.75 + chance / 2));
}
