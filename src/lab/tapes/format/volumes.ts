import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "../../../kernel/base/make-folder.ts";
import { version } from "../../../kernel/base/version.ts";
import { type Bytes, fileBytes } from "../../../kernel/store/bytes.ts";
import { linesOf, repairTail } from "../../../kernel/store/lines.ts";
import { formatVersion, headerIn, isUnborn, type Redactor, type TapeHeader } from "./header.ts";
import { sideFolder, volumeFile } from "./place.ts";
import { sideNames } from "./side-files.ts";
import { TapeError } from "./tape-error.ts";

/** The header of a new tape; each field has a default. */
export type NewHeader = Partial<Pick<TapeHeader, "id" | "created" | "creator" | "upstream" | "noise">>;

/** Writes lines into a tape's files, and starts a new file when one would grow too large. */
export interface VolumeWriter {
  readonly header: TapeHeader;
  /** Number of files. */
  readonly volumes: number;
  /** The highest number of an exchange that the tape already had. */
  readonly highest: number;
  /** @param line Without a line break @returns Bytes written @throws the system's error, or a TapeError */
  write(line: string): number;
  /** Makes the newest file durable. @throws TapeError when it was deleted; the system's error */
  sync(): Promise<void>;
  close(): Promise<void>;
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

/** A value as one line; some editors take U+2028 and U+2029 for line breaks. */
export const lineOf = (value: unknown): string =>
  JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");

interface VolumeOptions {
  header: NewHeader;
  redactor: Redactor;
  maxBytes: number;
  onNotice(text: string): void;
}

/** Opens a tape's last file. @throws TapeError, or the system's error */
export function openVolumes(file: string, options: VolumeOptions): VolumeWriter {
  makeFolder(dirname(file));
  const found = existingTape(file, options.redactor);
  const header = found?.header ?? headerOf(options.header, options.redactor);
  let n = found?.volumes ?? 1;
  /** True while the newest file has only a header: an exchange fits into it, however large. */
  let isFresh = false;
  let target = opened(volumeFile(file, n));
  if (found) reportResumed(found.highest);

  function reportResumed(highest: number): void {
    options.onNotice(`${file} is continued after exchange ${highest}`);
    const { upstream = null } = options.header;
    if (upstream !== header.upstream && upstream !== null)
      options.onNotice(`${file} was begun with ${header.upstream ?? "no upstream"}; it goes on with ${upstream}`);
  }

  function opened(name: string): Bytes {
    const bytes = fileBytes(name);
    repairTail(bytes, name, options.onNotice);
    isFresh = bytes.size === 0;
    if (isFresh) bytes.append(bytesOf(lineOf(n === 1 ? header : { ...header, volume: n })));
    return bytes;
  }

  function rotate(): void {
    const next = volumeFile(file, n + 1);
    if (existsSync(next) && !isUnborn(next))
      throw new TapeError(`${next} exists and belongs to another tape`, {
        file: next,
        hint: "move it away, or record under another name",
      });
    const full = target;
    n++;
    target = opened(next);
    // a failure of the disk shows at the next file as well
    void full
      .sync()
      .catch(() => {})
      .finally(() => full.close());
  }

  async function sync(): Promise<void> {
    // a deleted file accepts writes, which are lost
    const name = volumeFile(file, n);
    if (!existsSync(name))
      throw new TapeError(`${name} was deleted`, { file, hint: "start the recording again; what it had is lost" });
    const synced = target;
    await synced.sync().catch((error: unknown) => {
      // a file that is full was synchronized when it was closed
      if (synced === target) throw error;
    });
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
      return bytes.length;
    },
    sync,
    close: () => sync().finally(() => target.close()),
  };
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

/** Files of the same tape only; one that was cut off before its header was whole counts as one of it. */
function volumesOf(file: string, { id }: TapeHeader): number {
  let n = 1;
  for (let next = volumeFile(file, 2); existsSync(next); next = volumeFile(file, n + 1)) {
    if (!isUnborn(next) && headerIn(next).id !== id) break;
    n++;
  }
  return n;
}

/** Shows the redactor all that is on a tape, so that it goes on where it was. Returns the highest number. */
function readOn(file: string, volumes: number, redactor: Redactor): number {
  let highest = 0;
  for (let n = 1; n <= volumes; n++) {
    const bytes = fileBytes(volumeFile(file, n), "r");
    try {
      for (const line of linesOf(bytes, 0)) {
        const text = line.bytes.toString("utf8");
        highest = Math.max(highest, numberIn(text));
        redactor.reserve?.(text);
      }
    } finally {
      bytes.close();
    }
  }
  const sides = sideFolder(file);
  if (redactor.reserve)
    for (const name of sideNames(sides)) redactor.reserve(readFileSync(join(sides, name), "latin1"));
  return highest;
}

/** How to record with the redaction that a tape has. `--raw` makes `none`. */
function wayTo(profile: string, taped: string): string {
  if (taped === "none") return "record with --raw";
  return `record ${profile === "none" ? "without --raw and " : ""}with --redact ${taped}`;
}

/**
 * What is known of an existing tape; undefined if there is none.
 * @throws TapeError when the file is no tape, of a newer format, or was redacted by other rules than the redactor's
 */
function existingTape(file: string, redactor: Redactor) {
  if (!existsSync(file) || isUnborn(file)) return undefined;
  const header = headerIn(file);
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
  const volumes = volumesOf(file, header);
  return { header, volumes, highest: readOn(file, volumes, redactor) };
}
