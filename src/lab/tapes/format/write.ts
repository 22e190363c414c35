import { dirname, resolve } from "node:path";
import { makeFolder } from "../../../kernel/base/make-folder.ts";
import { clearTimeout, setTimeout } from "../../../kernel/base/real-time.ts";
import type { Exchange } from "./exchange.ts";
import { isSound, wrongField } from "./exchange-shape.ts";
import type { Redactor, TapeHeader } from "./header.ts";
import { sideFolder } from "./place.ts";
import { type RawExchange, toExchange } from "./raw-exchange.ts";
import { lockTape } from "./replace.ts";
import { globs } from "./routes.ts";
import { inlineLimit, withBodiesAside } from "./side-files.ts";
import { fileTrouble } from "./tape-error.ts";
import { lineOf, type NewHeader, TapeFile } from "./tape-file.ts";

export interface TapeWriterOptions {
  redactor: Redactor;
  header?: NewHeader;
  /** Globs over the path. Only what fits one of `include` (default: all) and none of `exclude` is written. */
  include?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
  /** Largest decoded body, in bytes, default 32 MB; larger ones are left out. */
  bodyLimit?: number;
  onTrouble?: (trouble: TapeTrouble) => void;
  onNotice?: (text: string) => void;
}

export interface TapeTrouble {
  detail: string;
  hint: string;
  /** True if the recording has ended; else only one exchange is missing. */
  isOver: boolean;
}

/** What one writer wrote; a tape that existed before has more. */
export interface TapeSummary {
  file: string;
  exchanges: number;
  /** Cut off, or without an answer. */
  incomplete: number;
  /** On the tape, without side files. */
  bytes: number;
  /** Places where secrets were. */
  redactions: number;
  excluded: number;
  lost: number;
  trouble?: TapeTrouble;
}

const defaultBodyLimit = 32 * 1024 * 1024;

/** Redacted and checked: what a reader would refuse must not get onto a tape. */
function cleaned(exchange: Exchange, redactor: Redactor): Exchange {
  const clean = redactor.redact(exchange);
  const wrong = isSound(clean) ? undefined : wrongField(clean);
  if (wrong !== undefined) throw new TypeError(`it has no valid \`${wrong}\``);
  return clean;
}

/** Recordings of screens are large, and no replay needs them. */
function withoutRecording(exchange: Exchange): Exchange {
  const { req } = exchange;
  if (exchange.route !== "recordings" || req.body === undefined) return exchange;
  const { bytes } = req.wire;
  return { ...exchange, req: { ...req, body: { omitted: "excluded", bytes }, wire: { bytes, encodings: [] } } };
}

/** What is written may wait this long for the disk: a killed process loses nothing, a power cut does, ms. */
const syncAfterMs = 250;

/** Each exchange is one line, redacted and written at once; large bodies go to side files first. */
export class TapeWriter {
  readonly file: string;
  readonly header: TapeHeader;
  readonly #options: TapeWriterOptions;
  readonly #isIncluded: (url: string) => boolean;
  readonly #isExcluded: (url: string) => boolean;
  readonly #tape: TapeFile;
  readonly #release: () => void;
  readonly #counts = { exchanges: 0, incomplete: 0, bytes: 0, redactions: 0, excluded: 0, lost: 0 };
  /** Each kind once, by `isOver`: a full disk fails every request. */
  readonly #troubles = new Map<boolean, TapeTrouble>();
  #highest: number;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #syncing: Promise<void> = Promise.resolve();

  /** An existing tape is continued. @throws TapeError: other rules or writer, no tape; TypeError: an empty glob */
  constructor(name: string, options: TapeWriterOptions) {
    const { include = [], exclude = [], header = {}, redactor, onNotice = () => {} } = options;
    this.file = resolve(name);
    this.#options = options;
    this.#isIncluded = include.length > 0 ? globs(include) : () => true;
    this.#isExcluded = globs(exclude);
    let release = () => {};
    try {
      makeFolder(dirname(this.file));
      release = lockTape(this.file);
      this.#tape = new TapeFile(this.file, { header, redactor, onNotice });
    } catch (error) {
      release();
      throw fileTrouble(this.file, "recorded on", error);
    }
    this.#release = release;
    this.header = this.#tape.header;
    this.#highest = this.#tape.highest;
  }

  get summary(): TapeSummary {
    const { trouble } = this;
    return { file: this.file, ...this.#counts, ...(trouble && { trouble }) };
  }

  /** What ended the recording, else the first exchange that was lost. */
  get trouble(): TapeTrouble | undefined {
    return this.#troubles.get(true) ?? this.#troubles.get(false);
  }

  /** A number for a request that has just arrived; without one exchanges are numbered in the order they end. */
  arrive(): number {
    return ++this.#highest;
  }

  /** Writes an exchange that is over, complete or not. Never throws: problems are reported to `onTrouble`. */
  append(raw: RawExchange, i: number = this.arrive()): void {
    const { bodyLimit = defaultBodyLimit } = this.#options;
    this.#take(raw.url, () => toExchange(raw, { i, bodyLimit }));
  }

  /** Writes an exchange that is decoded already; it is redacted as well. */
  appendDecoded(exchange: Exchange): void {
    this.#highest = Math.max(this.#highest, exchange.i);
    this.#take(exchange.req.url, () => exchange);
  }

  /** Resolves when everything is on the disk, or trouble was reported. */
  flush(): Promise<void> {
    return this.#isClosed ? Promise.resolve() : this.#sync();
  }

  async close(): Promise<TapeSummary> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      clearTimeout(this.#timer);
      await this.#syncing.then(() => this.#tape.close()).catch((error) => this.#report(error, true));
      this.#release();
    }
    return this.summary;
  }

  #sync(): Promise<void> {
    this.#syncing = this.#syncing.then(() => this.#tape.sync()).catch((error) => this.#report(error, true));
    return this.#syncing;
  }

  #take(url: string, make: () => Exchange): void {
    if (!this.#isIncluded(url) || this.#isExcluded(url)) {
      this.#counts.excluded++;
      return;
    }
    let exchange: Exchange | undefined;
    try {
      if (this.#isClosed || this.trouble?.isOver) this.#counts.lost++;
      else {
        exchange = cleaned(withoutRecording(make()), this.#options.redactor);
        this.#write(exchange);
      }
    } catch (error) {
      this.#counts.lost++;
      this.#report(error, exchange !== undefined);
    }
  }

  #write(exchange: Exchange): void {
    const whole = lineOf(exchange);
    const isLarge = Buffer.byteLength(whole) > inlineLimit;
    this.#counts.bytes += this.#tape.write(isLarge ? lineOf(withBodiesAside(exchange, sideFolder(this.file))) : whole);
    this.#counts.exchanges++;
    this.#counts.redactions += exchange.redacted.length;
    if (!exchange.complete) this.#counts.incomplete++;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#sync();
    }, syncAfterMs).unref();
  }

  /** @param isOver True if nothing more can be written; else one exchange is lost */
  #report(error: unknown, isOver: boolean): void {
    if (this.#troubles.has(isOver)) return;
    const trouble = troubleOf(this.file, error, isOver);
    this.#troubles.set(isOver, trouble);
    this.#options.onTrouble?.(trouble);
  }
}

function troubleOf(file: string, error: unknown, isOver: boolean): TapeTrouble {
  if (isOver) {
    const { message, hint } = fileTrouble(file, "written", error);
    return { detail: `recording has stopped: ${message}`, hint, isOver };
  }
  const reason = error instanceof Error ? error.message : String(error);
  return {
    detail: `an exchange could not be recorded on ${file}: ${reason}`,
    hint: "the rest is recorded; please report it with the request that it was",
    isOver,
  };
}
