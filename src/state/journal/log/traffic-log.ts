import { createBus } from "../../../kernel/base/bus.ts";
import { fnv1a } from "../../../kernel/base/hash.ts";
import type { Stepwise } from "../../../kernel/base/work.ts";
import type { Bytes } from "../../../kernel/store/bytes.ts";
import type { Damage } from "../../../kernel/store/damage.ts";
import { DataFolderError } from "../../../kernel/store/data-folder.ts";
import type { FolderGuard } from "../../../kernel/store/folder-guard.ts";
import { blankSeal } from "../../../kernel/store/lines.ts";
import type { Unit } from "../../../kernel/store/unit.ts";
import type { EventKey, TrafficLine } from "../traffic.ts";
import { requestFacet } from "./facets.ts";
import { createGroupWriter } from "./group-writer.ts";
import { createLogHiding, type LogHiding, type Veiled } from "./hide-restore.ts";
import { createLineReader, type RequestHead } from "./line-reader.ts";
import { createLogScan, type LogScan } from "./log-scan.ts";
import { openLogTables, projectOf, type TrafficCounts } from "./log-tables.ts";
import type { TrafficEntry } from "./traffic-entry.ts";
import { clearedBit, event, lostBit } from "./traffic-index.ts";
import { createTrimming, type Keep } from "./trim.ts";

export type { CopiedLine, LogMark } from "./hide-restore.ts";
export { headOf, type RequestHead } from "./line-reader.ts";
export type { EventFilter, IndexedEvent, IndexedRequest, TimeFilter } from "./log-scan.ts";

/** The lines that the sidecars cover are checked after the start: from then on (ms), with pauses (ms). */
const checkDelay = 1000;
const checkPause = 20;

/** What listeners get once a request is in the log. */
export interface Written {
  n: number;
  /** Seq of its first event, and how many; count 0 when it carried none. */
  seq: number;
  count: number;
  entry: TrafficEntry;
}

export interface TrafficLog extends LogScan, LogHiding {
  /** Adds a request to the group that is written at the end of this event-loop turn. Returns its number. */
  append(entry: TrafficEntry): number;
  /** Resolves when everything appended so far is in the file; rejects when that failed. */
  written(): Promise<void>;
  /** Writes all changes at once. @throws the system's error; then they were taken back */
  commit(): void;
  /** True if an event with this uuid was kept in the project. */
  seen(project: number, uuid: string): boolean;
  /** The line of request n, or undefined when there is none (any more). */
  line(n: number): TrafficLine | undefined;
  /** The same, in steps. */
  reading(n: number): Stepwise<TrafficLine | undefined>;
  /** The head of request n; the cost does not depend on its body's size. */
  head(n: number): RequestHead | undefined;
  /** Bytes of the line of request n; 0 if there is none. */
  sizeOf(n: number): number;
  /** The JSON text of each request that is not forgotten and arrived before this call, oldest first. */
  texts(): Generator<{ text: string; isCleared: boolean } | undefined>;
  /** The first event, and the first request, that is not evicted. */
  readonly firstSeq: number;
  readonly firstRequest: number;
  readonly lastSeq: number;
  readonly lastRequest: number;
  /** Seq of the first event whose line is held: memory evicts lines and keeps their numbers. */
  readonly firstHeldSeq: number;
  /** Seq of the last event that is in the file: the disk may refuse later ones, whose seqs are then used again. */
  readonly lastWrittenSeq: number;
  /** Changes when events that were there went, or came back; not when memory evicts their lines. */
  readonly revision: number;
  /**
   * True if events after this seq, of one project or of all, were evicted or cleared. 0 means since the last clear.
   */
  lost(since: number, project?: number): boolean;
  /** True if the line of an event is damaged: nothing is known about the event. */
  hasDamage(): boolean;
  counts(): TrafficCounts;
  subscribe(listener: (written: Written) => void): () => void;
  /** Calls the listener when events were cleared or forgotten, or another history is shown. */
  onVeiled(listener: (veiled: Veiled) => void): () => void;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface TrafficLogOptions {
  bytes: Bytes;
  /** Where the sidecar files go; absent in memory. */
  sidecars?: { requests: string; events: string };
  /** Index keys of a line's events, for rebuilding the index after a crash. */
  keysOf: (line: TrafficLine) => EventKey[];
  /** Notices what other programs do to the file. */
  guard?: FolderGuard;
  /** Must be on disk before the traffic that caused them: documents, people. A group that fails reverts them. */
  units?: readonly Unit[];
  onNotice?: (text: string) => void;
  /** Called for each line that cannot be read. */
  onDamage?: (damage: Damage) => void;
  /** How much is kept before the oldest requests are evicted (default: all). */
  keep?: Keep;
  /** The sim's time, for what is kept by its age. */
  now?: () => number;
  /** The file's name, for messages. */
  name?: string;
}

/** Sidecars are saved after this many new bytes: a crash costs at most this much re-reading at the next start. */
const saveEvery = 16 * 1024 * 1024;
const tidyEvery = 1000;

/**
 * Opens the journal of requests and events. One write per event-loop turn; an appended event is
 * indexed at once and in the file before `written()` resolves.
 */
export function openTrafficLog(options: TrafficLogOptions): TrafficLog {
  const { bytes, guard, keysOf, keep, sidecars, units = [], name = "traffic.ndjson" } = options;
  const { onNotice: notice = () => {}, onDamage: report = () => {}, now = Date.now } = options;
  let isClosed = false;

  const tables = openLogTables({ bytes, name, sidecars, keysOf, notice, report });
  const complain = (error: unknown) => notice(`a listener failed: ${String(error)}`);
  const bus = createBus<Written>(complain);
  const veils = createBus<Veiled>(complain);
  /** Up to this offset the file was found to have what was written, and nothing else. */
  let checked = 0;
  const writer = createGroupWriter<Written>({
    look() {
      if (guard?.look()) checked = bytes.size;
    },
    mustBeWritable: () => guard?.mustBeWritable(),
    write: (group) => void bytes.append(group),
    units,
    notice,
    onRefused: takeBack,
    onWritten: announce,
  });
  const lines = createLineReader({ tables, writer, report, looksAgain });
  tables.onReindex({ before: writer.flush, after: lines.forget });
  tables.catchUp(tables.covered);

  const scan = createLogScan({ tables, lines, keysOf });
  const trimming = createTrimming({ tables, lines, writer, keep, now, isClosed: () => isClosed });
  const checking = tables.covered > 0 ? lines.checkCovered() : undefined;
  const hiding = createLogHiding({
    tables,
    writer,
    onReplaced() {
      checking?.return(undefined);
      checked = 0;
      tables.startOver();
      lines.forget();
    },
    onSwitched: trimming.evict,
    onVeiled: veils.publish,
  });

  const lineStart = bytes.isFile ? blankSeal : "{";

  function append(entry: TrafficEntry): number {
    const { record } = entry;
    writer.begin();
    const n = tables.nextRequest;
    const seq = tables.nextSeq;
    const count = record.events?.length ?? 0;
    const place = count > 0 ? `,"seq":${seq}` : "";
    const start = `${lineStart}"n":${n},${entry.head}${place}`;
    const end = entry.body === undefined ? "" : ',"body":';
    const from = writer.size;
    if (typeof entry.events === "string") {
      writer.add(`${start}${entry.events}${entry.tail}${end}`);
    } else {
      writer.add(start);
      writer.add(entry.events);
      writer.add(`${entry.tail}${end}`);
    }
    if (entry.body !== undefined) writer.add(entry.body);
    writer.endLine();
    if (bytes.isFile) writer.seal(from);
    indexEntry(entry, bytes.size + from);
    writer.schedule({ n, seq, count, entry });
    return n;
  }

  function indexEntry(entry: TrafficEntry, offset: number): void {
    const { index } = tables;
    const { events = [], keys } = entry.record;
    index.addRequest(offset, entry.project, entry.record, requestFacet(entry, keys));
    for (let i = 0; i < events.length; i++) {
      const facts = events[i];
      if (facts) index.addEvent(keys?.[i], facts, entry.project);
    }
  }

  // a group that waits has numbers and places already: it is written first
  /** True if another program has changed the file since the last check, and it was read again. */
  function looksAgain(): boolean {
    const before = tables.revision;
    guard?.look(true);
    return tables.revision !== before;
  }

  guard?.watch({ name, bytes: () => (writer.size > 0 ? undefined : bytes), isHot: true, reread });

  /** Continues with the file as another program left it. */
  function reread(how: "grown" | "shrunk"): void {
    const from = how === "grown" && checked <= bytes.size ? checked : 0;
    lines.forget();
    const isEmpty = bytes.accept() === 0;
    try {
      if (isEmpty) tables.restart();
      else tables.readAgain(lines.isInPlaceBefore(from) ? from : 0);
    } catch (error) {
      if (!(error instanceof DataFolderError)) throw error;
      const aside = bytes.restore(false);
      report({ file: name, line: null, detail: `another program wrote something else, which is now ${aside}` });
      tables.restart();
    }
    lines.forget();
    checked = bytes.size;
    veils.publish({ project: null, isCleared: false });
  }

  /** The disk refused the group: its requests get an error and must not be found later. */
  function takeBack(group: readonly Written[]): void {
    lines.forget();
    const [first] = group;
    if (!first) return;
    const seqs = group.filter((it) => it.count > 0).map((it) => it.seq);
    tables.truncate(first.n, Math.min(...seqs));
  }

  let lastWrittenSeq = tables.nextSeq - 1;

  function announce(group: readonly Written[]): void {
    lastWrittenSeq = tables.nextSeq - 1;
    trimming.evict();
    if (bus.size > 0) for (const it of group) bus.publish(it);
  }

  let hasComplained = false;

  function noticeOnce(text: string): void {
    if (!hasComplained) notice(text);
    hasComplained = true;
  }

  let savedAt = bytes.size;

  /** Failures are ignored: without sidecars the next start only takes longer. */
  function saveSidecars(): void {
    try {
      guard?.look(true);
      if (writer.size === 0 && guard?.isWritable !== false) tables.saveSidecars();
    } catch (error) {
      noticeOnce(`the index of ${name} could not be written: ${String(error)}`);
    }
  }

  let trimmed: Promise<void> | undefined;

  async function trim(): Promise<void> {
    try {
      // the sidecars have other rows then
      if (await trimming.trim()) savedAt = Number.NEGATIVE_INFINITY;
    } catch (error) {
      noticeOnce(`${name}: old requests cannot be let go: ${String(error)}`);
    } finally {
      trimmed = undefined;
    }
  }

  function tidy(): void {
    bytes.sync().catch((error: unknown) => noticeOnce(`${name}: cannot be made durable: ${String(error)}`));
    if (bytes.size - savedAt > saveEvery) {
      savedAt = bytes.size;
      saveSidecars();
    }
    if (keep) trimmed ??= trim();
  }

  let checkTimer = checking && setTimeout(checkOn, checkDelay).unref();
  function checkOn(): void {
    if (!checking?.next().done) checkTimer = setTimeout(checkOn, checkPause).unref();
  }
  const tidyTimer = sidecars || keep?.ms !== undefined ? setInterval(tidy, tidyEvery).unref() : undefined;

  function seen(project: number, uuid: string): boolean {
    const isKept = (row: number): boolean => {
      const meta = tables.events.get(row, event.meta);
      if (projectOf(meta) !== project || meta & (clearedBit | lostBit)) return false;
      const ref = lines.refAt(row);
      return ref?.line.events?.[ref.index]?.uuid === uuid;
    };
    return tables.findUuid(fnv1a(uuid), isKept) !== -1;
  }

  function* textsUntil(end: number): ReturnType<TrafficLog["texts"]> {
    let seq = tables.opening.seq;
    const isBefore = (row: number, n: number): boolean =>
      (tables.events.get(row, event.meta) & lostBit) !== 0 || tables.events.get(row, event.request) < n;
    for (let n = tables.opening.n; n < end; n++) {
      while (seq < tables.nextSeq && isBefore(seq - tables.opening.seq, n)) seq++;
      const [at, row] = [n - tables.opening.n, seq - tables.opening.seq];
      if (at < 0 || tables.isForgotten(at) || tables.isGone(at)) continue;
      const hasEvents = row < tables.events.length && tables.events.get(row, event.request) === n;
      const isCleared = hasEvents && (tables.events.get(row, event.meta) & clearedBit) !== 0;
      const text = yield* lines.readingTextAt(at);
      if (text === undefined) continue;
      yield { text, isCleared };
    }
  }

  function lost(since: number, project?: number): boolean {
    const { opening, events } = tables;
    if (since > 0 && since < opening.seq - 1) return true;
    if (opening.from && since < opening.from.seq - 1) return true;
    for (let row = Math.max(tables.firstEventHeld(), since - opening.seq + 1); row < events.length; row++) {
      const meta = events.get(row, event.meta);
      if (project !== undefined && projectOf(meta) !== project) continue;
      if (meta & lostBit) continue;
      if (since > 0 && meta & clearedBit) return true;
      if (tables.isGone(events.get(row, event.request) - opening.n)) return true;
    }
    return false;
  }

  function hasDamage(): boolean {
    const { events } = tables;
    for (let row = tables.firstEventHeld(); row < events.length; row++)
      if (events.get(row, event.meta) & lostBit) return true;
    return false;
  }

  function firstHeldSeq(): number {
    const { opening, events } = tables;
    if (tables.hasSidecars) return opening.seq + tables.firstEventHeld();
    const first = opening.n + tables.firstHeld();
    let [low, high] = [0, events.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (events.get(middle, event.request) >= first) high = middle;
      else low = middle + 1;
    }
    return opening.seq + low;
  }

  const shownRow = (n: number): number | undefined => {
    const row = n - tables.opening.n;
    return tables.isForgotten(row) ? undefined : row;
  };

  return {
    ...scan,
    ...hiding,
    append,
    written: writer.written,
    commit: writer.commit,
    seen,
    line(n) {
      const row = shownRow(n);
      return row === undefined ? undefined : lines.lineAt(row);
    },
    *reading(n) {
      const row = shownRow(n);
      return row === undefined ? undefined : yield* lines.readingAt(row);
    },
    head(n) {
      const row = shownRow(n);
      return row === undefined ? undefined : lines.headAt(row);
    },
    sizeOf(n) {
      const row = n - tables.opening.n;
      if (row < 0 || row >= tables.requests.length) return 0;
      return lines.endOf(row) - tables.index.offsetOf(row);
    },
    texts: () => textsUntil(tables.nextRequest),
    get firstSeq() {
      return tables.opening.seq + tables.firstEventHeld();
    },
    get firstRequest() {
      const { from, n } = tables.opening;
      return tables.hasSidecars ? (from?.n ?? n) : n;
    },
    get lastSeq() {
      return tables.nextSeq - 1;
    },
    get lastRequest() {
      return tables.nextRequest - 1;
    },
    get firstHeldSeq() {
      return firstHeldSeq();
    },
    get lastWrittenSeq() {
      return writer.size === 0 ? tables.nextSeq - 1 : lastWrittenSeq;
    },
    get revision() {
      return tables.revision;
    },
    lost,
    hasDamage,
    counts: tables.counts,
    subscribe: (listener) => bus.subscribe(listener),
    onVeiled: (listener) => veils.subscribe(listener),
    async sync() {
      writer.flush();
      await bytes.sync();
    },
    async close() {
      clearInterval(tidyTimer);
      clearTimeout(checkTimer);
      isClosed = true;
      checking?.return(undefined);
      await trimmed;
      writer.flush();
      await bytes.sync();
      saveSidecars();
      tables.close();
      bytes.close();
    },
  };
}
