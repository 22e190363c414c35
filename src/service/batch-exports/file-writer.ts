import { createBrotliCompress, createGzip } from "node:zlib";
import type { Json } from "../../kernel/base/json.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { Column, Encoder } from "./columns.ts";
import type { ExportFileWriter, RunFiles } from "./ports.ts";
import { brotliOptions, type Compression, type ObjectKeys, type Target } from "./targets.ts";

/** The encoder of a format; the code for Parquet is loaded on first use. */
export async function encoderFor<R>(
  { format, compression }: Target,
  columns: readonly Column<R>[],
): Promise<() => Encoder<R>> {
  if (format === "Parquet") {
    const { parquetEncoder } = await import("./parquet.ts");
    return () => parquetEncoder(columns, compression);
  }
  return () => jsonLinesEncoder(columns, compression);
}

export interface WrittenFile {
  key: string;
  records: number;
  bytes: number;
}

interface SplitWriter<R> {
  add(record: R): Promise<void>;
  /** Ends the last file. Returns all of them: none when there was no record. */
  end(): Promise<WrittenFile[]>;
}

interface Options<R> {
  files: RunFiles;
  keys: ObjectKeys;
  encoder: () => Encoder<R>;
  /** Bytes after which a further file is begun. */
  maxBytes: number | null;
}

/** A file is a bit larger than `maxBytes`, as upstream: its size is known when a part of it is written. */
export function createSplitWriter<R>({ files, keys, encoder, maxBytes }: Options<R>): SplitWriter<R> {
  const written: WrittenFile[] = [];
  let open: { to: ExportFileWriter; from: Encoder<R>; about: WrittenFile } | undefined;

  async function begin() {
    const about = { key: keys.file(written.length), records: 0, bytes: 0 };
    open = { to: await files.create(about.key), from: encoder(), about };
    return open;
  }

  async function put({ to, about }: NonNullable<typeof open>, bytes: Uint8Array): Promise<void> {
    about.bytes += bytes.length;
    await to.write(bytes);
  }

  async function endFile(it: NonNullable<typeof open>): Promise<void> {
    await put(it, await it.from.take());
    await put(it, await it.from.end());
    await it.to.close();
    written.push(it.about);
    open = undefined;
  }

  return {
    async add(record) {
      const it = open ?? (await begin());
      it.from.add(record);
      it.about.records++;
      if (!it.from.isFull) return;
      await put(it, await it.from.take());
      if (maxBytes !== null && it.about.bytes > maxBytes) await endFile(it);
    },
    async end() {
      if (open) await endFile(open);
      return written;
    },
  };
}

/** Characters of lines that are compressed, and written, together. */
const chunk = 128 * 1024;

interface Compressor {
  add(bytes: Buffer): Promise<Uint8Array>;
  end(): Promise<Uint8Array>;
}

const nothing = new Uint8Array(0);

const uncompressed: Compressor = { add: async (bytes) => bytes, end: async () => nothing };

const streams: Partial<Record<Compression, () => ReturnType<typeof createGzip | typeof createBrotliCompress>>> = {
  gzip: () => createGzip(),
  brotli: () => createBrotliCompress(brotliOptions),
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

function jsonLinesEncoder<R>(columns: readonly Column<R>[], compression: Compression | null): Encoder<R> {
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
