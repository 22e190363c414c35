import { type Aliases, isSecret } from "./aliases.ts";
import { digest, type Key } from "./keys.ts";

/** Rows of one shape with the same ids, in the order of the tape. */
export interface Series {
  readonly ids: readonly string[];
  readonly rows: number[];
}

/** What one client has seen of a catalog. */
export interface Bookmarks {
  /** Per shape: how many series from the front have no id left to give away. */
  readonly spent: Map<string, number>;
}

export interface Catalog {
  add(key: Key, row: number): void;
  /**
   * The series that a live key means; undefined: none. Where several differ only in their secrets, it is the one of
   * the same secrets, else of those that no other live one stands for, else the first.
   */
  find(key: Key, aliases: Aliases, bookmarks: Bookmarks): Series | undefined;
  /** The series of a recorded key. */
  of(key: Key): Series | undefined;
}

/** So many series of one shape are tried with other secrets: more would only make misses slow. */
const mostTried = 1_000;

/** Lines are written when exchanges end; what counts is when they began. */
function insert(rows: number[], row: number, rank: (row: number) => number): void {
  let at = rows.length;
  while (at > 0 && rank(rows[at - 1] ?? row) > rank(row)) at--;
  rows.splice(at, 0, row);
}

/**
 * Finds rows by key: at once where the ids are known, else the first series whose ids may still be given away.
 * `rank`: order of the rows within a series.
 */
export function createCatalog(isFree: (id: string) => boolean, rank: (row: number) => number): Catalog {
  const exact = new Map<string, Series>();
  /** Only series with ids: the others are found by their shape. */
  const byShape = new Map<string, Series[]>();
  const known = new Map<string, string>();
  /** One copy of each id: the same ones come in many requests. */
  const shared = (id: string): string => {
    if (!known.has(id)) known.set(id, id);
    return known.get(id) ?? id;
  };
  const keyText = (shape: string, ids: readonly string[]): string =>
    ids.length === 0 ? shape : digest([shape, ...ids].join("\n"));

  const isSpent = ({ ids }: Series, aliases: Aliases): boolean =>
    ids.every((id) => aliases.liveOf(id) !== undefined || !isFree(id));

  /** Series in front that can fit nobody else any more are passed for good. */
  const firstUnspent = (shape: string, all: readonly Series[], aliases: Aliases, { spent }: Bookmarks) => {
    let at = spent.get(shape) ?? 0;
    for (let it = all[at]; it !== undefined && isSpent(it, aliases); it = all[at]) at++;
    spent.set(shape, at);
    return at;
  };

  return {
    add({ shape, ids }, row) {
      const text = keyText(shape, ids);
      const known = exact.get(text);
      if (known !== undefined) return insert(known.rows, row, rank);
      const series = { ids: ids.map(shared), rows: [row] };
      exact.set(text, series);
      if (ids.length === 0) return;
      const all = byShape.get(shape);
      if (all === undefined) byShape.set(shape, [series]);
      else all.push(series);
    },
    find({ shape, ids }, aliases, bookmarks) {
      const named = exact.get(
        keyText(
          shape,
          ids.map((id) => aliases.recordedOf(id) ?? id),
        ),
      );
      if (named !== undefined && aliases.fits(named.ids, ids, true)) return named;
      const all = byShape.get(shape);
      if (all === undefined) return undefined;
      const isKnown = ids.every((id) => aliases.recordedOf(id) !== undefined);
      const start = isKnown ? all.length : firstUnspent(shape, all, aliases, bookmarks);
      for (let at = start; at < all.length; at++) {
        const series = all[at];
        if (series !== undefined && aliases.fits(series.ids, ids)) return series;
      }
      if (!ids.some(isSecret)) return undefined;
      return all.slice(0, mostTried).find((series) => aliases.fits(series.ids, ids, true));
    },
    of: ({ shape, ids }) => exact.get(keyText(shape, ids)),
  };
}
