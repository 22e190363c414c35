import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "../../../kernel/base/make-folder.ts";
import { version } from "../../../kernel/base/version.ts";
import { type Bytes, FileBytes } from "../../../kernel/store/bytes.ts";
import { linesOf, repairTail } from "../../../kernel/store/lines.ts";
import { formatVersion, headerIn, isUnborn, type Redactor, type TapeHeader } from "./header.ts";
import { sideFolder } from "./place.ts";
import { sideNames } from "./side-files.ts";
import { TapeError } from "./tape-error.ts";

/** The header of a new tape; each field has a default. */
export type NewHeader = Partial<Pick<TapeHeader, "id" | "created" | "creator" | "upstream" | "noise">>;

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

/** A value as one line; some editors take U+2028 and U+2029 for line breaks. */
export const lineOf = (value: unknown): string =>
  JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");

interface TapeFileOptions {
  header: NewHeader;
  redactor: Redactor;
  onNotice(text: string): void;
}

export class TapeFile {
  readonly header: TapeHeader;
  readonly highest: number;
  readonly #file: string;
  readonly #bytes: Bytes;

  /** Opens a tape; an existing one is continued. @throws TapeError, or the system's error */
  constructor(file: string, { header: given, redactor, onNotice }: TapeFileOptions) {
    makeFolder(dirname(file));
    const found = existingTape(file, redactor);
    this.header = found?.header ?? headerOf(given, redactor);
    this.highest = found?.highest ?? 0;
    this.#file = file;
    this.#bytes = new FileBytes(file);
    repairTail(this.#bytes, file, onNotice);
    if (this.#bytes.size === 0) this.write(lineOf(this.header));
    if (!found) return;
    onNotice(`${file} is continued after exchange ${this.highest}`);
    const { upstream = null } = given;
    if (upstream !== this.header.upstream && upstream !== null)
      onNotice(`${file} was begun with ${this.header.upstream ?? "no upstream"}; it goes on with ${upstream}`);
  }

  /** @param line Without a line break @returns Bytes written @throws the system's error */
  write(line: string): number {
    const bytes = Buffer.from(`${line}\n`);
    this.#bytes.append(bytes);
    return bytes.length;
  }

  /** Makes the file durable. @throws TapeError when it was deleted; the system's error */
  async sync(): Promise<void> {
    const file = this.#file;
    // a deleted file accepts writes, which are lost
    if (!existsSync(file))
      throw new TapeError(`${file} was deleted`, { file, hint: "start the recording again; what it had is lost" });
    await this.#bytes.sync();
  }

  close(): Promise<void> {
    return this.sync().finally(() => this.#bytes.close());
  }
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

/** Shows the redactor all that is on a tape, so that it goes on where it was. Returns the highest number. */
function readOn(file: string, redactor: Redactor): number {
  let highest = 0;
  const bytes = new FileBytes(file, "r");
  try {
    for (const line of linesOf(bytes, 0)) {
      const text = line.bytes.toString("utf8");
      highest = Math.max(highest, numberIn(text));
      redactor.reserve?.(text);
    }
  } finally {
    bytes.close();
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

/** @throws TapeError when the file is no tape, of a newer format, or was redacted by other rules than the redactor's */
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
  return { header, highest: readOn(file, redactor) };
}
