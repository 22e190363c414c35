import { fnv1a } from "../../../kernel/base/hash.ts";
import type { Stepwise } from "../../../kernel/base/work.ts";
import type { EventKey, TrafficLine } from "../traffic.ts";
import { clearedProblem, facetTestFor, flagBitsOfRequest, isWarnedFacet } from "./facets.ts";
import type { EventRef, LineReader } from "./line-reader.ts";
import type { LogTables } from "./log-tables.ts";
import {
  clearedBit,
  droppedBit,
  event,
  forgottenBit,
  lostBit,
  projectOf,
  rejectedBit,
  request,
} from "./traffic-index.ts";

/** The bytes of a request's line, and the seqs of those of its events that match. */
export interface LineBytes {
  readonly bytes: Buffer;
  readonly seqs: readonly number[];
}

export interface EventFilter {
  project?: number;
  event?: string;
  distinct_id?: string;
  outcome?: "kept" | "dropped";
  warned?: boolean;
  /** Only events with this code of a reason or a warning (state/journal/drop-reasons.ts). */
  reason?: string;
  since?: number;
  until?: number;
  order?: "asc" | "desc";
  /** Only the event with this uuid; null: only events whose uuid the sim made, which are not in the index. */
  uuid?: string | null;
}

/** Selects events by what the index knows for certain: no hashes. */
type LineFilter = Pick<EventFilter, "project" | "outcome" | "since" | "until">;

export interface TimeFilter extends EventFilter {
  /** Only events after, and before, these times, ms. */
  after: number;
  before: number;
}

/** The index's facts of an event; a pass reuses one object. */
export interface IndexedEvent {
  seq: number;
  n: number;
  name: number;
  project: number;
  isDropped: boolean;
  /** Its reason and its warnings: facets.ts reads them. */
  facet: number;
}

export interface IndexedRequest {
  n: number;
  project: number;
  isRejected: boolean;
  /** True if its rejection was cleared as a problem. */
  isCleared: boolean;
}

interface RequestFilter {
  rejected?: boolean;
  project?: number;
  partition?: string;
  before?: number;
  /** Only requests that ask for flags, or carry an event about the use of a flag. */
  flags?: true;
}

interface Timed {
  readonly seq: number;
  readonly time: number;
}

/** Rows of the index in a step, which takes less than a millisecond. */
const rowsPerStep = 16_384;
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

interface ScanParts {
  tables: LogTables;
  reader: LineReader;
  keysOf: (line: TrafficLine) => EventKey[];
}

export class LogScan {
  protected readonly tables: LogTables;
  protected readonly reader: LineReader;
  readonly #keysOf: ScanParts["keysOf"];
  /** They are read once for all events of a line: a batch may have thousands. */
  readonly #keysByLine = new WeakMap<TrafficLine, readonly EventKey[]>();

  constructor({ tables, reader, keysOf }: ScanParts) {
    this.tables = tables;
    this.reader = reader;
    this.#keysOf = keysOf;
  }

  #keyOf({ line, index }: EventRef): EventKey | undefined {
    const keys = this.#keysByLine.get(line) ?? this.#keysOf(line);
    this.#keysByLine.set(line, keys);
    return keys[index];
  }

  /** Events in order of arrival (or backwards); reads lazily. */
  *scan(filter: EventFilter): Generator<EventRef> {
    for (const row of this.#rowsOf(filter)) {
      const ref = this.reader.refAt(row);
      if (ref && this.#hasKeys(ref, filter)) yield ref;
    }
  }

  /** The same; yields `undefined` while it reads a large line, so that other work gets a turn. */
  *scanInSteps(filter: EventFilter): Generator<EventRef | undefined> {
    const tables = this.tables;
    // another scan may need the room of the cache for another large line
    let last: { line: TrafficLine; revision: number } | undefined;
    for (const row of this.#rowsOf(filter)) {
      const seq = tables.opening.seq + row;
      const isOfLast = last?.revision === tables.revision && last.line.n === tables.events.get(row, event.request);
      if (!isOfLast) yield* this.reader.preparing(row);
      const index = seq - (last?.line.seq ?? 0);
      // rows change when old requests are evicted meanwhile
      const ref =
        isOfLast && last?.line.events?.[index]
          ? { seq, line: last.line, index }
          : this.reader.refAt(seq - tables.opening.seq);
      if (ref && !isOfLast) last = { line: ref.line, revision: tables.revision };
      if (ref && this.#hasKeys(ref, filter)) yield ref;
    }
  }

  *#rowsOf(filter: EventFilter): Generator<number> {
    const tables = this.tables;
    const backwards = filter.order === "desc";
    // by seq, because rows change when old ones are evicted meanwhile
    let from = (filter.since ?? 0) + 1;
    let to = Math.min(tables.nextSeq, (filter.until ?? Number.POSITIVE_INFINITY) + 1);
    const columns = hashColumns(filter);
    const rowMatches = this.#eventTest(filter);
    while (from < to) {
      const end = to - tables.opening.seq;
      const row = this.#nextRow(columns, Math.max(0, from - tables.opening.seq), end, backwards);
      if (row < 0 || row >= end) return;
      if (backwards) to = tables.opening.seq + row;
      else from = tables.opening.seq + row + 1;
      if (rowMatches(row)) yield row;
    }
  }

  /** The unparsed lines of requests with matching events, in order of arrival; `undefined` at times gives other work a turn. */
  *lines({ since = 0, until = this.tables.nextSeq, ...filter }: LineFilter): Generator<LineBytes | undefined> {
    const tables = this.tables;
    const rowMatches = this.#eventTest(filter);
    const bytesOf = this.reader.inOrder();
    let visited = 0;
    for (let seq = since + 1; seq <= until; ) {
      // rows change when old ones are evicted meanwhile
      let row = Math.max(0, seq - tables.opening.seq);
      const end = Math.min(tables.events.length, until - tables.opening.seq + 1);
      if (row >= end) return;
      const n = tables.events.get(row, event.request);
      const seqs: number[] = [];
      for (; row < end && tables.events.get(row, event.request) === n; row++) {
        if (rowMatches(row)) seqs.push(tables.opening.seq + row);
        if (++visited % rowsPerStep === 0) yield undefined;
      }
      seq = tables.opening.seq + row;
      const bytes = seqs.length > 0 ? bytesOf(n - tables.opening.n) : undefined;
      if (bytes) yield { bytes, seqs };
    }
  }

  /** A test of event rows for all that the index knows but hashes. */
  #eventTest({ project, outcome, warned, reason }: EventFilter): (row: number) => boolean {
    const tables = this.tables;
    const hasReason = reason === undefined ? undefined : (facetTestFor(reason) ?? (() => true));
    return (row) => {
      const meta = tables.events.get(row, event.meta);
      if (meta & (clearedBit | lostBit)) return false;
      if (project !== undefined && projectOf(meta) !== project) return false;
      if (outcome !== undefined && (outcome === "dropped") !== ((meta & droppedBit) !== 0)) return false;
      if (warned === undefined && hasReason === undefined) return true;
      const facet = tables.events.get(row, event.facet);
      if (warned !== undefined && isWarnedFacet(facet) !== warned) return false;
      return hasReason === undefined || hasReason(facet);
    };
  }

  #requestTest({ partition, project, rejected, flags }: RequestFilter): (row: number) => boolean {
    const tables = this.tables;
    const hash = partition === undefined ? undefined : fnv1a(partition);
    return (row) => {
      const meta = tables.requests.get(row, request.meta);
      if (meta & (forgottenBit | lostBit)) return false;
      if (flags && !(tables.requests.get(row, request.facet) & flagBitsOfRequest)) return false;
      if (hash !== undefined && tables.requests.get(row, request.partition) !== hash) return false;
      if (project !== undefined && projectOf(meta) !== project) return false;
      return rejected === undefined || ((meta & rejectedBit) !== 0) === rejected;
    };
  }

  *requests(filter: RequestFilter): Generator<number> {
    for (const n of this.requestsInSteps(filter)) if (n !== undefined) yield n;
  }

  /** The same; yields `undefined` from time to time, so that other work gets a turn. */
  *requestsInSteps(filter: RequestFilter): Generator<number | undefined> {
    const tables = this.tables;
    const rowMatches = this.#requestTest(filter);
    const last = Math.min(tables.nextRequest, filter.before ?? Number.POSITIVE_INFINITY) - 1;
    for (let n = last, visited = 1; n >= tables.opening.n; n--, visited++) {
      const row = n - tables.opening.n;
      if (rowMatches(row) && !tables.isGone(row)) yield n;
      if (visited % rowsPerStep === 0) yield undefined;
    }
  }

  /** Visits matching events from one seq to another, by the index, including those whose lines were evicted. */
  eachEvent(from: number, to: number, filter: EventFilter, use: (it: IndexedEvent) => void): void {
    const { events, opening } = this.tables;
    const columns = hashColumns(filter);
    const rowMatches = this.#eventTest(filter);
    const end = Math.min(events.length, to + 1 - opening.seq);
    const it: IndexedEvent = { seq: 0, n: 0, name: 0, project: 0, isDropped: false, facet: 0 };
    for (let row = Math.max(0, from - opening.seq); row < end; row++) {
      row = this.#nextRow(columns, row, end, false);
      if (row === -1) return;
      if (!rowMatches(row)) continue;
      const meta = events.get(row, event.meta);
      it.seq = opening.seq + row;
      it.n = events.get(row, event.request);
      it.name = events.get(row, event.name);
      it.project = projectOf(meta);
      it.isDropped = (meta & droppedBit) !== 0;
      it.facet = events.get(row, event.facet);
      use(it);
    }
  }

  eachRequest(from: number, to: number, filter: RequestFilter, use: (it: IndexedRequest) => void): void {
    const { requests, opening, nextRequest } = this.tables;
    const rowMatches = this.#requestTest(filter);
    const it: IndexedRequest = { n: 0, project: 0, isRejected: false, isCleared: false };
    for (let n = Math.max(from, opening.n); n <= Math.min(to, nextRequest - 1); n++) {
      const row = n - opening.n;
      if (!rowMatches(row)) continue;
      const meta = requests.get(row, request.meta);
      it.n = n;
      it.project = projectOf(meta);
      it.isRejected = (meta & rejectedBit) !== 0;
      it.isCleared = (requests.get(row, request.facet) & clearedProblem) !== 0;
      use(it);
    }
  }

  /** The name of an event by its hash and the seq of one that has it, in steps; undefined if its line is evicted. */
  *eventName(hash: number, seq: number): Stepwise<string | undefined> {
    const known = this.tables.index.nameOf(hash);
    if (known !== undefined) return known;
    const ref = yield* this.#refOf(seq);
    return ref && this.#keyOf(ref)?.event;
  }

  *#refOf(seq: number): Stepwise<EventRef | undefined> {
    const { opening } = this.tables;
    if (seq < opening.seq) return undefined;
    yield* this.reader.preparing(seq - opening.seq);
    // old requests may have been evicted meanwhile
    const row = seq - this.tables.opening.seq;
    return row < 0 ? undefined : this.reader.refAt(row);
  }

  #nextRow(columns: HashColumns, from: number, to: number, backwards: boolean): number {
    if (!columns) return backwards ? to - 1 : from;
    const { events } = this.tables;
    return backwards ? events.findLast(...columns, from, to) : events.find(...columns, from, to);
  }

  #timeOf(row: number): number {
    const { events } = this.tables;
    return (events.get(row, event.timeHigh) | 0) * 2 ** 32 + events.get(row, event.timeLow);
  }

  /** Events by time, by the index: only lines of yielded ones are read. `undefined` at times gives other work a turn. */
  *byTime(filter: TimeFilter): Generator<EventRef | undefined> {
    const tables = this.tables;
    const { birth } = tables.opening;
    const sign = filter.order === "desc" ? -1 : 1;
    const order = (a: Timed, b: Timed) => sign * (a.time - b.time || a.seq - b.seq);
    const end = tables.nextSeq;
    const columns = hashColumns(filter);
    const rowMatches = this.#eventTest(filter);
    let passed: Timed | undefined;
    // each pass over the index finds more events than the one before, so that there are few passes
    for (let most = 128; ; most = Math.min(most * 4, pageOfTimes)) {
      let found: Timed[] = [];
      for (let from = tables.opening.seq, visited = 1; from < end; visited++) {
        const { seq: first } = tables.opening;
        const row = this.#nextRow(columns, Math.max(0, from - first), end - first, false);
        if (row === -1) break;
        const it = { seq: first + row, time: this.#timeOf(row) };
        from = it.seq + 1;
        const isIn = it.time > filter.after && it.time < filter.before;
        const isNext = isIn && (passed === undefined || order(passed, it) < 0);
        if (isNext && rowMatches(row)) found.push(it);
        if (found.length === 2 * most) found = found.sort(order).slice(0, most);
        if (visited % rowsPerStep === 0) yield undefined;
        if (birth !== tables.opening.birth) return;
      }
      const next = found.sort(order).slice(0, most);
      for (const { seq } of next) {
        const ref = yield* this.#refOf(seq);
        if (birth !== tables.opening.birth) return;
        if (ref && this.#hasKeys(ref, filter)) yield ref;
        if (birth !== tables.opening.birth) return;
      }
      if (next.length < most) return;
      passed = next.at(-1);
    }
  }

  #hasKeys(ref: EventRef, filter: EventFilter): boolean {
    if (typeof filter.uuid === "string" && ref.line.events?.[ref.index]?.uuid !== filter.uuid) return false;
    if (filter.event === undefined && filter.distinct_id === undefined) return true;
    const key = this.#keyOf(ref);
    return (
      (filter.event === undefined || key?.event === filter.event) &&
      (filter.distinct_id === undefined || key?.distinct_id === filter.distinct_id)
    );
  }
}
