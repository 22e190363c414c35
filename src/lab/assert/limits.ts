// Without zod: the client uses them, too.

/** How long assertions wait by default, ms: less than the test runners' own limit of 5 s. */
export const defaultWait = 4_000;
/** The suite's default wait, ms: `PHX_SIM_WAIT`, else `defaultWait`. @throws RangeError */
export function suiteWait(): number {
  const { PHX_SIM_WAIT: text = "" } = process.env;
  if (text.trim() === "") return defaultWait;
  return checkedWait(Number(text), `PHX_SIM_WAIT="${text}"`);
}

/** @throws RangeError for what is no time to wait */
export function checkedWait(ms: number, given: string): number {
  if (Number.isInteger(ms) && ms >= 0) return ms;
  throw new RangeError(`${given}: expected milliseconds, a whole number from 0`);
}

/** How long it must be quiet by default before "no more" counts as true, ms. */
export const defaultSettle = 250;
/** The least time for settling if the minimums were reached late, ms, in addition to the quiet itself. */
export const settleGrace = 1_000;

export const mostPatterns = 100;
export const mostEvents = 100_000;
export const longestTitle = 1_000;
