import { basename, join } from "node:path";
import { createBus } from "../kernel/bus.ts";
import { fnv1a } from "../kernel/hash.ts";
import { isObject } from "../kernel/json.ts";
import type { EventKey, TrafficLine } from "../model/traffic.ts";
import type { Bytes } from "./bytes.ts";
import type { Damage } from "./damage.ts";
import {
  clearedProblem,
  facetTestFor,
  flagBitsOfRequest,
  isWarnedFacet,
  facetLayout as layout,
  requestFacet,
} from "./facets.ts";
import { createHashIndex } from "./hash-index.ts";
import { everyRun, hiddenRuns, type Run } from "./hidden.ts";
import { blankSeal, lineNumber, repairTail, sealed, writeSeal } from "./lines.ts";
import { openRowFile, pageRows, type RowFile, type Rows } from "./rows.ts";
import { type SwitchPart, tailName, writeSynced } from "./switch.ts";
import type { TrafficEntry } from "./traffic-entry.ts";
import {
  type ClearLine,
  clearedBit,
  createTrafficIndex,
  droppedBit,
  event,
  flagBits,
  forgottenBit,
  type HiddenLine,
  isIntact,
  lostBit,
  newBirth,
  noProject,
  type Opening,
  openingLine,
  type ProblemsLine,
  parsed,
  readOpening,
  readTraffic,
  rejectedBit,
  request,
  requestIn,
  spanText,
  startLog,
} from "./traffic-index.ts";
import { draftFrom, type Keep } from "./trim.ts";
import type { Unit } from "./unit.ts";

/** Lines that were read lately stay parsed, up to this many characters of text (a parsed line takes several times that). */
const lineCacheSize = 4 * 1024 * 1024;
/** A line is read in one step up to this size when the index does not bound it, in bytes. */
const readAhead = 4096;
const newline = 0x0a;
/** Of longer lines only the head is read where that is enough: their bodies may have 20 MB. */
const longLine = 16 * 1024;
/** The lines that the sidecars cover are checked after the start: from then on (ms), with pauses (ms), in pieces (bytes). */
const checkDelay = 1000;
const checkPause = 20;
const checkSize = 1024 * 1024;

/** What of a line a list of requests shows: all but its events, headers and bodies. */
export type RequestHead = Pick<TrafficLine, HeadField> & {
  /** How many events it carried, and how many of them were dropped. */
  carried: number;
  dropped: number;
};
type HeadField =
  | ("n" | "at" | "method" | "target" | "status" | "us" | "project")
  | ("rejected" | "fault" | "scripted" | "source" | "partition");

/** Which events a scan is about. Absent keys do not restrict. */
export interface EventFilter {
  project?: number;
  event?: string;
  distinct_id?: string;
  outcome?: "kept" | "dropped";
  /** Only events with warnings. */
  warned?: true;
  /** Only events with this code of a reason or a warning (model/outcome.ts). */
  reason?: string;
  /** Only events after this seq. */
  since?: number;
  /** Only events up to this seq. */
  until?: number;
  order?: "asc" | "desc";
  /** Only the event with this uuid; null: only events whose uuid the sim made, which are not in the index. */
  uuid?: string | null;
}

/** Which events are read in the order of their own times. */
export interface TimeFilter extends EventFilter {
  /** Only events after, and before, these times, ms. */
  after: number;
  before: number;
}

/** What the index knows of an event; one object serves for all of a pass. */
export interface IndexedEvent {
  seq: number;
  n: number;
  /** Hash of its name. */
  name: number;
  project: number;
  isDropped: boolean;
  /** Its reason and its warnings: store/facets.ts reads them. */
  facet: number;
}

/** What the index knows of a request; one object serves for all of a pass. */
export interface IndexedRequest {
  n: number;
  project: number;
  isRejected: boolean;
  /** True if a person cleared the problem that its rejection is. */
  isCleared: boolean;
}

/** Which requests a list is about, as far as the index knows it. Absent keys do not restrict. */
interface RequestFilter {
  rejected?: boolean;
  project?: number;
  partition?: string;
  /** Only requests before this number. */
  before?: number;
  /** Only requests that ask for flags, or carry an event about the use of a flag. */
  flags?: true;
}

/** Where an event is: its line and its place among the line's events. */
interface EventRef {
  seq: number;
  line: TrafficLine;
  index: number;
}

/** What can be seen of the log at a moment: `TrafficLog.restore` brings it back. */
export interface LogMark {
  /** Which log it is of; a log that was emptied is another one. */
  birth: number;
  /** The last request and the last event. */
  n: number;
  seq: number;
  /** How many requests and events can be seen. */
  requests: number;
  events: number;
  /** How many requests had been let go. Absent: none. */
  evicted?: number;
  hidden: { requests: Run[]; events: Run[] };
}

/** A request as it is copied from one log to another. */
export interface CopiedLine {
  line: TrafficLine;
  /** Are its events hidden? */
  isCleared: boolean;
}

/** What is told to listeners once a request is in the log. */
export interface Written {
  n: number;
  /** Seq of its first event, and how many; count 0 when it carried none. */
  seq: number;
  count: number;
  entry: TrafficEntry;
}

/** What is told once something cannot be seen any more, or can again. */
interface Veiled {
  /** Only this project's. */
  project: number | null;
  /** Is it everything up to now? Else another past is shown than before. */
  isCleared: boolean;
}

interface TrafficCounts {
  requests: number;
  rejected: number;
  events: number;
  kept: number;
  dropped: number;
  /** No longer readable: pushed out of memory by the limit. */
  evicted_requests: number;
}

export interface TrafficLog {
  /** Adds a request to the group that is written at the end of this event-loop turn. Returns its number. */
  append(entry: TrafficEntry): number;
  /** Resolves when everything appended so far is in the file; rejects when that failed. */
  written(): Promise<void>;
  /** Writes all changes at once. @throws the system's error; then they were taken back */
  commit(): void;
  /** Was an event with this uuid kept in the project? */
  seen(project: number, uuid: string): boolean;
  /** The line of request n, or undefined when there is none (any more). */
  line(n: number): TrafficLine | undefined;
  /** What a list shows of request n; costs the same however large its body is. */
  head(n: number): RequestHead | undefined;
  /** How many bytes the line of request n has; 0 when there is none. */
  sizeOf(n: number): number;
  /** Events in order of arrival (or backwards); reads lazily. */
  scan(filter: EventFilter): Generator<EventRef>;
  /**
   * Events in order of their times, by the index: only lines of events that are yielded are read. `undefined` in
   * between: rows were looked at, other work may have a turn.
   */
  byTime(filter: TimeFilter): Generator<EventRef | undefined>;
  /** Numbers of the requests that match, newest first. */
  requests(filter: RequestFilter): Generator<number>;
  /** The same; `undefined` in between: rows were looked at, other work may have a turn. */
  requestsInSteps(filter: RequestFilter): Generator<number | undefined>;
  /** Goes over the events from one seq to another that the filter takes, by the index: also those whose lines memory let go. */
  eachEvent(from: number, to: number, filter: EventFilter, use: (it: IndexedEvent) => void): void;
  /** The same of requests. */
  eachRequest(from: number, to: number, filter: RequestFilter, use: (it: IndexedRequest) => void): void;
  /** The name of an event by its hash and the seq of one that has it; undefined where its line is gone. */
  eventName(hash: number, seq: number): string | undefined;
  /** Problems of the events and requests up to now, of one project or of all, are cleared: a person has seen them. @throws the system's error */
  clearProblems(project?: number): void;
  /** Hides the events up to now, of one project or of all; their seqs are never used again. @throws the system's error */
  clearEvents(project?: number): number;
  /** The same for requests and their events. What `mark` saw can be restored. @throws the system's error */
  forget(project?: number): void;
  mark(): LogMark;
  /**
   * Shows what could be seen when the mark was made, and nothing else. Of a log that was emptied since then
   * nothing is left to be shown: `hasEvents` says whether everything is there.
   */
  restoring(mark: LogMark): SwitchPart & { readonly hasEvents: boolean };
  /** The JSON text of each request that is not forgotten, oldest first. */
  texts(): Generator<{ text: string; isCleared: boolean }>;
  /**
   * Replaces all requests with those of another log; their numbers and seqs become the next ones.
   * @param keepsOld Are the old ones only hidden, so that a mark can show them again? Else their space is free.
   */
  replacing(lines: readonly CopiedLine[], keepsOld: boolean): SwitchPart;
  /** The first event, and the first request, that counts: older ones of a file were let go. */
  readonly firstSeq: number;
  readonly firstRequest: number;
  readonly lastSeq: number;
  readonly lastRequest: number;
  /**
   * Were events after this seq, of one project or of all, let go: by the memory limit, or cleared? Who looks from
   * the start (0) means what is there since it was cleared.
   */
  lost(since: number, project?: number): boolean;
  counts(): TrafficCounts;
  subscribe(listener: (written: Written) => void): () => void;
  /** Tells when events were cleared or forgotten, or another past is shown. */
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
  /** What must be on disk before the traffic that caused it: documents, people. A group that fails takes them back. */
  units?: readonly Unit[];
  onNotice?: (text: string) => void;
  /** Called for each line that cannot be read. */
  onDamage?: (damage: Damage) => void;
  /** How much is held before the oldest requests are let go. Default: all. */
  keep?: Keep;
  /** The sim's time, for what is kept by its age. */
  now?: () => number;
  /** The file's name, for messages. */
  name?: string;
}

/**
 * Opens the journal of requests and events. One write per event-loop turn; an appended event is
 * indexed at once and in the file before `written()` resolves.
 */
export function openTrafficLog(options: TrafficLogOptions): TrafficLog {
  const { bytes, units = [] } = options;
  const name = options.name ?? "traffic.ndjson";
  const notice = options.onNotice ?? (() => {});
  const report = options.onDamage ?? (() => {});
  const found = readOpening(bytes, name);
  repairTail(bytes, name, notice);

  let opening = found ?? startLog(bytes, 1, 1);
  let index = newIndex();
  let { requests, events } = index;
  let files = openSidecars();
  const covered = agreed(files);
  /** Rows at the front of the event table that were let go since it was opened: the index of uuids counts them. */
  let gone = 0;
  const uuids = createHashIndex(
    (row) => (row < gone ? 0 : events.get(row - gone, event.uuid)),
    events.length,
    (hash, from, to) => {
      const row = events.find(event.uuid, hash, -1, 0, Math.max(0, from - gone), to - gone);
      return row === -1 ? -1 : row + gone;
    },
  );
  const cache = createLineCache();
  const complain = (error: unknown) => notice(`a listener failed: ${String(error)}`);
  const bus = createBus<Written>(complain);
  const veils = createBus<Veiled>(complain);

  let group = Buffer.allocUnsafe(256 * 1024);
  let used = 0;
  let pending: Written[] = [];
  let waiting: Deferred | undefined;
  let lastGroup: Promise<void> = Promise.resolve();
  let isTold = false;
  /** True once the index was made from the whole file: it cannot be improved. */
  let isReindexed = covered === 0;
  let isClosed = false;

  index.fillUp();
  /** Requests of the sidecars whose lines were not checked yet: from the first one to before the second. */
  const unchecked = { from: opening.from?.n ?? opening.n, to: covered > 0 ? opening.n + requests.length : 0 };
  catchUp(covered);

  /** Indexes the lines from an offset on: what the sidecars do not cover yet, or what was added by a switch. */
  function catchUp(from: number): void {
    const damaged: Damage[] = [];
    const wasReindexed = isReindexed;
    readTraffic({ index, bytes, name, opening, report: (it) => damaged.push(it) }, from);
    // Else a damaged sidecar was found meanwhile, and the whole log was read and reported.
    if (isReindexed === wasReindexed) damaged.forEach(report);
  }

  function newIndex() {
    const { keysOf } = options;
    return createTrafficIndex({
      opening,
      keysOf,
      onUnique: (hash, row) => uuids.add(hash, row + gone),
      onChange: touch,
    });
  }

  /** Rows that may be saved already have changed. */
  function touch(): void {
    for (const it of files) it.touch();
  }

  function openSidecars(): RowFile[] {
    if (!options.sidecars) return [];
    const log = {
      bytes,
      // Rows are numbered from the first request and the first event. Each of them only grows, so the sum
      // changes whenever pages of either table are dropped.
      get birth() {
        return opening.birth + opening.n + opening.seq;
      },
      layout,
    };
    const recover = () => reindex(`${name}: an index file is damaged`);
    return [
      openRowFile(options.sidecars.requests, requests, log, recover),
      openRowFile(options.sidecars.events, events, log, recover),
    ];
  }

  /**
   * Bytes of the log that both sidecars cover. The two are saved one after the other: a crash in between
   * leaves one behind, and then both are made anew.
   */
  function agreed(sidecars: readonly RowFile[]): number {
    const [first = 0, second = 0] = sidecars.map((it) => it.covered);
    if (first === second) return first;
    requests.truncate(0);
    events.truncate(0);
    for (const it of sidecars) it.touch();
    return 0;
  }

  /** Makes the tables anew from the whole file. Numbers keep their rows; those that have no line are lost. */
  function reindex(reason: string): void {
    flush();
    if (isReindexed) return;
    isReindexed = true;
    notice(`${reason}; the index is made anew from the log`);
    const made = createTrafficIndex({ opening, keysOf: options.keysOf });
    made.fillUp();
    readTraffic({ index: made, bytes, name, opening, report }, 0);
    while (made.requests.length < requests.length) made.requests.add(0, 0, lostBit);
    while (made.events.length < events.length) made.events.add(0, 0, 0, 0, lostBit);
    requests.adopt(made.requests);
    events.adopt(made.events);
    cache.clear();
    touch();
  }

  const isSealing = bytes.isFile;
  const lineStart = isSealing ? blankSeal : "{";
  /** A line that is not appended in parts, with its newline. */
  const lineOf = (content: object): string => {
    const json = JSON.stringify(content);
    return `${isSealing ? sealed(json) : json}\n`;
  };

  const isForgotten = (row: number): boolean =>
    row >= 0 && row < requests.length && (requests.get(row, request.meta) & forgottenBit) !== 0;

  function offsetOf(row: number): number {
    return index.offsetOf(row);
  }

  const endOffset = (): number => bytes.size + used;

  /** Where the line of a row ends at the latest; lines that stand in another order say nothing about that. */
  function endOf(row: number): number {
    const next = row + 1 < requests.length ? offsetOf(row + 1) : endOffset();
    return next > offsetOf(row) ? next : endOffset();
  }

  /** The first bytes of the line at a request row; reads the group that is not written yet as well. */
  function startOf(row: number, size: number): Buffer {
    const offset = offsetOf(row);
    return offset >= bytes.size
      ? group.subarray(offset - bytes.size, Math.min(offset + size - bytes.size, used))
      : bytes.read(offset, size);
  }

  /** The bytes of the line at a request row, without its newline. */
  function bytesAt(row: number): Buffer {
    const offset = offsetOf(row);
    const isNext = row + 1 < requests.length && offsetOf(row + 1) > offset;
    for (let size = isNext ? endOf(row) - offset : readAhead; ; size *= 2) {
      const found = startOf(row, size);
      const stop = found.indexOf(newline);
      if (stop !== -1) return found.subarray(0, stop);
      if (found.length < size) return found;
    }
  }

  /** The line at a request row, which is checked; undefined when it is lost, and reported then. */
  function readAt(row: number): ReturnType<typeof requestIn> {
    if (index.isLost(row)) return undefined;
    const found = bytesAt(row);
    const read = requestIn(found, !isSealing);
    if (read?.line.n === opening.n + row) return read;
    const isInPlace = read === undefined && found.length + 1 === endOf(row) - offsetOf(row);
    if (!isInPlace && !isReindexed) {
      reindex(`${name} was changed`);
      return readAt(row);
    }
    lose(row);
    return undefined;
  }

  function lose(row: number): void {
    const lost = index.lose(row);
    report({
      file: name,
      line: lineNumber(bytes, offsetOf(row)),
      detail: `this line is damaged: ${lost} lost`,
    });
  }

  /** Checks the lines that the sidecars cover, a piece with each step: damage is reported before a line is needed. */
  function* checkCovered(): Generator<void> {
    let start = -1;
    let piece: Buffer = Buffer.alloc(0);
    while (unchecked.from < unchecked.to && !isReindexed) {
      // Rows get other numbers when old requests are let go meanwhile; offsets stay.
      const row = unchecked.from - opening.n;
      if (row >= firstHeld() && !index.isLost(row)) {
        const [offset, end] = [offsetOf(row), endOf(row)];
        const isRead = start === offset || (offset > start && end <= start + piece.length);
        if (!isRead) {
          start = offset;
          piece = bytes.read(offset, Math.max(checkSize, end - offset));
          yield;
          continue;
        }
        if (!isIntact(piece.subarray(offset - start, end - start), unchecked.from)) readAt(row);
      } else if (row === firstHeld() || (row > firstHeld() && !index.isLost(row - 1))) {
        reportLost(row);
      }
      unchecked.from++;
    }
  }

  /** Reports rows that an earlier run found to be lost. */
  function reportLost(from: number): void {
    let to = from;
    while (to + 1 < requests.length && index.isLost(to + 1)) to++;
    const lost = spanText("request", opening.n + from, opening.n + to);
    report({ file: name, line: lineNumber(bytes, offsetOf(from)), detail: `${lost} lost before this line` });
  }

  function lineAt(row: number): TrafficLine | undefined {
    if (row < 0 || row >= requests.length || offsetOf(row) < bytes.start) return undefined;
    const known = cache.get(opening.n + row);
    if (known) return known;
    const read = readAt(row);
    if (read) cache.set(opening.n + row, read.line, read.text.length);
    return read?.line;
  }

  function headAt(row: number): RequestHead | undefined {
    if (row < 0 || row >= requests.length || offsetOf(row) < bytes.start || index.isLost(row))
      return undefined;
    const n = opening.n + row;
    const isChecked = isReindexed || n < unchecked.from || n >= unchecked.to;
    const isLong = isChecked && endOf(row) - offsetOf(row) > longLine && !cache.get(n);
    const head = isLong ? parseHead(startOf(row, readAhead).toString("utf8")) : undefined;
    if (head?.fields.n === n) return { ...head.fields, ...countsOf(n, head.seq) };
    const line = lineAt(row);
    return line && headOf(line);
  }

  /** How many events a request carried, by the index. */
  function countsOf(n: number, seq: number | undefined): { carried: number; dropped: number } {
    let carried = 0;
    let dropped = 0;
    const first = seq === undefined ? events.length : seq - opening.seq;
    for (let at = first; at < events.length && events.get(at, event.request) === n; at++) {
      carried++;
      if (events.get(at, event.meta) & droppedBit) dropped++;
    }
    return { carried, dropped };
  }

  function refAt(row: number): EventRef | undefined {
    const line = lineAt(events.get(row, event.request) - opening.n);
    if (line?.seq === undefined) return undefined;
    const seq = opening.seq + row;
    const at = seq - line.seq;
    return line.events?.[at] === undefined ? undefined : { seq, line, index: at };
  }

  function* scan(filter: EventFilter): Generator<EventRef> {
    const backwards = filter.order === "desc";
    // By seq: rows get other numbers when old ones are let go while this waits.
    let from = (filter.since ?? 0) + 1;
    let to = Math.min(opening.seq + events.length, (filter.until ?? Number.POSITIVE_INFINITY) + 1);
    const columns = hashColumns(filter);
    const rowMatches = rowTest(filter);
    while (from < to) {
      const row = nextRow(columns, Math.max(0, from - opening.seq), to - opening.seq, backwards);
      if (row < 0 || row >= to - opening.seq) return;
      if (backwards) to = opening.seq + row;
      else from = opening.seq + row + 1;
      if (!rowMatches(row)) continue;
      const ref = refAt(row);
      if (ref && keyMatches(ref, filter)) yield ref;
    }
  }

  /** A test of event rows for all that the index knows but hashes. */
  function rowTest(filter: EventFilter): (row: number) => boolean {
    const { project, outcome, warned, reason } = filter;
    const hasReason = reason === undefined ? undefined : (facetTestFor(reason) ?? (() => true));
    return (row) => {
      const meta = events.get(row, event.meta);
      if (meta & (clearedBit | lostBit)) return false;
      if (project !== undefined && meta >>> flagBits !== project) return false;
      if (outcome !== undefined && (outcome === "dropped") !== ((meta & droppedBit) !== 0)) return false;
      if (!warned && hasReason === undefined) return true;
      const facet = events.get(row, event.facet);
      return !(warned && !isWarnedFacet(facet)) && (hasReason === undefined || hasReason(facet));
    };
  }

  /** A test of request rows. */
  function requestTest({ partition, project, rejected, flags }: RequestFilter): (row: number) => boolean {
    const hash = partition === undefined ? undefined : fnv1a(partition);
    return (row) => {
      const meta = requests.get(row, request.meta);
      if (meta & (forgottenBit | lostBit)) return false;
      if (flags && !(requests.get(row, request.facet) & flagBitsOfRequest)) return false;
      if (hash !== undefined && requests.get(row, request.partition) !== hash) return false;
      if (project !== undefined && meta >>> flagBits !== project) return false;
      return rejected === undefined || ((meta & rejectedBit) !== 0) === rejected;
    };
  }

  function* requestsInSteps(filter: RequestFilter): Generator<number | undefined> {
    const first = Math.min(requests.length, (filter.before ?? Number.POSITIVE_INFINITY) - opening.n);
    const rowMatches = requestTest(filter);
    for (let n = opening.n + first - 1, looked = 1; n >= opening.n; n--, looked++) {
      const row = n - opening.n;
      if (rowMatches(row) && offsetOf(row) >= bytes.start) yield n;
      if (looked % rowsPerStep === 0) yield undefined;
    }
  }

  function eachEvent(from: number, to: number, filter: EventFilter, use: (it: IndexedEvent) => void): void {
    const columns = hashColumns(filter);
    const rowMatches = rowTest(filter);
    const end = Math.min(events.length, to + 1 - opening.seq);
    const it: IndexedEvent = { seq: 0, n: 0, name: 0, project: 0, isDropped: false, facet: 0 };
    for (let row = Math.max(0, from - opening.seq); row < end; row++) {
      row = nextRow(columns, row, end, false);
      if (row === -1) return;
      if (!rowMatches(row)) continue;
      const meta = events.get(row, event.meta);
      it.seq = opening.seq + row;
      it.n = events.get(row, event.request);
      it.name = events.get(row, event.name);
      it.project = meta >>> flagBits;
      it.isDropped = (meta & droppedBit) !== 0;
      it.facet = events.get(row, event.facet);
      use(it);
    }
  }

  function eachRequest(
    from: number,
    to: number,
    filter: RequestFilter,
    use: (it: IndexedRequest) => void,
  ): void {
    const rowMatches = requestTest(filter);
    const it: IndexedRequest = { n: 0, project: 0, isRejected: false, isCleared: false };
    for (let n = Math.max(from, opening.n); n <= Math.min(to, opening.n + requests.length - 1); n++) {
      const row = n - opening.n;
      if (!rowMatches(row)) continue;
      const meta = requests.get(row, request.meta);
      it.n = n;
      it.project = meta >>> flagBits;
      it.isRejected = (meta & rejectedBit) !== 0;
      it.isCleared = (requests.get(row, request.facet) & clearedProblem) !== 0;
      use(it);
    }
  }

  function eventName(hash: number, seq: number): string | undefined {
    const known = index.nameOf(hash);
    if (known !== undefined || seq < opening.seq) return known;
    const ref = refAt(seq - opening.seq);
    return ref && options.keysOf(ref.line)[ref.index]?.event;
  }

  function clearProblems(project: number | undefined): void {
    const last = { seq: opening.seq + events.length - 1, n: opening.n + requests.length - 1 };
    const line: ProblemsLine = { problems_cleared: { project: project ?? null, ...last } };
    // As with what is hidden: the line is written first.
    addToGroup(lineOf(line));
    commit();
    index.clearProblems(line);
  }

  function nextRow(columns: HashColumns, from: number, to: number, backwards: boolean): number {
    if (!columns) return backwards ? to - 1 : from;
    const find = backwards ? events.findLast : events.find;
    return find(...columns, from, to);
  }

  const timeOf = (row: number): number =>
    (events.get(row, event.timeHigh) | 0) * 2 ** 32 + events.get(row, event.timeLow);

  function* byTime(filter: TimeFilter): Generator<EventRef | undefined> {
    const { birth } = opening;
    const sign = filter.order === "desc" ? -1 : 1;
    const order = (a: Timed, b: Timed) => sign * (a.time - b.time || a.seq - b.seq);
    const end = opening.seq + events.length;
    const columns = hashColumns(filter);
    const rowMatches = rowTest(filter);
    let passed: Timed | undefined;
    // Each pass over the index finds the next few: more of them each time, so that there are few passes.
    for (let most = 128; ; most = Math.min(most * 4, pageOfTimes)) {
      let found: Timed[] = [];
      for (let from = opening.seq, looked = 1; from < end; looked++) {
        const row = nextRow(columns, Math.max(0, from - opening.seq), end - opening.seq, false);
        if (row === -1) break;
        const it = { seq: opening.seq + row, time: timeOf(row) };
        from = it.seq + 1;
        const isIn = it.time > filter.after && it.time < filter.before;
        const isNext = isIn && (passed === undefined || order(passed, it) < 0);
        if (isNext && rowMatches(row)) found.push(it);
        if (found.length === 2 * most) found = found.sort(order).slice(0, most);
        if (looked % rowsPerStep === 0) yield undefined;
        if (birth !== opening.birth) return;
      }
      const next = found.sort(order).slice(0, most);
      for (const { seq } of next) {
        if (birth !== opening.birth) return;
        const ref = seq < opening.seq ? undefined : refAt(seq - opening.seq);
        if (ref && keyMatches(ref, filter)) yield ref;
      }
      if (next.length < most) return;
      passed = next.at(-1);
    }
  }

  function keyMatches(ref: EventRef, filter: EventFilter): boolean {
    if (typeof filter.uuid === "string" && ref.line.events?.[ref.index]?.uuid !== filter.uuid) return false;
    if (filter.event === undefined && filter.distinct_id === undefined) return true;
    const key = options.keysOf(ref.line)[ref.index];
    return (
      (filter.event === undefined || key?.event === filter.event) &&
      (filter.distinct_id === undefined || key?.distinct_id === filter.distinct_id)
    );
  }

  /** Of a file only what is still there is counted; what memory let go counts on. */
  function counts(): TrafficCounts {
    const held = firstHeld();
    const evicted_requests = options.sidecars ? (opening.from?.evicted ?? 0) : held;
    const first = options.sidecars ? held : 0;
    return { ...countAll(requests, events, { request: first, event: firstEventHeld() }), evicted_requests };
  }

  function mark(): LogMark {
    const tables = index.hidingTables();
    const counted = counts();
    return {
      birth: opening.birth,
      n: opening.n + requests.length - 1,
      seq: opening.seq + events.length - 1,
      requests: counted.requests,
      events: counted.events,
      evicted: counted.evicted_requests,
      hidden: { requests: hiddenRuns(tables.requests), events: hiddenRuns(tables.events) },
    };
  }

  function clear(project: number | undefined, andRequests: boolean): number {
    const until = opening.seq + events.length - 1;
    const last = { requests: opening.n + requests.length - 1 };
    const line: ClearLine = { clear: { project: project ?? null, until, ...(andRequests && last) } };
    // What the disk refuses must not be hidden: the line is written first.
    addToGroup(lineOf(line));
    commit();
    const cleared = index.clear(line);
    veils.publish({ project: project ?? null, isCleared: true });
    return cleared;
  }

  /** The text of copied lines under the next numbers, and of what is hidden then. */
  function textOf(lines: readonly CopiedLine[], keepsOld: boolean): string {
    let n = opening.n + requests.length;
    let seq = opening.seq + events.length;
    const tables = index.hidingTables();
    const hidden = keepsOld
      ? { requests: everyRun(tables.requests), events: everyRun(tables.events) }
      : { requests: [], events: [] };
    let text = "";
    for (const { line, isCleared } of lines) {
      const { n: _n, seq: _seq, events: carried, ...rest } = line;
      const { headers, raw, reply_headers, reply, body, ...head } = rest;
      // In the order in which lines are written: what lists show comes first.
      const tail = { headers, raw, reply_headers, reply, body };
      const own: TrafficLine = { n: n++, ...head, ...(carried && { seq, events: carried }), ...tail };
      if (carried) {
        const run = { project: line.project ?? noProject, from: seq, to: seq + carried.length - 1 };
        if (isCleared) hidden.events.push(run);
        seq += carried.length;
      }
      text += lineOf(own);
    }
    if (hidden.requests.length + hidden.events.length === 0) return text;
    const last: HiddenLine = { hidden: { n: n - 1, seq: seq - 1, hidden } };
    return text + lineOf(last);
  }

  /** Nothing may be waiting when it is written or taken. */
  function part(
    text: () => string,
    { isWhole, isCleared }: { isWhole: boolean; isCleared: boolean },
  ): SwitchPart {
    let content: Buffer | undefined;
    const contentNow = () => {
      content ??= Buffer.from(text());
      return content;
    };
    return {
      write(folder) {
        const file = basename(name);
        writeSynced(join(folder, isWhole ? file : tailName(file, bytes.length)), contentNow());
      },
      take() {
        const from = isWhole ? 0 : bytes.size;
        if (isWhole) bytes.rebase(0, 0);
        bytes.renew(contentNow(), from);
        if (isWhole) startOver();
        catchUp(from);
        evict();
        veils.publish({ project: null, isCleared });
      },
    };
  }

  /** The file is another one. */
  function startOver(): void {
    checking?.return(undefined);
    for (const it of files) it.close();
    opening = readOpening(bytes, name) ?? startLog(bytes, 1, 1);
    index = newIndex();
    ({ requests, events } = index);
    isReindexed = true;
    files = openSidecars();
    gone = 0;
    uuids.clear();
    cache.clear();
  }

  function makeRoom(most: number): void {
    if (used + most <= group.length) return;
    const larger = Buffer.allocUnsafe(Math.max(group.length * 2, used + most));
    group.copy(larger, 0, 0, used);
    group = larger;
  }

  function addToGroup(part: string | Buffer): void {
    if (typeof part === "string") {
      makeRoom(part.length * 3);
      used += group.write(part, used, "utf8");
    } else {
      makeRoom(part.length);
      used += part.copy(group, used);
    }
  }

  function schedule(): void {
    if (waiting) return;
    waiting = deferred();
    lastGroup = waiting.promise;
    setImmediate(flush);
  }

  function flush(): void {
    if (!waiting) return;
    try {
      commit();
    } catch {
      // Its requests are answered with the error.
    }
  }

  /** Writes the group and what belongs to it. @throws the system's error; then all of it was taken back */
  function commit(): void {
    const done = waiting;
    waiting = undefined;
    const told = pending;
    const size = used;
    pending = [];
    try {
      for (const it of units) it.write();
      const slice = group.subarray(0, size);
      used = 0;
      if (size > 0) bytes.append(options.sidecars ? slice : Buffer.from(slice));
    } catch (error) {
      rollBack(told);
      for (const it of units) takeBack(it);
      done?.reject(error);
      throw error;
    }
    for (const it of units) it.settle();
    if (group.length > 4 * 1024 * 1024) group = Buffer.allocUnsafe(256 * 1024);
    evict();
    done?.resolve();
    if (bus.size > 0) for (const it of told) bus.publish(it);
  }

  /** The file may refuse to be cut as well; it is cut before its next write then. */
  function takeBack(unit: Unit): void {
    try {
      unit.rollBack();
    } catch (error) {
      notice(`what was refused could not be cut off: ${String(error)}`);
    }
  }

  /** The disk refused the group: its requests are answered with an error and must not be found later. */
  function rollBack(group: Written[]): void {
    used = 0;
    cache.clear();
    const first = group[0];
    if (!first) return;
    requests.truncate(first.n - opening.n);
    events.truncate(
      Math.min(events.length, ...group.filter((it) => it.count > 0).map((it) => it.seq - opening.seq)),
    );
  }

  /** Memory lets go at once; of a file the rest is copied, so that it waits until that is worth it. */
  function evict(): void {
    const limit = options.keep?.bytes;
    if (limit === undefined || options.sidecars || bytes.size - bytes.start <= limit) return;
    bytes.dropBefore(bytes.size - limit);
  }

  /** The first row at or behind `from` for which the test holds, which holds for all behind it. */
  function firstRow(from: number, holds: (row: number) => boolean): number {
    let [low, high] = [from, requests.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (holds(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The first row whose line is there. */
  function firstHeld(): number {
    if (options.sidecars) return (opening.from?.n ?? opening.n) - opening.n;
    return firstRow(0, (row) => offsetOf(row) >= bytes.start);
  }

  /** Of memory the index counts on, so that `lost` knows what was let go. */
  function firstEventHeld(): number {
    return options.sidecars ? (opening.from?.seq ?? opening.seq) - opening.seq : 0;
  }

  /** The first event of a request, or of one after it. */
  function firstEventOf(n: number): number {
    let row = firstEventHeld();
    const isBefore = () => events.get(row, event.request) < n || events.get(row, event.meta) & lostBit;
    while (row < events.length && isBefore()) row++;
    return row;
  }

  /** Of a file that is too large, or too old, a part is kept: enough to be worth the copy. */
  function firstToKeep(): number {
    const { bytes: most, ms } = options.keep ?? {};
    const held = firstHeld();
    const since = (options.now ?? Date.now)() - (ms ?? 0);
    const isYoung = (row: number) => (headAt(row)?.at ?? Number.POSITIVE_INFINITY) >= since;
    const old = ms === undefined ? held : firstRow(held, isYoung);
    const end = bytes.size;
    const isOld = old > held && endOf(old - 1) - bytes.start >= (end - bytes.start) * worthCopying;
    if (most === undefined || end - bytes.start <= most) return isOld ? old : held;
    const left = most * (1 - worthCopying);
    return Math.max(
      old,
      firstRow(held, (row) => end - offsetOf(row) <= left),
    );
  }

  let trimming: Promise<void> | undefined;

  /** Lets go of the oldest requests of a file: what is kept is written beside it, and takes its place at once. */
  async function trim(): Promise<void> {
    flush();
    const held = firstHeld();
    const first = firstToKeep();
    if (first <= held) return;
    const offset = first < requests.length ? offsetOf(first) : bytes.size;
    if (!options.sidecars) return bytes.dropBefore(offset);
    const { birth } = opening;
    const firstEvent = firstEventOf(opening.n + first);
    const wholePages = (row: number) => row - (row % pageRows);
    const next: Opening = {
      ...opening,
      n: opening.n + wholePages(first),
      seq: opening.seq + wholePages(firstEvent),
      from: {
        n: opening.n + first,
        seq: opening.seq + firstEvent,
        offset,
        evicted: (opening.from?.evicted ?? 0) + first - held,
      },
    };
    const head = Buffer.from(openingLine(next));
    const isOver = () => isClosed || opening.birth !== birth;
    const draft = await draftFrom({ bytes, path: name }, offset, head, isOver);
    if (isOver()) return draft.drop();
    flush();
    draft.finish();
    bytes.rebase(offset - head.length, offset);
    bytes.renew(Buffer.alloc(0), 0);
    opening = next;
    gone += index.dropBefore(next);
    savedAt = Number.NEGATIVE_INFINITY;
  }

  /** They cost time at the next start and nothing else: a disk that refuses them is no failure. */
  function saveSidecars(): void {
    try {
      if (used === 0) for (const it of files) it.save(bytes.size);
    } catch (error) {
      tellOnce(`the index of ${name} could not be written: ${String(error)}`);
    }
  }

  function tellOnce(text: string): void {
    if (!isTold) notice(text);
    isTold = true;
  }

  const checking = covered > 0 ? checkCovered() : undefined;
  let checkTimer = checking && setTimeout(checkOn, checkDelay).unref();
  function checkOn(): void {
    if (!checking?.next().done) checkTimer = setTimeout(checkOn, checkPause).unref();
  }

  const timer =
    options.sidecars || options.keep?.ms !== undefined ? setInterval(tidy, 1000).unref() : undefined;
  let savedAt = bytes.size;
  function tidy(): void {
    bytes.sync().catch((error: unknown) => tellOnce(`${name}: cannot be made durable: ${String(error)}`));
    if (bytes.size - savedAt > saveEvery) {
      savedAt = bytes.size;
      saveSidecars();
    }
    if (options.keep)
      trimming ??= trim()
        .catch((error: unknown) => tellOnce(`${name}: old requests cannot be let go: ${String(error)}`))
        .finally(() => {
          trimming = undefined;
        });
  }

  return {
    append(entry) {
      const { note } = entry;
      const n = opening.n + requests.length;
      const seq = opening.seq + events.length;
      const count = note.events?.length ?? 0;
      const place = count > 0 ? `,"seq":${seq}` : "";
      const start = `${lineStart}"n":${n},${entry.head}${place}`;
      const end = entry.body === undefined ? "}\n" : ',"body":';
      const offset = endOffset();
      const from = used;
      if (typeof entry.events === "string") {
        addToGroup(`${start}${entry.events}${entry.tail}${end}`);
      } else {
        addToGroup(start);
        addToGroup(entry.events);
        addToGroup(`${entry.tail}${end}`);
      }
      if (entry.body !== undefined) {
        addToGroup(entry.body);
        addToGroup("}\n");
      }
      if (isSealing) writeSeal(group, from, used - 1);
      const { partition, rejected } = note;
      const facts = {
        project: entry.project,
        ...(partition !== undefined && { partition }),
        ...(rejected && { rejected }),
      };
      index.addRequest(offset, facts, requestFacet(entry, note.keys));
      note.events?.forEach((facts, i) => {
        index.addEvent(note.keys?.[i], facts, entry.project);
      });
      pending.push({ n, seq, count, entry });
      schedule();
      return n;
    },
    written: () => lastGroup,
    commit,
    seen(project, uuid) {
      return (
        uuids.find(fnv1a(uuid), (indexed) => {
          const row = indexed - gone;
          if (row < 0 || row >= events.length || events.get(row, event.meta) >>> flagBits !== project)
            return false;
          if (events.get(row, event.meta) & (clearedBit | lostBit)) return false;
          const ref = refAt(row);
          return ref?.line.events?.[ref.index]?.uuid === uuid;
        }) !== -1
      );
    },
    line: (n) => (isForgotten(n - opening.n) ? undefined : lineAt(n - opening.n)),
    head: (n) => (isForgotten(n - opening.n) ? undefined : headAt(n - opening.n)),
    sizeOf(n) {
      const row = n - opening.n;
      return row < 0 || row >= requests.length ? 0 : endOf(row) - offsetOf(row);
    },
    scan,
    byTime,
    *requests(filter) {
      for (const n of requestsInSteps(filter)) if (n !== undefined) yield n;
    },
    requestsInSteps,
    eachEvent,
    eachRequest,
    eventName,
    clearProblems,
    clearEvents: (project) => clear(project, false),
    forget: (project) => void clear(project, true),
    mark,
    restoring(given) {
      const isSame = given.birth === opening.birth;
      const nothing = { n: 0, seq: 0, hidden: { requests: [], events: [] } };
      const { n, seq, hidden } = isSame ? given : nothing;
      const line: HiddenLine = { hidden: { n, seq, hidden } };
      const shown = part(() => lineOf(line), { isWhole: false, isCleared: false });
      const isWhole = isSame && counts().evicted_requests === (given.evicted ?? 0);
      return { ...shown, hasEvents: isWhole || given.requests === 0 };
    },
    replacing(lines, keepsOld) {
      const text = () => {
        const first = { n: opening.n + requests.length, seq: opening.seq + events.length };
        return `${keepsOld ? "" : openingLine({ birth: newBirth(), ...first })}${textOf(lines, keepsOld)}`;
      };
      return part(text, { isWhole: !keepsOld, isCleared: true });
    },
    *texts() {
      let seq = opening.seq;
      const isBefore = (row: number, n: number): boolean =>
        (events.get(row, event.meta) & lostBit) !== 0 || events.get(row, event.request) < n;
      for (let n = opening.n; n < opening.n + requests.length; n++) {
        while (seq < opening.seq + events.length && isBefore(seq - opening.seq, n)) seq++;
        const [at, row] = [n - opening.n, seq - opening.seq];
        if (at < 0 || isForgotten(at) || offsetOf(at) < bytes.start) continue;
        const text = readAt(at)?.text;
        if (text === undefined) continue;
        const hasEvents = row < events.length && events.get(row, event.request) === n;
        const isCleared = hasEvents && (events.get(row, event.meta) & clearedBit) !== 0;
        yield { text, isCleared };
      }
    },
    get firstSeq() {
      return opening.seq + firstEventHeld();
    },
    get firstRequest() {
      return options.sidecars ? (opening.from?.n ?? opening.n) : opening.n;
    },
    get lastSeq() {
      return opening.seq + events.length - 1;
    },
    get lastRequest() {
      return opening.n + requests.length - 1;
    },
    lost(since, project) {
      if (since > 0 && since < opening.seq - 1) return true;
      if (opening.from && since < opening.from.seq - 1) return true;
      for (let row = Math.max(firstEventHeld(), since - opening.seq + 1); row < events.length; row++) {
        const meta = events.get(row, event.meta);
        if (project !== undefined && meta >>> flagBits !== project) continue;
        if (meta & lostBit) continue;
        if (since > 0 && meta & clearedBit) return true;
        if (offsetOf(events.get(row, event.request) - opening.n) < bytes.start) return true;
      }
      return false;
    },
    counts,
    subscribe: (listener) => bus.subscribe(listener),
    onVeiled: (listener) => veils.subscribe(listener),
    async sync() {
      flush();
      await bytes.sync();
    },
    async close() {
      clearInterval(timer);
      clearTimeout(checkTimer);
      isClosed = true;
      checking?.return(undefined);
      await trimming;
      flush();
      await bytes.sync();
      saveSidecars();
      // What is still to be indexed would be read from files that are closed.
      uuids.clear();
      for (const it of files) it.close();
      bytes.close();
    },
  };
}

const fieldsOf = (line: Pick<TrafficLine, HeadField>): Pick<TrafficLine, HeadField> => ({
  n: line.n,
  at: line.at,
  method: line.method,
  target: line.target,
  status: line.status,
  us: line.us,
  project: line.project,
  ...(line.rejected && { rejected: line.rejected }),
  ...(line.fault !== undefined && { fault: line.fault }),
  ...(line.scripted && { scripted: line.scripted }),
  ...(line.source !== undefined && { source: line.source }),
  ...(line.partition !== undefined && { partition: line.partition }),
});

/** The head of a line that is parsed already. */
export function headOf(line: TrafficLine): RequestHead {
  const { events = [] } = line;
  let dropped = 0;
  for (const it of events) if (it.dropped !== undefined) dropped++;
  return { ...fieldsOf(line), carried: events.length, dropped };
}

/**
 * The first fields of a line, and the seq of its first event; undefined where they do not end within the text. Quotes in
 * values are escaped, so that what looks like a key is one.
 */
function parseHead(
  text: string,
): { fields: Pick<TrafficLine, HeadField>; seq: number | undefined } | undefined {
  const [, seq] = /,"(?:seq":(\d+),"events|events|headers)":/.exec(text) ?? [];
  const end = text.search(/,"(?:seq|events|headers)":/);
  const head = end === -1 ? undefined : parsed(`${text.slice(0, end)}}`);
  // The line was checked when it was written, or read for the first time.
  return isObject(head)
    ? { fields: fieldsOf(head as unknown as TrafficLine), seq: seq === undefined ? undefined : Number(seq) }
    : undefined;
}

/** A file is trimmed by this part of what is kept at once: each copy makes room for a while. */
const worthCopying = 0.25;

/** Sidecars are saved after this many new bytes: a crash costs at most this much re-reading at the next start. */
const saveEvery = 16 * 1024 * 1024;

interface LineCache {
  get(row: number): TrafficLine | undefined;
  /** `size` in characters of text. Lets go of the oldest lines until this one fits. */
  set(row: number, line: TrafficLine, size: number): void;
  clear(): void;
}

function createLineCache(): LineCache {
  const lines = new Map<number, { line: TrafficLine; size: number }>();
  let total = 0;
  return {
    get: (row) => lines.get(row)?.line,
    set(row, line, size) {
      for (const [oldest, held] of lines) {
        if (total + size <= lineCacheSize) break;
        lines.delete(oldest);
        total -= held.size;
      }
      lines.set(row, { line, size });
      total += size;
    },
    clear() {
      lines.clear();
      total = 0;
    },
  };
}

/** An event, and its time. */
interface Timed {
  readonly seq: number;
  readonly time: number;
}

/** Rows of the index that are looked at in a step: it takes less than a millisecond. */
const rowsPerStep = 16_384;
/** Events that a pass over the index finds, at most. */
const pageOfTimes = 8_192;

type HashColumns = [a: number, valueA: number, b: number, valueB: number] | undefined;

function hashColumns(filter: EventFilter): HashColumns {
  const columns: [number, number][] = [];
  if (filter.distinct_id !== undefined) columns.push([event.distinctId, fnv1a(filter.distinct_id)]);
  if (filter.event !== undefined) columns.push([event.name, fnv1a(filter.event)]);
  if (filter.uuid !== undefined) columns.push([event.uuid, filter.uuid === null ? 0 : fnv1a(filter.uuid)]);
  const [a, b] = columns;
  return a ? [...a, ...(b ?? ([-1, 0] as const))] : undefined;
}

function countAll(
  requests: Rows,
  events: Rows,
  first: { request: number; event: number },
): Omit<TrafficCounts, "evicted_requests"> {
  const counts = { requests: 0, rejected: 0, events: 0, kept: 0, dropped: 0 };
  for (let row = first.request; row < requests.length; row++) {
    const meta = requests.get(row, request.meta);
    if (meta & (forgottenBit | lostBit)) continue;
    counts.requests++;
    if (meta & rejectedBit) counts.rejected++;
  }
  for (let row = first.event; row < events.length; row++) {
    const meta = events.get(row, event.meta);
    if (meta & (clearedBit | lostBit)) continue;
    counts.events++;
    if (meta & droppedBit) counts.dropped++;
    else counts.kept++;
  }
  return counts;
}

interface Deferred {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: unknown) => void;
}

function deferred(): Deferred {
  const made: Partial<Deferred> = {};
  made.promise = new Promise<void>((resolve, reject) => {
    made.resolve = resolve;
    made.reject = reject;
  });
  // Nobody may be waiting for this group; those who are get the rejection all the same.
  made.promise.catch(() => {});
  return made as Deferred;
}
