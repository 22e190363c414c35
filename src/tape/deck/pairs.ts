import type { ReadOptions } from "../read.ts";
import type { Exchange } from "../types.ts";
import { type Aliases, createAliases } from "./aliases.ts";
import { type Ask, bodyValue, recordedAsk } from "./ask.ts";
import { canonical, type Rules } from "./canonical.ts";
import type { Bookmarks } from "./catalog.ts";
import { keyOf, rulesOf } from "./keys.ts";
import { createLibrary, type Library } from "./library.ts";
import { isCapture, pathParts, policyOf } from "./policies.ts";
import { newProgress, type Progress, takeNext } from "./sequence.ts";
import { createShelf, type Shelf } from "./shelf.ts";
import { withSides } from "./side.ts";
import { type DeckSource, exchangesOf, headerOf, sidesOf } from "./source.ts";

/** The same request on two tapes, or one that only one of them has. */
export type Pair =
  /** `equal`: all of the request that counts is the same; `place`: only its method and path, without ids. */
  | { kind: "equal" | "place"; recorded: Exchange; live: Exchange }
  /** A request of the capture family of the second tape, before it is paired. */
  | { kind: "capture"; ask: Ask }
  | { kind: "only_recorded"; recorded: Exchange }
  | { kind: "only_live"; live: Exchange };

/** Two tapes that are compared: `recorded` is the first one, `live` the second. */
export interface Pairing {
  library: Library;
  aliases: Aliases;
  rulesFor(ask: Ask): Rules;
  /**
   * Each exchange of either tape in one pair, in the order of the second tape where it has one. Requests of the capture
   * family are paired by their place only.
   */
  pairs(): AsyncGenerator<Pair>;
}

/** Rows that no equal key pairs, in order, by what a pair has to share at least. */
type Waiting = Map<string, number[]>;

const queued = (waiting: Waiting, name: string, row: number): void => {
  const rows = waiting.get(name);
  if (rows === undefined) waiting.set(name, [row]);
  else rows.push(row);
};

/** Method and path without ids. */
const placeOf = (ask: Ask, rules: Rules): string => `${ask.route} ${canonical(pathParts(ask), rules).text}`;

interface PairOptions extends Pick<ReadOptions, "onProblem"> {
  /** Exchanges that are passed over; those without an answer are on the first tape in any case. */
  leavesOut?: (exchange: Exchange, tape: "first" | "second") => boolean;
}

/** @throws TapeError when the file cannot be read, is no tape, or of a newer format */
async function libraryOf(source: DeckSource, options: PairOptions): Promise<Library> {
  const library = createLibrary({ header: await headerOf(source), sides: sidesOf(source) });
  for await (const { exchange, place, body } of exchangesOf(source, options))
    if (!options.leavesOut?.(exchange, "first")) library.add(exchange, place, body);
  library.lexicon.secrecy.seal();
  return library;
}

/**
 * Pairs the exchanges of two tapes: those with equal keys, the rest by method and path in order. Of files only keys and
 * places stay in memory.
 * @throws TapeError when a file cannot be read, is no tape, or of a newer format
 */
export async function pairTapes(a: DeckSource, b: DeckSource, options: PairOptions = {}): Promise<Pairing> {
  const library = await libraryOf(a, options);
  const progress: Bookmarks & Progress = { spent: new Map(), ...newProgress() };
  const aliases = createAliases(library.isFree);
  const rulesFor = (ask: Ask): Rules => rulesOf(library.lexicon, policyOf(ask));

  /** The row with the same key that is not paired yet; undefined: none. */
  function equalRow(ask: Ask): number | undefined {
    const [tier] = policyOf(ask).tiers;
    if (tier === undefined || isCapture(ask.route)) return undefined;
    const key = keyOf(ask.signed === "any" ? { ...ask, signed: "yes" } : ask, tier, library.lexicon);
    const series = library.requests.find(key, aliases, progress);
    const row = series && takeNext(series, progress, "miss");
    if (series !== undefined && row !== undefined) aliases.bind(series.ids, key.ids);
    return row;
  }

  /** What has no equal is paired by its place; what is left then is on one tape only. */
  function* rest(waiting: Waiting, others: Shelf): Generator<Pair> {
    for (const row of library.rows.keys()) {
      if (progress.used.has(row)) continue;
      const recorded = library.shelf.get(row);
      const ask = recordedAsk(recorded);
      const other = waiting.get(placeOf(ask, rulesFor(ask)))?.shift();
      if (other === undefined) yield { kind: "only_recorded", recorded };
      else yield { kind: "place", recorded, live: others.get(other) };
    }
    for (const row of [...waiting.values()].flat()) yield { kind: "only_live", live: others.get(row) };
  }

  return {
    library,
    aliases,
    rulesFor,
    async *pairs() {
      const waiting: Waiting = new Map();
      const others = createShelf(sidesOf(b));
      let count = 0;
      for await (const { exchange, place, body } of exchangesOf(b, options)) {
        if (options.leavesOut?.(exchange, "second")) continue;
        const ask: Ask = { ...recordedAsk(exchange), body: bodyValue(body) };
        const row = equalRow(ask);
        if (isCapture(ask.route)) yield { kind: "capture", ask };
        if (row !== undefined)
          yield {
            kind: "equal",
            recorded: library.shelf.get(row),
            live: withSides(exchange, sidesOf(b) ?? ""),
          };
        else {
          others.put(exchange, place);
          queued(waiting, placeOf(ask, rulesFor(ask)), count++);
        }
      }
      yield* rest(waiting, others);
    },
  };
}
