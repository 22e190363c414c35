import { readHeader } from "../header.ts";
import { type Place, type ReadOptions, readPlaced } from "../read.ts";
import { readBody } from "../side-files.ts";
import type { Exchange, TapeBody, TapeHeader } from "../types.ts";
import { sideFolder } from "../volumes.ts";

/** A tape: its file, or what is in memory. */
export type DeckSource =
  | string
  | { header: TapeHeader; exchanges: AsyncIterable<Exchange> | Iterable<Exchange> };

/** An exchange, where a file has it, and its request's body, also where that is in a side file. */
interface Found {
  exchange: Exchange;
  place: Place | undefined;
  body: TapeBody | undefined;
}

/** The folder of a tape's side files; undefined: it has none. */
export const sidesOf = (source: DeckSource): string | undefined =>
  typeof source === "string" ? sideFolder(source) : undefined;

/** @throws TapeError when a file cannot be read, is no tape, or of a newer format */
export const headerOf = async (source: DeckSource): Promise<TapeHeader> =>
  typeof source === "string" ? await readHeader(source) : source.header;

/** The exchanges of a source in order. @throws TapeError as `headerOf` does */
export async function* exchangesOf(source: DeckSource, options: ReadOptions = {}): AsyncGenerator<Found> {
  if (typeof source === "string") {
    for await (const { exchange, place } of readPlaced(source, options)) {
      yield { exchange, place, body: await readBody(source, exchange.req.body) };
    }
  } else {
    for await (const exchange of source.exchanges) {
      yield { exchange, place: undefined, body: exchange.req.body };
    }
  }
}
