import { SimError } from "../kernel/errors.ts";
import type { BatchExport } from "../model/world.ts";
import type { DataInterval } from "./intervals.ts";
import { extensionOf, type Target } from "./target.ts";

/** Names of the files of a run. */
export interface Keys {
  /** @param number from 0 */
  file(number: number): string;
  /** Lists the files where there may be several. */
  readonly manifest: string;
}

const invalid = (problem: string) =>
  new SimError("invalid_input", `An invalid S3 key was provided: ${problem}`);

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
export function keysOf(target: Target, interval: DataInterval, table: BatchExport["model"]): Keys {
  const prefix = filled(target.prefix, variables(interval, table));
  const name = `${pythonTime(interval.data_interval_start)}-${pythonTime(interval.data_interval_end)}`;
  const key = (file: string) => safeKey(`${prefix}/${file}`);
  return {
    file: (number) => key(`${name}${target.maxBytes === null ? "" : `-${number}`}${extensionOf(target)}`),
    manifest: key(`${name}_manifest.json`),
  };
}
