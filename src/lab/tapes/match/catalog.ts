import { getOrMake } from "../../../kernel/base/recent-map.ts";
import { digest, type Key } from "./keys.ts";

/** Rows of one shape with the same ids, in the order of the tape. */
export interface Series {
  readonly ids: readonly string[];
  readonly rows: number[];
}

export interface Bookmarks {
  /** Per shape: how many series from the front have no id left to give away. */
  readonly spent: Map<string, number>;
}

/** Most series of one shape that are tried with other secrets: more would make misses slow. */
const mostTried = 1_000;

/** Lines are written when exchanges end; what counts is when they began. */
function insert(rows: number[], row: number, rank: (row: number) => number): void {
  let at = rows.length;
  while (at > 0 && rank(rows[at - 1] ?? row) > rank(row)) at--;
  rows.splice(at, 0, row);
}

/** Rows by key: at once where the ids are known, else the first series whose ids may still be given away. */
export function createCatalog(isFree: (id: string) => boolean, rank: (row: number) => number) {
  const exact = new Map<string, Series>();
  /** Only series with ids: the others are found by their shape. */
  const byShape = new Map<string, Series[]>();
  const known = new Map<string, string>();
  /** One copy of each id: the same ones come in many requests. */
  const shared = (id: string): string => getOrMake(known, id, () => id);
  const keyText = (shape: string, ids: readonly string[]): string =>
    ids.length === 0 ? shape : digest([shape, ...ids].join("\n"));

  const isSpent = ({ ids }: Series, aliases: Aliases): boolean =>
    ids.every((id) => aliases.liveOf(id) !== undefined || !isFree(id));

  /** Series at the front that can fit no other request are skipped for good. */
  const firstUnspent = (shape: string, all: readonly Series[], aliases: Aliases, { spent }: Bookmarks) => {
    let at = spent.get(shape) ?? 0;
    for (let it = all[at]; it !== undefined && isSpent(it, aliases); it = all[at]) at++;
    spent.set(shape, at);
    return at;
  };

  return {
    add({ shape, ids }: Key, row: number) {
      const text = keyText(shape, ids);
      const known = exact.get(text);
      if (known !== undefined) return insert(known.rows, row, rank);
      const series = { ids: ids.map(shared), rows: [row] };
      exact.set(text, series);
      if (ids.length === 0) return;
      getOrMake(byShape, shape, (): Series[] => []).push(series);
    },
    /**
     * The series that a live key means; undefined: none. Where several differ only in their secrets, it is the one of
     * the same secrets, else of those that no other live one stands for, else the first.
     */
    find({ shape, ids }: Key, aliases: Aliases, bookmarks: Bookmarks) {
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
    of: ({ shape, ids }: Key) => exact.get(keyText(shape, ids)),
  };
}

export type Catalog = ReturnType<typeof createCatalog>;

/** Keys, tokens, and what has a placeholder on the tape. */
const isSecret = (id: string): boolean => id.startsWith("s:");

/** `isFree`: true if this recorded id may stand for another live one. */
export function createAliases(isFree: (recorded: string) => boolean) {
  const toLive = new Map<string, string>();
  const toRecorded = new Map<string, string>();
  let differs = false;

  /** Pairs of one request must agree with each other, too. */
  const agrees = (recorded: string, live: string, others: Map<string, string>): boolean => {
    const bound = toLive.get(recorded) ?? others.get(`>${recorded}`);
    const back = toRecorded.get(live) ?? others.get(`<${live}`);
    // Pairs are noted both ways, so that one way shows whether they are each other's.
    if (bound !== undefined || back !== undefined) return bound === live;
    others.set(`>${recorded}`, live).set(`<${live}`, recorded);
    return recorded === live || (recorded.slice(0, 2) === live.slice(0, 2) && isFree(recorded));
  };
  const bindOne = (recorded: string, live: string): void => {
    const isRebound = isSecret(recorded) && isSecret(live);
    if (!isRebound && (toLive.has(recorded) || toRecorded.has(live))) return;
    toLive.set(recorded, live);
    toRecorded.set(live, recorded);
    if (recorded !== live) differs = true;
  };
  return {
    /** True if these recorded ids can be those live ones. `anySecret`: any secret can be any other one. */
    fits(recorded: readonly string[], live: readonly string[], anySecret: boolean = false) {
      if (recorded.length !== live.length) return false;
      const others = new Map<string, string>();
      return recorded.every((it, at) => {
        const other = live[at] ?? "";
        return (anySecret && isSecret(it) && isSecret(other)) || agrees(it, other, others);
      });
    },
    /**
     * Remembers that they are; pairs that contradict what is known are left out. A recorded secret is the one that was
     * sent last in its place: clients may use several keys, and a tape has only one.
     */
    bind(recorded: readonly string[], live: readonly string[]) {
      for (const [at, it] of recorded.entries()) {
        const other = live[at];
        if (other !== undefined) bindOne(it, other);
      }
    },
    liveOf: (recorded: string) => toLive.get(recorded),
    recordedOf: (live: string) => toRecorded.get(live),
    get differs() {
      return differs;
    },
  };
}

/** Which recorded id stands for which live one, for one client: two runs of a program make other UUIDs. */
export type Aliases = ReturnType<typeof createAliases>;

/** What a client gets when all answers to a request were given: the last again, or none. */
export type OnExhausted = "repeat" | "miss";

export interface ReplayProgress {
  readonly used: Set<number>;
  /** Per series: how many rows at the front are used. */
  readonly cursors: Map<Series, number>;
}

export const newProgress = (): ReplayProgress => ({ used: new Set(), cursors: new Map() });

/** The first row that a client has not had, then by `onExhausted`; `fits` leaves out what cannot be given now. */
export function takeNext(
  series: Series,
  { used, cursors }: ReplayProgress,
  onExhausted: OnExhausted,
  fits: (row: number) => boolean = () => true,
): number | undefined {
  const { rows } = series;
  const isUsed = (at: number): boolean => used.has(rows[at] ?? -1);
  let at = cursors.get(series) ?? 0;
  while (at < rows.length && isUsed(at)) at++;
  cursors.set(series, at);
  while (at < rows.length && (isUsed(at) || !fits(rows[at] ?? -1))) at++;
  const row = rows[at] ?? (onExhausted === "repeat" ? rows.findLast(fits) : undefined);
  if (row !== undefined) used.add(row);
  return row;
}
