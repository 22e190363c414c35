import type { Series } from "./catalog.ts";

/** What comes when all answers to a request were given: the last again, from the first on, or none. */
export type OnExhausted = "repeat" | "wrap" | "miss";

/** How far a client has come. */
export interface Progress {
  /** Rows that were given to it. */
  readonly used: Set<number>;
  /** Per series: how many rows in front are used. */
  readonly cursors: Map<Series, number>;
  /** Per series: how many rows were given once more. */
  readonly rounds: Map<Series, number>;
}

export const newProgress = (): Progress => ({ used: new Set(), cursors: new Map(), rounds: new Map() });

/**
 * The next row of a series for a client: the first one that it has not had, and then what `onExhausted` says.
 * `fits` leaves out rows that cannot be given now.
 */
export function takeNext(
  series: Series,
  progress: Progress,
  onExhausted: OnExhausted,
  fits: (row: number) => boolean = () => true,
): number | undefined {
  const { rows } = series;
  const { used, cursors } = progress;
  const isUsed = (at: number): boolean => used.has(rows[at] ?? -1);
  let at = cursors.get(series) ?? 0;
  while (at < rows.length && isUsed(at)) at++;
  cursors.set(series, at);
  while (at < rows.length && (isUsed(at) || !fits(rows[at] ?? -1))) at++;
  const row = rows[at] ?? again(series, progress, onExhausted, fits);
  if (row !== undefined) used.add(row);
  return row;
}

function again(
  series: Series,
  { rounds }: Progress,
  onExhausted: OnExhausted,
  fits: (row: number) => boolean,
): number | undefined {
  const { rows } = series;
  if (onExhausted === "miss") return undefined;
  if (onExhausted === "repeat") return rows.findLast(fits);
  const round = rounds.get(series) ?? 0;
  rounds.set(series, round + 1);
  const start = round % rows.length;
  return [...rows.slice(start), ...rows.slice(0, start)].find(fits);
}
