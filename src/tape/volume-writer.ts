import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import { makeFolder } from "../kernel/make-folder.ts";
import { version } from "../kernel/version.ts";
import { type AppendFile, openAppendFile } from "./append-file.ts";
import { formatVersion } from "./header.ts";
import { type Existing, existingTape } from "./reopen.ts";
import { TapeError } from "./tape-error.ts";
import type { Redactor, TapeHeader } from "./types.ts";
import { volumeFile } from "./volumes.ts";

/** What a new tape's header says; all of it has a default. */
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
  new TapeError(`${file} is there already and belongs to another tape`, {
    file,
    hint: "move it away, or record under another name",
  });

export interface VolumeOptions {
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
  if (found) tellResumed(found);

  function tellResumed({ highest }: Existing): void {
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
