/** Whoever asserts waits so long unless told otherwise, ms: under the test runners' own limit of 5 s. */
export const defaultWait = 4_000;
/** How long it must have been quiet before "no more" counts as true, unless told otherwise, ms. */
export const defaultSettle = 250;
/** The least time that settling gets when the minimums were reached late, ms, besides the quiet itself. */
export const settleGrace = 1_000;
