import type { Rate } from "./types.ts";

/** Reads `10` (requests a second) and `2x` (of the recorded pace); undefined for anything else, and for 0. */
export function readRate(text: string): Rate | undefined {
  const [, number, unit] = /^(\d{1,6}(?:\.\d{1,6})?)(x|\/s|rps)?$/i.exec(text) ?? [];
  const value = Number(number);
  if (number === undefined || value === 0) return undefined;
  return unit?.toLowerCase() === "x" ? { factor: value } : { perSecond: value };
}

/**
 * Tells when each request may go, ms since the epoch: as often as the rate allows, or as far from the first one as
 * it was recorded. `at`: when it was recorded.
 */
export function createPace(rate: Rate | undefined): (at: number, now: number) => number {
  if (rate === undefined) return (_, now) => now;
  if ("perSecond" in rate) {
    let next = Number.NEGATIVE_INFINITY;
    return (_, now) => {
      const due = Math.max(now, next);
      next = due + 1000 / rate.perSecond;
      return due;
    };
  }
  let first: { at: number; now: number } | undefined;
  return (at, now) => {
    first ??= { at, now };
    return first.now + Math.max(0, at - first.at) / rate.factor;
  };
}
