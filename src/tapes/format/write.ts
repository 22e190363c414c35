import { dirname, resolve } from "node:path";
import { makeFolder } from "../../base/make-folder.ts";
import { wrongField } from "./check-exchange.ts";
import type { Exchange } from "./exchange.ts";
import type { Redactor, TapeHeader } from "./header.ts";
import { sideFolder } from "./place.ts";
import { type RawExchange, toExchange } from "./raw-exchange.ts";
import { lockTape } from "./replace.ts";
import { globs } from "./routes.ts";
import { putAside } from "./side-files.ts";
import { fileTrouble, TapeError } from "./tape-error.ts";
import { lineOf, type NewHeader, openVolumes, type VolumeWriter } from "./volumes.ts";

export interface TapeWriterOptions {
  /** Takes out the secrets before anything is written. */
  redactor: Redactor;
  /** For a new tape. */
  header?: NewHeader;
  /** A file that would grow beyond it is continued in the next, `name.2.tape.ndjson`; default 256 MB. */
  maxBytes?: number;
  /** Globs over the path. Only what fits one of `include` (default: all) and none of `exclude` is written. */
  include?: readonly string[];
  exclude?: readonly string[];
  /** Globs over the path of requests that are written without their body; default: session recordings. */
  omitBodies?: readonly string[];
  /** Most bytes of a decoded body, default 32 MB; larger ones are left out. */
  bodyLimit?: number;
  /** Called once for each kind of trouble. */
  onTrouble?: (trouble: TapeTrouble) => void;
  /** Events worth knowing, e.g. that an unfinished line was cut off. */
  onNotice?: (text: string) => void;
}

/** What one writer wrote; a tape that was there already had more. */
export interface TapeSummary {
  file: string;
  /** How many files the tape has. */
  volumes: number;
  exchanges: number;
  /** Cut off, or without an answer. */
  incomplete: number;
  /** Bytes on the tape; side files are not counted. */
  bytes: number;
  /** Places where something secret stood. */
  redactions: number;
  /** Passed over because of `include` and `exclude`. */
  excluded: number;
  /** Could not be written. */
  lost: number;
  trouble?: TapeTrouble;
}

export interface TapeWriter {
  readonly file: string;
  readonly header: TapeHeader;
  readonly summary: TapeSummary;
  /** What went wrong: what ended the recording, else the first exchange that was lost. */
  readonly trouble: TapeTrouble | undefined;
  /** A number for a request that has just arrived; without one exchanges are numbered in the order they end. */
  arrive(): number;
  /** Writes an exchange that is over, whole or not. Never throws: problems are reported to `onTrouble`. */
  append(raw: RawExchange, i?: number): void;
  /** Writes an exchange that is decoded already, e.g. an imported one; it is redacted as well. */
  appendDecoded(exchange: Exchange): void;
  /** Resolves when everything is on the disk, or trouble was reported. */
  flush(): Promise<void>;
  /** Flushes and gives the tape back. */
  close(): Promise<TapeSummary>;
}

const defaults = { maxBytes: 256 * 1024 * 1024, bodyLimit: 32 * 1024 * 1024, omitBodies: ["/s/**"] };

function asideOf(exchange: Exchange, folder: string): Exchange {
  const { req, res } = exchange;
  return {
    ...exchange,
    req: req.body ? { ...req, body: putAside(folder, req.body) } : req,
    res: res?.body ? { ...res, body: putAside(folder, res.body) } : res,
  };
}

/** Redacted and checked: what a reader would refuse must not get onto a tape. */
function cleaned(exchange: Exchange, redactor: Redactor): Exchange {
  const clean = redactor.redact(exchange);
  const wrong = wrongField(clean);
  if (wrong !== undefined) throw new TypeError(`it has no valid \`${wrong}\``);
  return clean;
}

function opened(file: string, options: TapeWriterOptions): { volumes: VolumeWriter; release(): void } {
  let release = () => {};
  try {
    makeFolder(dirname(file));
    release = lockTape(file);
    const volumes = openVolumes(file, {
      header: options.header ?? {},
      redactor: options.redactor,
      maxBytes: options.maxBytes ?? defaults.maxBytes,
      onNotice: options.onNotice ?? (() => {}),
    });
    return { volumes, release };
  } catch (error) {
    release();
    throw fileTrouble(file, "recorded on", error);
  }
}

interface Filter {
  isWanted(url: string): boolean;
  isBodyless(target: string): boolean;
}

function filterOf({
  include = [],
  exclude = [],
  omitBodies = defaults.omitBodies,
}: TapeWriterOptions): Filter {
  const isIncluded = include.length > 0 ? globs(include) : () => true;
  const isExcluded = globs(exclude);
  return { isWanted: (url) => isIncluded(url) && !isExcluded(url), isBodyless: globs(omitBodies) };
}

function counter() {
  const counts = { exchanges: 0, incomplete: 0, bytes: 0, redactions: 0, excluded: 0, lost: 0 };
  return {
    counts,
    written(exchange: Exchange, line: string): void {
      counts.exchanges++;
      counts.bytes += Buffer.byteLength(line) + 1;
      counts.redactions += exchange.redacted.length;
      if (!exchange.complete) counts.incomplete++;
    },
  };
}

/**
 * Opens a tape for recording; an existing one is continued. Each exchange is one line, written at once and
 * whole, redacted before; large bodies go to side files first.
 * @throws TapeError when it cannot be written, is no tape, was redacted by other rules, or another writer has it
 * @throws TypeError when a glob is empty
 */
export function openTapeWriter(name: string, options: TapeWriterOptions): TapeWriter {
  const file = resolve(name);
  const folder = sideFolder(file);
  const filter = filterOf(options);
  const bodyLimit = options.bodyLimit ?? defaults.bodyLimit;
  const { volumes, release } = opened(file, options);
  const troubles = createTroubles(file, options.onTrouble);
  const disk = createDisk(file, volumes, troubles);
  const { counts, written } = counter();
  let highest = volumes.highest;
  let isClosed = false;

  function write(exchange: Exchange): void {
    try {
      const line = lineOf(asideOf(exchange, folder));
      volumes.write(line);
      written(exchange, line);
      disk.soon();
    } catch (error) {
      counts.lost++;
      troubles.end(error);
    }
  }

  function clean(make: () => Exchange): Exchange | undefined {
    try {
      return cleaned(make(), options.redactor);
    } catch (error) {
      counts.lost++;
      troubles.lose(error);
      return undefined;
    }
  }

  function take(url: string, make: () => Exchange): void {
    if (!filter.isWanted(url)) counts.excluded++;
    else if (isClosed || troubles.isOver()) counts.lost++;
    else {
      const exchange = clean(make);
      if (exchange) write(exchange);
    }
  }

  const arrive = (): number => ++highest;
  const summary = (): TapeSummary => {
    const trouble = troubles.worst();
    return { file, volumes: volumes.volumes, ...counts, ...(trouble && { trouble }) };
  };

  return {
    file,
    header: volumes.header,
    get summary() {
      return summary();
    },
    get trouble() {
      return troubles.worst();
    },
    arrive,
    append: (raw, i = arrive()) =>
      take(raw.url, () => toExchange(raw, { i, bodyLimit, isBodyless: filter.isBodyless })),
    appendDecoded(exchange) {
      highest = Math.max(highest, exchange.i);
      take(exchange.req.url, () => exchange);
    },
    flush: () => new Promise((done) => (isClosed ? done() : disk.now(done))),
    async close() {
      if (!isClosed) disk.close();
      isClosed = true;
      release();
      return summary();
    },
  };
}

/** How long a line may wait for the disk: a killed process loses nothing that was written, a power cut does. */
const syncAfterMs = 250;

/** Brings what was written to the disk. */
interface Disk {
  /** In a while; asked again meanwhile, it is done once. */
  soon(): void;
  /** Now; trouble is reported before `done` is called. */
  now(done: () => void): void;
  /** A last time. */
  close(): void;
}

const gone = (file: string): TapeError =>
  new TapeError(`${file} was deleted`, { file, hint: "start the recording again; what it had is lost" });

function createDisk(file: string, volumes: VolumeWriter, troubles: Troubles): Disk {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** A deleted file accepts writes, which are lost. */
  function check(): void {
    if (volumes.current().isGone()) throw gone(file);
  }

  function now(done: () => void): void {
    try {
      check();
      const target = volumes.current();
      target.sync((error) => {
        // A file that was full meanwhile, or the last one, was synchronised when it was closed.
        if (error && !isClosed && target === volumes.current()) troubles.end(error);
        done();
      });
    } catch (error) {
      troubles.end(error);
      done();
    }
  }

  return {
    now,
    soon() {
      timer ??= setTimeout(() => {
        timer = undefined;
        if (!isClosed) now(() => {});
      }, syncAfterMs).unref();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      try {
        check();
      } catch (error) {
        troubles.end(error);
      }
      try {
        volumes.current().close();
      } catch (error) {
        troubles.end(error);
      }
    },
  };
}

/** Why something, or everything from now on, does not get onto the tape. */
export interface TapeTrouble {
  detail: string;
  hint: string;
  /** Is the recording over? Otherwise only one exchange is missing. */
  isOver: boolean;
}

const lost = (error: unknown, file: string): TapeTrouble => ({
  detail: `an exchange could not be recorded on ${file}: ${error instanceof Error ? error.message : String(error)}`,
  hint: "the rest is recorded; please report it with the request that it was",
  isOver: false,
});

const over = (error: unknown, file: string): TapeTrouble => {
  const { message, hint } = fileTrouble(file, "written", error);
  return { detail: `recording has stopped: ${message}`, hint, isOver: true };
};

/** What went wrong while a tape was written. */
interface Troubles {
  /** An exchange is lost. */
  lose(error: unknown): void;
  /** The recording is over. */
  end(error: unknown): void;
  isOver(): boolean;
  /** Trouble that ended the recording, else what cost an exchange. */
  worst(): TapeTrouble | undefined;
}

/** Reports each kind of trouble once: a full disk fails every request. */
function createTroubles(file: string, onTrouble: (trouble: TapeTrouble) => void = () => {}): Troubles {
  const reported = new Map<boolean, TapeTrouble>();
  function report(trouble: TapeTrouble): void {
    if (reported.has(trouble.isOver)) return;
    reported.set(trouble.isOver, trouble);
    onTrouble(trouble);
  }
  return {
    lose: (error) => report(lost(error, file)),
    end: (error) => report(over(error, file)),
    isOver: () => reported.has(true),
    worst: () => reported.get(true) ?? reported.get(false),
  };
}
