import { constants } from "node:zlib";
import { SimError } from "../../kernel/base/errors.ts";
import { type Json, own } from "../../kernel/base/json.ts";
import type { BatchExport } from "../../state/documents/world.ts";
import type { DataInterval } from "./schedules.ts";

export type Compression = "gzip" | "brotli" | "snappy";

export interface Target {
  readonly format: "JSONLines" | "Parquet";
  readonly compression: Compression | null;
  /** The beginning of each file's key, with variables in it. */
  readonly prefix: string;
  /** Bytes after which a further file is begun; null: one file. */
  readonly maxBytes: number | null;
}

/** What this process can compress; upstream has zstd and lz4, too, for Parquet. */
const compressions = { JSONLines: ["gzip", "brotli"], Parquet: ["gzip", "brotli", "snappy"] } as const;

/** The library's default quality of brotli, the best, takes a hundred times as long. */
export const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

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

/** Destinations other than S3 get JSON lines. @throws SimError not_emulated */
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

const extensionOf = ({ format, compression }: Target): string =>
  `.${extensions[format]}${compression === null ? "" : suffixes[compression]}`;

export interface ObjectKeys {
  file(number: number): string;
  /** Lists the files where there may be several. */
  readonly manifest: string;
}

const invalid = (problem: string) => new SimError("invalid_input", `An invalid S3 key was provided: ${problem}`);

/** A wire time as Python writes it, which is how the service's keys have it. */
const pythonTime = (time: string | null): string => time?.replace("Z", "+00:00") ?? "None";

function variables(interval: DataInterval, table: BatchExport["model"]): ReadonlyMap<string, string> {
  const end = interval.data_interval_end;
  return new Map([
    ["year", end.slice(0, 4)],
    ["month", end.slice(5, 7)],
    ["day", end.slice(8, 10)],
    ["hour", end.slice(11, 13)],
    ["minute", end.slice(14, 16)],
    ["second", end.slice(17, 19)],
    ["data_interval_start", pythonTime(interval.data_interval_start)],
    ["data_interval_end", pythonTime(end)],
    ["table", table],
  ]);
}

const doubled: ReadonlyMap<string, string> = new Map([
  ["{{", "{"],
  ["}}", "}"],
]);

/** The prefix with its variables filled in, by the rules of Python's `str.format`. @throws SimError invalid_input */
function filled(prefix: string, values: ReadonlyMap<string, string>): string {
  return prefix.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (found, name: string | undefined) => {
    const text = doubled.get(found) ?? (name === undefined ? undefined : values.get(name));
    if (text === undefined) throw invalid(`the prefix has no such variable: ${found}`);
    return text;
  });
}

// Control characters, NUL among them, and what other systems take for the end of a folder's name.
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is meant
const unsafe = /[\u0000-\u001f\u007f\\]/g;

const longestPart = 255;
const longestKey = 1024;

/**
 * A key that stays below its folder whatever the prefix says: empty parts and `.` are left out, `..` becomes `__`.
 * @throws SimError invalid_input when it is longer than a bucket or a file system takes
 */
export function safeKey(key: string): string {
  const parts = key
    .split("/")
    .map((part) => part.replace(unsafe, "_"))
    .filter((part) => part !== "" && part !== ".")
    .map((part) => (part === ".." ? "__" : part));
  const safe = parts.join("/");
  const isTooLong = parts.some((part) => Buffer.byteLength(part) > longestPart);
  if (isTooLong || Buffer.byteLength(safe) > longestKey) throw invalid("it is too long");
  return safe;
}

/**
 * The keys of a run's files: `<prefix>/<interval start>-<interval end>.jsonl.gz`, numbered where the size is limited.
 * Upstream: `get_s3_key`.
 * @throws SimError invalid_input for a prefix that cannot be filled in
 */
export function keysOf(target: Target, interval: DataInterval, table: BatchExport["model"]): ObjectKeys {
  const prefix = filled(target.prefix, variables(interval, table));
  const name = `${pythonTime(interval.data_interval_start)}-${pythonTime(interval.data_interval_end)}`;
  const key = (file: string) => safeKey(`${prefix}/${file}`);
  return {
    file: (number) => key(`${name}${target.maxBytes === null ? "" : `-${number}`}${extensionOf(target)}`),
    manifest: key(`${name}_manifest.json`),
  };
}
