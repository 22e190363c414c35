import { SimError } from "../kernel/errors.ts";
import { type Json, own } from "../kernel/json.ts";
import type { BatchExport } from "../model/world.ts";

export type Compression = "gzip" | "brotli" | "snappy";

/** How an export's files are written. */
export interface Target {
  readonly format: "JSONLines" | "Parquet";
  readonly compression: Compression | null;
  /** The beginning of each file's key, with variables in it. */
  readonly prefix: string;
  /** Bytes after which a further file is begun; null: one file. */
  readonly maxBytes: number | null;
}

/** What this process can compress; upstream has zstd and lz4, too, for Parquet. */
const compressions = {
  JSONLines: ["gzip", "brotli"],
  Parquet: ["gzip", "brotli", "snappy"],
} as const;

const extensions = { JSONLines: "jsonl", Parquet: "parquet" } as const;
const suffixes = { gzip: ".gz", brotli: ".br", snappy: ".sz" } as const;

const megabyte = 1024 * 1024;

const plain: Target = { format: "JSONLines", compression: null, prefix: "", maxBytes: null };

function unsupported(what: string, value: Json): SimError {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return new SimError("not_emulated", `The ${what} ${text} is not emulated: phx-sim cannot write it.`);
}

const isFormat = (value: Json): value is Target["format"] => value === "JSONLines" || value === "Parquet";

function compressionOf(format: Target["format"], value: Json): Compression | null {
  if (value === null || value === "") return null;
  const found = compressions[format].find((it) => it === value);
  if (!found) throw unsupported(`compression of ${format} files`, value);
  return found;
}

function maxBytesOf(value: Json): number | null {
  const megabytes = typeof value === "number" || typeof value === "string" ? Number(value) : 0;
  return megabytes > 0 ? megabytes * megabyte : null;
}

/**
 * What the destination says about files. Those that are no S3 bucket get JSON lines.
 * @throws SimError not_emulated for a format or compression that cannot be written here
 */
export function targetOf({ type, config }: BatchExport["destination"]): Target {
  if (type !== "S3") return plain;
  const format = own(config, "file_format") ?? plain.format;
  if (!isFormat(format)) throw unsupported("file format", format);
  const prefix = own(config, "prefix");
  return {
    format,
    compression: compressionOf(format, own(config, "compression") ?? null),
    prefix: typeof prefix === "string" ? prefix : "",
    maxBytes: maxBytesOf(own(config, "max_file_size_mb") ?? null),
  };
}

/** End of a file's name, e.g. `.jsonl.gz`. */
export const extensionOf = ({ format, compression }: Target): string =>
  `.${extensions[format]}${compression === null ? "" : suffixes[compression]}`;
