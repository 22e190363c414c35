import { brotliCompressSync, gzipSync } from "node:zlib";
import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import type { Json } from "../../kernel/base/json.ts";
import type { Column, ColumnType, Encoder } from "./columns.ts";
import { brotliOptions, type Compression } from "./targets.ts";

/** A row group ends after this many records, or characters of them. */
const groupRows = 5_000;
const groupSize = 2 * 1024 * 1024;

/** Upstream: times have microseconds, objects are JSON as text, everything may be null. */
const elements: Record<ColumnType, Partial<SchemaElement>> = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  json: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  time: { type: "INT64", converted_type: "TIMESTAMP_MICROS" },
  integer: { type: "INT64" },
  boolean: { type: "BOOLEAN" },
};

const codecs = { gzip: "GZIP", brotli: "BROTLI", snappy: "SNAPPY" } as const;

const compressors = {
  GZIP: (bytes: Uint8Array) => gzipSync(bytes),
  BROTLI: (bytes: Uint8Array) => brotliCompressSync(bytes, brotliOptions),
};

type Cell = string | bigint | boolean | Date | null;

const cells: Record<ColumnType, (value: NonNullable<Json>) => Cell> = {
  text: String,
  json: (value) => JSON.stringify(value),
  time: (value) => new Date(Number(value)),
  integer: (value) => BigInt(Math.trunc(Number(value))),
  boolean: Boolean,
};

const cellOf = <R>({ type, of }: Column<R>, record: R): Cell => {
  const value = of(record);
  return value === null ? null : cells[type](value);
};

/** Names of columns in a Parquet file are unique: of those with one name, the first counts. */
const unique = <R>(columns: readonly Column<R>[]): Column<R>[] =>
  columns.filter(({ name }, i) => columns.findIndex((it) => it.name === name) === i);

export function parquetEncoder<R>(given: readonly Column<R>[], compression: Compression | null): Encoder<R> {
  const columns = unique(given);
  const writer = new ByteWriter();
  const file = new ParquetWriter({
    writer,
    schema: [
      { name: "root", num_children: columns.length },
      ...columns.map(({ name, type }): SchemaElement => ({ name, repetition_type: "OPTIONAL", ...elements[type] })),
    ],
    codec: compression === null ? "UNCOMPRESSED" : codecs[compression],
    compressors,
    createdBy: "phx-sim",
  });
  let data: Cell[][] = columns.map(() => []);
  let size = 0;

  function taken(): Uint8Array {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    return bytes;
  }

  return {
    get isFull() {
      return size >= groupSize || (data[0]?.length ?? 0) >= groupRows;
    },
    add(record) {
      for (const [i, column] of columns.entries()) {
        const cell = cellOf(column, record);
        data[i]?.push(cell);
        size += typeof cell === "string" ? cell.length : 8;
      }
    },
    async take() {
      const rows = data[0]?.length ?? 0;
      const columnData = columns.map(({ name }, i) => ({ name, data: data[i] ?? [] }));
      data = columns.map(() => []);
      size = 0;
      await file.write({ columnData, rowGroupSize: Math.max(rows, 1) });
      return taken();
    },
    async end() {
      await file.finish();
      return taken();
    },
  };
}
