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
  /** Removes the secrets before anything is written. */
  redactor: Redactor;
  /** For a new tape. */
  header?: NewHeader;
  /** Globs over the path. Only what fits one of `include` (default: all) and none of `exclude` is written. */
  include?: readonly string[];
  exclude?: readonly string[];
  /** Largest decoded body, in bytes, default 32 MB; larger ones are left out. */
  bodyLimit?: number;
  /** Called once for each kind of trouble. */
  onTrouble?: (trouble: TapeTrouble) => void;
  /** Events worth knowing, e.g. that an unfinished line was cut off. */
  onNotice?: (text: string) => void;
}

/** Why an exchange, or everything from now on, is missing on the tape. */
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
  /** Bytes on the tape, without side files. */
  bytes: number;
  /** Places where secrets were. */
  redactions: number;
  /** Left out because of `include` and `exclude`. */
  excluded: number;
  /** Could not be written. */
  lost: number;
  trouble?: TapeTrouble;
}

export interface TapeWriter {
  readonly file: string;
  readonly header: TapeHeader;
  readonly summary: TapeSummary;
  /** What ended the recording, else the first exchange that was lost. */
  readonly trouble: TapeTrouble | undefined;
  /** A number for a request that has just arrived; without one exchanges are numbered in the order they end. */
  arrive(): number;
  /** Writes an exchange that is over, complete or not. Never throws: problems are reported to `onTrouble`. */
  append(raw: RawExchange, i?: number): void;
  /** Writes an exchange that is decoded already; it is redacted as well. */
  appendDecoded(exchange: Exchange): void;
  /** Resolves when everything is on the disk, or trouble was reported. */
  flush(): Promise<void>;
  /** Flushes and unlocks the tape. */
  close(): Promise<TapeSummary>;
}

const defaultBodyLimit = 32 * 1024 * 1024;

/** Redacted and checked: what a reader would refuse must not get onto a tape. */
function cleaned(exchange: Exchange, redactor: Redactor): Exchange {
  const clean = redactor.redact(exchange);
  const wrong = isSound(clean) ? undefined : wrongField(clean);
  if (wrong !== undefined) throw new TypeError(`it has no valid \`${wrong}\``);
  return clean;
}

function opened(file: string, options: TapeWriterOptions): { tape: TapeFile; release(): void } {
  let release = () => {};
  try {
    makeFolder(dirname(file));
    release = lockTape(file);
    const tape = new TapeFile(file, {
      header: options.header ?? {},
      redactor: options.redactor,
      onNotice: options.onNotice ?? (() => {}),
    });
    return { tape, release };
  } catch (error) {
    release();
    throw fileTrouble(file, "recorded on", error);
  }
}

/** Recordings of screens are large, and no replay needs them. */
const isBodyless = globs(["/s/**"]);

/** What is written may wait this long for the disk: a killed process loses nothing, a power cut does, ms. */
const syncAfterMs = 250;

/**
 * Opens a tape for recording; an existing one is continued. Each exchange is one line, redacted and then written at
 * once; large bodies go to side files first.
 * @throws TapeError when it cannot be written, is no tape, was redacted by other rules, or another writer has it
 * @throws TypeError when a glob is empty
 */
export function openTapeWriter(name: string, options: TapeWriterOptions): TapeWriter {
  const file = resolve(name);
  const folder = sideFolder(file);
  const { include = [], exclude = [], bodyLimit = defaultBodyLimit, redactor } = options;
  const isIncluded = include.length > 0 ? globs(include) : () => true;
  const isExcluded = globs(exclude);
  const { tape, release } = opened(file, options);
  const troubles = createTroubles(file, options.onTrouble);
  const counts = { exchanges: 0, incomplete: 0, bytes: 0, redactions: 0, excluded: 0, lost: 0 };
  let highest = tape.highest;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let syncing: Promise<void> = Promise.resolve();

  function sync(): Promise<void> {
    syncing = syncing.then(() => tape.sync()).catch((error) => troubles.add(error, true));
    return syncing;
  }

  function syncSoon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void sync();
    }, syncAfterMs).unref();
  }

  function write(exchange: Exchange): void {
    const whole = lineOf(exchange);
    const line = Buffer.byteLength(whole) > inlineLimit ? lineOf(withBodiesAside(exchange, folder)) : whole;
    counts.bytes += tape.write(line);
    counts.exchanges++;
    counts.redactions += exchange.redacted.length;
    if (!exchange.complete) counts.incomplete++;
    syncSoon();
  }

  function take(url: string, make: () => Exchange): void {
    if (!isIncluded(url) || isExcluded(url)) {
      counts.excluded++;
      return;
    }
    let exchange: Exchange | undefined;
    try {
      if (isClosed || troubles.isOver()) counts.lost++;
      else {
        exchange = cleaned(make(), redactor);
        write(exchange);
      }
    } catch (error) {
      counts.lost++;
      troubles.add(error, exchange !== undefined);
    }
  }

  const arrive = (): number => ++highest;
  const summary = (): TapeSummary => {
    const trouble = troubles.worst();
    return { file, ...counts, ...(trouble && { trouble }) };
  };

  return {
    file,
    header: tape.header,
    get summary() {
      return summary();
    },
    get trouble() {
      return troubles.worst();
    },
    arrive,
    append: (raw, i = arrive()) => take(raw.url, () => toExchange(raw, { i, bodyLimit, isBodyless })),
    appendDecoded(exchange) {
      highest = Math.max(highest, exchange.i);
      take(exchange.req.url, () => exchange);
    },
    flush: () => (isClosed ? Promise.resolve() : sync()),
    async close() {
      if (!isClosed) {
        isClosed = true;
        clearTimeout(timer);
        await syncing.then(() => tape.close()).catch((error) => troubles.add(error, true));
        release();
      }
      return summary();
    },
  };
}

/** What went wrong while a tape was written, each kind of trouble once: a full disk fails every request. */
function createTroubles(file: string, onTrouble: (trouble: TapeTrouble) => void = () => {}) {
  const reported = new Map<boolean, TapeTrouble>();
  const troubleOf = (error: unknown, isOver: boolean): TapeTrouble => {
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
  };
  return {
    /** @param isOver True if nothing more can be written; else one exchange is lost */
    add(error: unknown, isOver: boolean): void {
      if (reported.has(isOver)) return;
      const trouble = troubleOf(error, isOver);
      reported.set(isOver, trouble);
      onTrouble(trouble);
    },
    isOver: () => reported.has(true),
    worst: () => reported.get(true) ?? reported.get(false),
  };
}
