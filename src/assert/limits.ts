// Without zod: the client uses them, too.

/** How long assertions wait by default, ms: less than the test runners' own limit of 5 s. */
export const defaultWait = 4_000;
/** How long it must be quiet by default before "no more" counts as true, ms. */
export const defaultSettle = 250;
/** The least time for settling if the minimums were reached late, ms, in addition to the quiet itself. */
export const settleGrace = 1_000;

/** Limits of one call. */
export const mostPatterns = 100;
export const mostEvents = 100_000;
export const longestTitle = 1_000;
