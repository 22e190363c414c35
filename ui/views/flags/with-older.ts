import type { Decision } from "./answers.ts";

/** The newest, then those of the older ones that are older: the newest are read again and again. */
export function withOlder(newest: readonly Decision[], older: readonly Decision[]): readonly Decision[] {
  const last = newest.at(-1)?.request ?? Number.POSITIVE_INFINITY;
  return [...newest, ...older.filter((it) => it.request < last)];
}
