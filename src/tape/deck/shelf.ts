import { closeSync, openSync, readSync } from "node:fs";
import type { Json } from "../../kernel/json.ts";
import { isExchange } from "../check-exchange.ts";
import type { Place } from "../read.ts";
import { fileTrouble, TapeError } from "../tape-error.ts";
import type { Exchange } from "../types.ts";
import { withSides } from "./side.ts";

/** Where the exchanges of a deck are. */
export interface Shelf {
  /** Keeps the next exchange; its row is how many there were before it. `place`: where a file has it. */
  put(exchange: Exchange, place: Place | undefined): void;
  /** @throws TapeError when the file cannot be read any more, or was changed */
  get(row: number): Exchange;
}

/** The same few are asked for again and again. */
const cached = 16;

/**
 * Exchanges of a file stay there, only their places are kept: a tape may be larger than memory. `sides`: the folder
 * of the tape's side files.
 */
export function createShelf(sides = ""): Shelf {
  const rows: (Exchange | Place)[] = [];
  const recent = new Map<number, Exchange>();
  const remember = (row: number, exchange: Exchange): Exchange => {
    recent.delete(row);
    recent.set(row, exchange);
    const [oldest] = recent.keys();
    if (recent.size > cached && oldest !== undefined) recent.delete(oldest);
    return exchange;
  };
  return {
    put: (exchange, place) => void rows.push(place ?? exchange),
    get(row) {
      const found = rows[row];
      if (found === undefined) throw new RangeError(`no row ${row}`);
      return "req" in found ? found : remember(row, recent.get(row) ?? withSides(readSyncAt(found), sides));
    },
  };
}

function readSyncAt(place: Place): Exchange {
  let value: Json = null;
  try {
    value = JSON.parse(bytesAt(place).toString("utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw fileTrouble(place.file, "read", error);
  }
  if (isExchange(value)) return value;
  throw new TapeError(`${place.file}:${place.line} was changed while it was in use`, {
    file: place.file,
    line: place.line,
    hint: "load the tape again",
  });
}

/** Synchronous: an answer is a few kB that the system has in memory, and a request waits for it anyway. */
function bytesAt({ file, offset, length }: Place): Buffer {
  const fd = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, readSync(fd, buffer, 0, length, offset));
  } finally {
    closeSync(fd);
  }
}
