import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../../base/make-folder.ts";
import { version } from "../../base/version.ts";
import {
  formatVersion,
  isUnborn,
  maxHeader,
  parseHeader,
  type Redactor,
  startOf,
  type TapeHeader,
} from "./header.ts";
import { sideFolder, volumeFile } from "./place.ts";
import { sideTexts } from "./side-files.ts";
import { TapeError } from "./tape-error.ts";

/** The header of a new tape; all of it has a default. */
export type NewHeader = Partial<Pick<TapeHeader, "id" | "created" | "creator" | "upstream" | "noise">>;

/** Writes lines into a tape's files, a new file when one grew too large. */
export interface VolumeWriter {
  readonly header: TapeHeader;
  /** How many files it has. */
  readonly volumes: number;
  /** The highest number of an exchange that was there already. */
  readonly highest: number;
  /** A text without a line break. @throws the system's error, or a TapeError */
  write(line: string): void;
  current(): AppendFile;
}

const headerOf = (given: NewHeader, { profile, rules }: Redactor): TapeHeader => ({
  tape: formatVersion,
  id: given.id ?? randomUUID(),
  created: given.created ?? new Date().toISOString(),
  creator: given.creator ?? `phx-sim/${version}`,
  upstream: given.upstream ?? null,
  redaction: profile,
  noise: given.noise ?? [],
  ...(rules && { rules }),
});

const bytesOf = (line: string): Buffer => Buffer.from(`${line}\n`);

/** U+2028 and U+2029 are no line breaks in NDJSON, but editors take them for some. */
export const lineOf = (value: unknown): string =>
  JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");

const occupied = (file: string): TapeError =>
  new TapeError(`${file} exists and belongs to another tape`, {
    file,
    hint: "move it away, or record under another name",
  });

interface VolumeOptions {
  header: NewHeader;
  redactor: Redactor;
  maxBytes: number;
  onNotice(text: string): void;
}

/** Opens a tape's last file. @throws TapeError, or the system's error */
export function openVolumes(file: string, options: VolumeOptions): VolumeWriter {
  makeFolder(dirname(file));
  const found: Existing | undefined = existingTape(file, options.redactor);
  const header = found?.header ?? headerOf(options.header, options.redactor);
  let n = found?.last.n ?? 1;
  /** Has the newest file a header and no more? Then an exchange fits into it, however large. */
  let isFresh = false;
  let target = opened(volumeFile(file, n));
  if (found) reportResumed(found);

  function reportResumed({ highest }: Existing): void {
    options.onNotice(`${file} is continued after exchange ${highest}`);
    const { upstream = null } = options.header;
    if (upstream !== header.upstream && upstream !== null)
      options.onNotice(
        `${file} was begun with ${header.upstream ?? "no upstream"}; it goes on with ${upstream}`,
      );
  }

  function opened(name: string): AppendFile {
    const appended = openAppendFile(name, (bytes) =>
      options.onNotice(`${name}: cut off ${bytes} bytes of an unfinished last line (a crash while writing)`),
    );
    isFresh = appended.size === 0;
    if (isFresh) appended.append(bytesOf(lineOf(n === 1 ? header : { ...header, volume: n })));
    return appended;
  }

  function rotate(): void {
    const next = volumeFile(file, n + 1);
    const probe = openAppendFile(next, () => {});
    const isTaken = probe.size > 0;
    probe.close();
    if (isTaken) throw occupied(next);
    const full = target;
    n++;
    target = opened(next);
    full.close();
  }

  return {
    header,
    highest: found?.highest ?? 0,
    get volumes() {
      return n;
    },
    write(line) {
      const bytes = bytesOf(line);
      if (target.size + bytes.length > options.maxBytes && !isFresh) rotate();
      target.append(bytes);
      isFresh = false;
    },
    current: () => target,
  };
}

const newline = 0x0a;
const chunkSize = 1024 * 1024;

/** A file that only grows, a whole piece at a time. */
interface AppendFile {
  readonly size: number;
  /** Was the file deleted? Then what is written to it is lost. */
  isGone(): boolean;
  /** All of it, or nothing. @throws the system's error */
  append(bytes: Buffer): void;
  /** Has everything on the disk when it calls back. */
  sync(done: (error: Error | null) => void): void;
  close(): void;
}

/** Offset after the last line break; what follows it is an unfinished line. */
function endOfLines(fd: number, size: number): number {
  const chunk = Buffer.alloc(Math.min(chunkSize, size));
  for (let end = size; end > 0; end -= chunkSize) {
    const from = Math.max(0, end - chunkSize);
    const found = chunk.subarray(0, readSync(fd, chunk, 0, end - from, from)).lastIndexOf(newline);
    if (found !== -1) return from + found + 1;
  }
  return 0;
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** A full disk may take a part of a line: that part goes, so that the file ends with a whole one. */
function cutBack(fd: number, size: number): void {
  try {
    ftruncateSync(fd, size);
  } catch {
    // The next opening repairs it; the first failure is the one reported.
  }
}

/**
 * Opens a file for appending, and creates it where needed. An unfinished last line (a crash while writing) is cut off;
 * `onCut` gets the number of bytes. @throws the system's error
 */
function openAppendFile(file: string, onCut: (bytes: number) => void): AppendFile {
  const fd = openSync(file, "a+", 0o600);
  let size = fstatSync(fd).size;
  const end = endOfLines(fd, size);
  if (end < size) {
    ftruncateSync(fd, end);
    onCut(size - end);
    size = end;
  }
  return {
    get size() {
      return size;
    },
    isGone: () => fstatSync(fd).nlink === 0,
    append(bytes) {
      try {
        writeAll(fd, bytes);
        size += bytes.length;
      } catch (error) {
        cutBack(fd, size);
        throw error;
      }
    },
    sync: (done) => fdatasync(fd, done),
    close() {
      try {
        fdatasyncSync(fd);
      } finally {
        closeSync(fd);
      }
    },
  };
}

/** The lines of a file as text, read in chunks; what follows the last line break is left out. */
function* wholeLines(file: string): Generator<string> {
  const fd = openSync(file, "r");
  try {
    let rest: Buffer = Buffer.alloc(0);
    const chunk = Buffer.alloc(chunkSize);
    for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk)) {
      const bytes = Buffer.concat([rest, chunk.subarray(0, read)]);
      let start = 0;
      for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
        yield bytes.toString("utf8", start, end);
        start = end + 1;
      }
      rest = bytes.subarray(start);
    }
  } finally {
    closeSync(fd);
  }
}

/** An existing tape that is continued. */
interface Existing {
  header: TapeHeader;
  /** The last volume's file and number. */
  last: { file: string; n: number };
  /** The highest number that an exchange has. */
  highest: number;
}

/** Our writer puts the number first; a line of another writer's is parsed. */
function numberIn(line: string): number {
  const [, first] = /^\{"i":(\d{1,15})[,}]/.exec(line) ?? [];
  if (first !== undefined) return Number(first);
  try {
    const value: unknown = JSON.parse(line);
    const i = typeof value === "object" && value !== null && "i" in value ? value.i : 0;
    return typeof i === "number" && Number.isSafeInteger(i) ? i : 0;
  } catch {
    return 0;
  }
}

/** Files of the same tape only; one that was cut off before its header was whole counts as ours. */
function lastVolume(file: string, { id }: TapeHeader): number {
  let n = 1;
  for (let next = volumeFile(file, 2); existsSync(next); next = volumeFile(file, n + 1)) {
    if (!isUnborn(next) && parseHeader(next, firstLine(next)).id !== id) break;
    n++;
  }
  return n;
}

/** Everything that is on a tape already, so that its redactor goes on where it was. */
function readOn(file: string, last: number, redactor: Redactor): number {
  let highest = 0;
  for (let n = 1; n <= last; n++) {
    for (const line of wholeLines(volumeFile(file, n))) {
      highest = Math.max(highest, numberIn(line));
      redactor.reserve?.(line);
    }
  }
  if (redactor.reserve) for (const text of sideTexts(sideFolder(file))) redactor.reserve(text);
  return highest;
}

const firstLine = (file: string): string => startOf(file, maxHeader).split("\n", 1)[0] ?? "";

/** How to record with the redaction that a tape has. `none` is what --raw comes to. */
function wayTo(profile: string, taped: string): string {
  if (taped === "none") return "record with --raw";
  return `record ${profile === "none" ? "without --raw and " : ""}with --redact ${taped}`;
}

/**
 * What is known of an existing tape; undefined if there is none.
 * @throws TapeError when the file is no tape, of a newer format, or was redacted by other rules than the redactor's
 */
function existingTape(file: string, redactor: Redactor): Existing | undefined {
  if (!existsSync(file) || isUnborn(file)) return undefined;
  const header = parseHeader(file, firstLine(file));
  if (header.redaction !== redactor.profile) {
    throw new TapeError(`${file} was redacted by the rules ${header.redaction}, not by ${redactor.profile}`, {
      file,
      line: 1,
      hint: `${wayTo(redactor.profile, header.redaction)}, or to another tape`,
    });
  }
  if (JSON.stringify(header.rules ?? {}) !== JSON.stringify(redactor.rules ?? {})) {
    throw new TapeError(`${file} was redacted by other rules of your own than those in force`, {
      file,
      line: 1,
      hint: "record to another tape, or with the same redaction rules",
    });
  }
  const n = lastVolume(file, header);
  return { header, last: { file: volumeFile(file, n), n }, highest: readOn(file, n, redactor) };
}
