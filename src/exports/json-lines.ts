import { constants, createBrotliCompress, createGzip } from "node:zlib";
import type { Json } from "../kernel/json.ts";
import { wireTime } from "../model/time.ts";
import type { Column } from "./columns.ts";
import type { Encoder } from "./encoder.ts";
import type { Compression } from "./target.ts";

/** Characters of lines that are compressed, and written, together. */
const chunk = 128 * 1024;

/** Compresses a file bit by bit. */
interface Compressor {
  /** What came out of the bytes so far. */
  add(bytes: Buffer): Promise<Uint8Array>;
  end(): Promise<Uint8Array>;
}

const nothing = new Uint8Array(0);

const uncompressed: Compressor = { add: async (bytes) => bytes, end: async () => nothing };

/** The library's default quality of brotli, the best, takes a hundred times as long. */
const brotliQuality = 4;

const streams: Partial<
  Record<Compression, () => ReturnType<typeof createGzip | typeof createBrotliCompress>>
> = {
  gzip: () => createGzip(),
  brotli: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
};

function compressorFor(compression: Compression | null): Compressor {
  const stream = compression === null ? undefined : streams[compression]?.();
  if (!stream) return uncompressed;
  let made: Buffer[] = [];
  stream.on("data", (bytes: Buffer) => made.push(bytes));
  const taken = () => {
    const bytes = Buffer.concat(made);
    made = [];
    return bytes;
  };
  return {
    add: (bytes) =>
      new Promise((resolve, reject) => {
        stream.once("error", reject);
        stream.write(bytes);
        // Flushed, so that the size of the file is known.
        stream.flush(() => {
          stream.off("error", reject);
          resolve(taken());
        });
      }),
    end: () =>
      new Promise((resolve, reject) => {
        stream.once("error", reject);
        stream.once("end", () => resolve(taken()));
        stream.end();
      }),
  };
}

/** A time as the service's JSON has it: ISO 8601 with an offset. */
const timeText = (ms: number): string => wireTime(ms).replace("Z", "+00:00");

const textOf = <R>({ type, of }: Column<R>, record: R): string => {
  const value: Json = of(record);
  return JSON.stringify(type === "time" && typeof value === "number" ? timeText(value) : value);
};

/** One JSON object for each record, and a newline behind it. */
export function jsonLinesEncoder<R>(
  columns: readonly Column<R>[],
  compression: Compression | null,
): Encoder<R> {
  const compressor = compressorFor(compression);
  const fields = columns.map((column, i) => ({
    column,
    before: `${i === 0 ? "{" : ","}${JSON.stringify(column.name)}:`,
  }));
  let lines: string[] = [];
  let length = 0;
  return {
    get isFull() {
      return length >= chunk;
    },
    add(record) {
      let line = "";
      for (const { column, before } of fields) line += before + textOf(column, record);
      lines.push(`${line}}\n`);
      length += line.length + 2;
    },
    take() {
      const bytes = Buffer.from(lines.join(""));
      lines = [];
      length = 0;
      return compressor.add(bytes);
    },
    end: compressor.end,
  };
}
