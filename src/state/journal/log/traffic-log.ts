import { type Bus, createBus } from "../../../kernel/base/bus.ts";
import { fnv1a } from "../../../kernel/base/hash.ts";
import type { Stepwise } from "../../../kernel/base/work.ts";
import type { Bytes } from "../../../kernel/store/bytes.ts";
import type { Damage } from "../../../kernel/store/damage.ts";
import { DataFolderError } from "../../../kernel/store/data-folder.ts";
import type { FolderGuard } from "../../../kernel/store/folder-guard.ts";
import { blankSeal } from "../../../kernel/store/lines.ts";
import type { SwitchPart } from "../../../kernel/store/switch.ts";
import type { Unit } from "../../../kernel/store/unit.ts";
import type { EventKey, TrafficLine } from "../traffic.ts";
import { requestFacet } from "./facets.ts";
import { GroupWriter } from "./group-writer.ts";
import { type CopiedLine, LogHiding, type LogMark, type Veiled } from "./hide-restore.ts";
import { LineReader, type RequestHead } from "./line-reader.ts";
import { LogScan } from "./log-scan.ts";
import { firstOf, LogTables, type TrafficCounts } from "./log-tables.ts";
import type { TrafficEntry } from "./traffic-entry.ts";
import { clearedBit, event, lostBit, projectOf } from "./traffic-index.ts";
import { createTrimming, type Keep } from "./trim.ts";

export type { CopiedLine, LogMark } from "./hide-restore.ts";
export { headOf, type RequestHead } from "./line-reader.ts";
export type { EventFilter, IndexedEvent, IndexedRequest, TimeFilter } from "./log-scan.ts";

/** The lines that the sidecars cover are checked after the start: from then on (ms), with pauses (ms). */
const checkDelay = 1000;
const checkPause = 20;

export interface Written {
  n: number;
  /** Seq of its first event, and how many; count 0 when it carried none. */
  seq: number;
  count: number;
  entry: TrafficEntry;
}

export interface TrafficLogOptions {
  bytes: Bytes;
  sidecars?: { requests: string; events: string };
  /** Index keys of a line's events, for rebuilding the index after a crash. */
  keysOf: (line: TrafficLine) => EventKey[];
  guard?: FolderGuard;
  /** Must be on disk before the traffic that caused them: documents, people. A group that fails reverts them. */
  units?: readonly Unit[];
  onNotice?: (text: string) => void;
  onDamage?: (damage: Damage) => void;
  /** How much is kept before the oldest requests are evicted (default: all). */
  keep?: Keep;
  now?: () => number;
  name?: string;
}

/** Sidecars are saved after this many new bytes: a crash costs at most this much re-reading at the next start. */
const saveEvery = 16 * 1024 * 1024;
const tidyEvery = 1000;

/** The journal. One write per event-loop turn; an appended event is indexed at once, and in the file when `written()` resolves. */
export class TrafficLog extends LogScan {
  readonly #bytes: Bytes;
  readonly #name: string;
  readonly #guard: FolderGuard | undefined;
  readonly #keep: Keep | undefined;
  readonly #notice: (text: string) => void;
  readonly #report: (damage: Damage) => void;
  readonly #writer: GroupWriter<Written>;
  readonly #trimming: ReturnType<typeof createTrimming>;
  readonly #hiding: LogHiding;
  readonly #bus: Bus<Written>;
  readonly #veils: Bus<Veiled>;
  readonly #lineStart: string;
  readonly #checking: Generator<void> | undefined;
  #checkTimer: NodeJS.Timeout | undefined;
  readonly #tidyTimer: NodeJS.Timeout | undefined;
  /** Up to this offset the file was found to have what was written, and nothing else. */
  #checked = 0;
  #lastWrittenSeq: number;
  #hasComplained = false;
  #savedAt: number;
  #trimmed: Promise<void> | undefined;
  #isClosed = false;

  /** @throws DataFolderError when the file is not a log of ours */
  constructor(options: TrafficLogOptions) {
    const { bytes, guard, keysOf, keep, sidecars, units = [], name = "traffic.ndjson" } = options;
    const { onNotice: notice = () => {}, onDamage: report = () => {}, now = Date.now } = options;
    const tables = new LogTables({ bytes, name, sidecars, keysOf, notice, report });
    const writer = new GroupWriter<Written>({
      look: () => {
        if (guard?.look()) this.#checked = bytes.size;
      },
      mustBeWritable: () => guard?.mustBeWritable(),
      write: (group) => void bytes.append(group),
      units,
      notice,
      onRefused: (group) => this.#takeBack(group),
      onWritten: (group) => this.#announce(group),
    });
    /** True if another program has changed the file since the last check, and it was read again. */
    const looksAgain = (): boolean => {
      const before = tables.revision;
      guard?.look(true);
      return tables.revision !== before;
    };
    const reader = new LineReader({ tables, writer, report, looksAgain });
    super({ tables, reader, keysOf });
    this.#bytes = bytes;
    this.#name = name;
    this.#guard = guard;
    this.#keep = keep;
    this.#notice = notice;
    this.#report = report;
    this.#writer = writer;
    this.#lineStart = bytes.isFile ? blankSeal : "{";
    tables.onReindex({ before: () => writer.flush(), after: () => reader.forget() });
    tables.catchUp(tables.covered);
    const complain = (error: unknown) => notice(`a listener failed: ${String(error)}`);
    this.#bus = createBus(complain);
    this.#veils = createBus(complain);
    this.#trimming = createTrimming({ tables, lines: reader, writer, keep, now, isClosed: () => this.#isClosed });
    this.#checking = tables.covered > 0 ? reader.checkCovered() : undefined;
    this.#hiding = new LogHiding({
      tables,
      writer,
      onReplaced: () => {
        this.#checking?.return(undefined);
        this.#checked = 0;
        tables.startOver();
        reader.forget();
      },
      onSwitched: this.#trimming.evict,
      onVeiled: this.#veils.publish,
    });
    this.#lastWrittenSeq = tables.nextSeq - 1;
    this.#savedAt = bytes.size;
    // a group that waits has numbers and places already: it is written first
    guard?.watch({
      name,
      bytes: () => (writer.size > 0 ? undefined : bytes),
      isHot: true,
      reread: (how) => this.#reread(how),
    });
    if (this.#checking) this.#checkTimer = setTimeout(() => this.#checkOn(), checkDelay).unref();
    if (sidecars || keep?.ms !== undefined) this.#tidyTimer = setInterval(() => this.#tidy(), tidyEvery).unref();
  }

  /** Adds a request to the group that is written at the end of this event-loop turn. Returns its number. */
  append(entry: TrafficEntry): number {
    const { record } = entry;
    const writer = this.#writer;
    const tables = this.tables;
    writer.begin();
    const n = tables.nextRequest;
    const seq = tables.nextSeq;
    const count = record.events?.length ?? 0;
    const place = count > 0 ? `,"seq":${seq}` : "";
    const start = `${this.#lineStart}"n":${n},${entry.head}${place}`;
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
    if (this.#bytes.isFile) writer.seal(from);
    this.#indexEntry(entry, this.#bytes.size + from);
    writer.schedule({ n, seq, count, entry });
    return n;
  }

  #indexEntry(entry: TrafficEntry, offset: number): void {
    const { index } = this.tables;
    const { events = [], keys } = entry.record;
    index.addRequest(offset, entry.project, entry.record, requestFacet(entry, keys));
    for (let i = 0; i < events.length; i++) {
      const facts = events[i];
      if (facts) index.addEvent(keys?.[i], facts, entry.project);
    }
  }

  /** Resolves when everything appended so far is in the file; rejects when that failed. */
  written(): Promise<void> {
    return this.#writer.written();
  }

  /** Writes all changes at once. @throws the system's error; then they were taken back */
  commit(): void {
    this.#writer.commit();
  }

  #reread(how: "grown" | "shrunk"): void {
    const bytes = this.#bytes;
    const tables = this.tables;
    const from = how === "grown" && this.#checked <= bytes.size ? this.#checked : 0;
    this.reader.forget();
    const isEmpty = bytes.accept() === 0;
    try {
      if (isEmpty) tables.restart();
      else tables.readAgain(this.reader.isInPlaceBefore(from) ? from : 0);
    } catch (error) {
      if (!(error instanceof DataFolderError)) throw error;
      const detail = `another program wrote something else, which is now ${bytes.restore(false)}`;
      this.#report({ file: this.#name, line: null, detail });
      tables.restart();
    }
    this.reader.forget();
    this.#checked = bytes.size;
    this.#veils.publish({ project: null, isCleared: false });
  }

  /** The disk refused the group: its requests get an error and must not be found later. */
  #takeBack(group: readonly Written[]): void {
    this.reader.forget();
    const [first] = group;
    if (!first) return;
    const seqs = group.filter((it) => it.count > 0).map((it) => it.seq);
    this.tables.truncate(first.n, Math.min(...seqs));
  }

  #announce(group: readonly Written[]): void {
    this.#lastWrittenSeq = this.tables.nextSeq - 1;
    this.#trimming.evict();
    if (this.#bus.size > 0) for (const it of group) this.#bus.publish(it);
  }

  #noticeOnce(text: string): void {
    if (!this.#hasComplained) this.#notice(text);
    this.#hasComplained = true;
  }

  #saveSidecars(): void {
    try {
      this.#guard?.look(true);
      if (this.#writer.size === 0 && this.#guard?.isWritable !== false) this.tables.saveSidecars();
    } catch (error) {
      this.#noticeOnce(`the index of ${this.#name} could not be written: ${String(error)}`);
    }
  }

  async #trim(): Promise<void> {
    try {
      // the sidecars have other rows then
      if (await this.#trimming.trim()) this.#savedAt = Number.NEGATIVE_INFINITY;
    } catch (error) {
      this.#noticeOnce(`${this.#name}: old requests cannot be let go: ${String(error)}`);
    } finally {
      this.#trimmed = undefined;
    }
  }

  #tidy(): void {
    const bytes = this.#bytes;
    bytes.sync().catch((error: unknown) => this.#noticeOnce(`${this.#name}: cannot be made durable: ${String(error)}`));
    if (bytes.size - this.#savedAt > saveEvery) {
      this.#savedAt = bytes.size;
      this.#saveSidecars();
    }
    if (this.#keep) this.#trimmed ??= this.#trim();
  }

  #checkOn(): void {
    if (!this.#checking?.next().done) this.#checkTimer = setTimeout(() => this.#checkOn(), checkPause).unref();
  }

  /** True if an event with this uuid was kept in the project. */
  seen(project: number, uuid: string): boolean {
    const isKept = (row: number): boolean => {
      const meta = this.tables.events.get(row, event.meta);
      if (projectOf(meta) !== project || meta & (clearedBit | lostBit)) return false;
      const ref = this.reader.refAt(row);
      return ref?.line.events?.[ref.index]?.uuid === uuid;
    };
    return this.tables.findUuid(fnv1a(uuid), isKept) !== -1;
  }

  #rowOf(n: number): number {
    const row = n - this.tables.opening.n;
    return this.tables.isForgotten(row) ? -1 : row;
  }

  line(n: number): TrafficLine | undefined {
    return this.reader.lineAt(this.#rowOf(n));
  }

  *reading(n: number): Stepwise<TrafficLine | undefined> {
    return yield* this.reader.readingAt(this.#rowOf(n));
  }

  /** The head of request n; the cost does not depend on its body's size. */
  head(n: number): RequestHead | undefined {
    return this.reader.headAt(this.#rowOf(n));
  }

  sizeOf(n: number): number {
    const { requests, opening, index } = this.tables;
    const row = n - opening.n;
    return row < 0 || row >= requests.length ? 0 : this.reader.endOf(row) - index.offsetOf(row);
  }

  /** The JSON text of each request that is not forgotten and arrived before this call, oldest first. */
  texts(): Generator<{ text: string; isCleared: boolean } | undefined> {
    return this.#textsUntil(this.tables.nextRequest);
  }

  *#textsUntil(end: number): ReturnType<TrafficLog["texts"]> {
    const tables = this.tables;
    let seq = tables.opening.seq;
    const isBefore = (row: number, n: number): boolean =>
      (tables.events.get(row, event.meta) & lostBit) !== 0 || tables.events.get(row, event.request) < n;
    for (let n = tables.opening.n; n < end; n++) {
      while (seq < tables.nextSeq && isBefore(seq - tables.opening.seq, n)) seq++;
      const [at, row] = [n - tables.opening.n, seq - tables.opening.seq];
      if (at < 0 || tables.isForgotten(at) || tables.isGone(at)) continue;
      const hasEvents = row < tables.events.length && tables.events.get(row, event.request) === n;
      const isCleared = hasEvents && (tables.events.get(row, event.meta) & clearedBit) !== 0;
      const text = yield* this.reader.readingTextAt(at);
      if (text !== undefined) yield { text, isCleared };
    }
  }

  /** The first event, and the first request, that is not evicted. */
  get firstSeq(): number {
    return this.tables.opening.seq + this.tables.firstEventHeld();
  }

  get firstRequest(): number {
    const { hasSidecars, opening } = this.tables;
    return hasSidecars ? (opening.from?.n ?? opening.n) : opening.n;
  }

  get lastSeq(): number {
    return this.tables.nextSeq - 1;
  }

  get lastRequest(): number {
    return this.tables.nextRequest - 1;
  }

  /** Seq of the first event whose line is held: memory evicts lines and keeps their numbers. */
  get firstHeldSeq(): number {
    const tables = this.tables;
    const { opening, events } = tables;
    if (tables.hasSidecars) return this.firstSeq;
    const first = opening.n + tables.firstHeld();
    return opening.seq + firstOf(0, events.length, (row) => events.get(row, event.request) >= first);
  }

  /** Seq of the last event that is in the file: the disk may refuse later ones, whose seqs are then used again. */
  get lastWrittenSeq(): number {
    return this.#writer.size === 0 ? this.lastSeq : this.#lastWrittenSeq;
  }

  /** Changes when events that were there went, or came back; not when memory evicts their lines. */
  get revision(): number {
    return this.tables.revision;
  }

  /** True if events after this seq, of one project or of all, were evicted or cleared. 0 means since the last clear. */
  lost(since: number, project?: number): boolean {
    const tables = this.tables;
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

  /** True if the line of an event is damaged: nothing is known about the event. */
  hasDamage(): boolean {
    const { events } = this.tables;
    for (let row = this.tables.firstEventHeld(); row < events.length; row++)
      if (events.get(row, event.meta) & lostBit) return true;
    return false;
  }

  counts(): TrafficCounts {
    return this.tables.counts();
  }

  /** Clears the problems of the events and requests up to now, of one project or of all. @throws the system's error */
  clearProblems(project?: number): void {
    this.#hiding.clearProblems(project);
  }

  /** Hides the events up to now, of one project or of all; their seqs are never used again. @throws the system's error */
  clearEvents(project?: number): number {
    return this.#hiding.clear(project, false);
  }

  /** Hides requests and their events. A mark can restore them. @throws the system's error */
  forget(project?: number): void {
    this.#hiding.clear(project, true);
  }

  mark(): LogMark {
    return this.#hiding.mark();
  }

  /** Shows what the mark saw and nothing else; nothing if the log was emptied since. `hasEvents`: nothing is missing. */
  restoring(mark: LogMark): ReturnType<LogHiding["restoring"]> {
    return this.#hiding.restoring(mark);
  }

  /**
   * Replaces all requests with those of another log; their numbers and seqs become the next ones.
   * @param keepsOld True: old requests are only hidden, and a mark can show them again; false: their space is freed
   */
  replacing(lines: readonly CopiedLine[], keepsOld: boolean): SwitchPart {
    return this.#hiding.replacing(lines, keepsOld);
  }

  subscribe(listener: (written: Written) => void): () => void {
    return this.#bus.subscribe(listener);
  }

  /** Calls the listener when events were cleared or forgotten, or another history is shown. */
  onVeiled(listener: (veiled: Veiled) => void): () => void {
    return this.#veils.subscribe(listener);
  }

  async sync(): Promise<void> {
    this.#writer.flush();
    await this.#bytes.sync();
  }

  async close(): Promise<void> {
    clearInterval(this.#tidyTimer);
    clearTimeout(this.#checkTimer);
    this.#isClosed = true;
    this.#checking?.return(undefined);
    await this.#trimmed;
    this.#writer.flush();
    await this.#bytes.sync();
    this.#saveSidecars();
    this.tables.close();
    this.#bytes.close();
  }
}
