import type { Bytes } from "../../../kernel/store/bytes.ts";
import type { Damage } from "../../../kernel/store/damage.ts";
import { DataFolderError } from "../../../kernel/store/data-folder.ts";
import { isSealed, repairTail } from "../../../kernel/store/lines.ts";
import type { EventKey, TrafficLine } from "../traffic.ts";
import { isWarnedFacet, facetLayout as layout } from "./facets.ts";
import { createHashIndex } from "./hash-index.ts";
import { isIntact, type Opening, readOpening, startLog } from "./log-lines.ts";
import { openRowFile, type RowFile, type RowTable } from "./rows.ts";
import {
  clearedBit,
  droppedBit,
  event,
  forgottenBit,
  lostBit,
  readTraffic,
  rejectedBit,
  request,
  spanText,
  TrafficIndex,
} from "./traffic-index.ts";

const readAhead = 4096;
const newline = 0x0a;

interface LogTablesOptions {
  bytes: Bytes;
  name: string;
  sidecars?: { requests: string; events: string } | undefined;
  keysOf: (line: TrafficLine) => EventKey[];
  notice: (text: string) => void;
  report: (damage: Damage) => void;
}

export interface TrafficCounts {
  requests: number;
  rejected: number;
  events: number;
  kept: number;
  dropped: number;
  /** Of the kept ones, those with warnings. */
  warned: number;
  /** No longer readable: pushed out of memory by the limit. */
  evicted_requests: number;
}

/**
 * The tables over a log, the sidecar files that keep them, and the numbers: row r of the requests is request `opening.n + r`,
 * row r of the events is the event with seq `opening.seq + r`.
 */
export class LogTables {
  readonly bytes: Bytes;
  readonly name: string;
  readonly #options: LogTablesOptions;
  #opening: Opening;
  #index: TrafficIndex;
  #isReindexed = false;
  #revision = 0;
  #files: RowFile[] = [];
  #hooks = { before: () => {}, after: () => {} };
  /** Rows at the front of the event table that were dropped since it was opened: the index of uuids counts them. */
  #gone = 0;
  readonly #uuids: ReturnType<typeof createHashIndex>;
  /** True if evicted lines stay in the file until it is trimmed. */
  readonly hasSidecars: boolean;
  /** Bytes that the sidecars covered at the start. */
  readonly covered: number;

  /** @throws DataFolderError when the file is not a log of ours */
  constructor(options: LogTablesOptions) {
    const { bytes, name } = options;
    this.bytes = bytes;
    this.name = name;
    this.#options = options;
    this.hasSidecars = options.sidecars !== undefined;
    const found = readOpening(bytes, name);
    repairTail(bytes, name, options.notice);
    this.#opening = found ?? startLog(bytes, 1, 1);
    this.#index = this.#newIndex();
    this.#files = this.#openSidecars();
    this.covered = this.#agreed();
    this.#isReindexed = this.covered === 0;
    this.#uuids = createHashIndex(
      (row) => (row < this.#gone ? 0 : this.events.get(row - this.#gone, event.uuid)),
      this.events.length,
      (hash, from, to) => {
        const gone = this.#gone;
        const row = this.events.find(event.uuid, hash, -1, 0, Math.max(0, from - gone), to - gone);
        return row === -1 ? -1 : row + gone;
      },
    );
    this.#index.fillUp();
  }

  get opening(): Opening {
    return this.#opening;
  }

  get index(): TrafficIndex {
    return this.#index;
  }

  get requests(): RowTable {
    return this.#index.requests;
  }

  get events(): RowTable {
    return this.#index.events;
  }

  get nextRequest(): number {
    return this.#opening.n + this.requests.length;
  }

  get nextSeq(): number {
    return this.#opening.seq + this.events.length;
  }

  get isReindexed(): boolean {
    return this.#isReindexed;
  }

  /** Changes when rows change that were there before; not when rows are added or evicted from memory. */
  get revision(): number {
    return this.#revision;
  }

  #newIndex(): TrafficIndex {
    return new TrafficIndex({
      opening: this.#opening,
      keysOf: this.#options.keysOf,
      onUnique: (hash, row) => this.#uuids.add(hash, row + this.#gone),
      onChange: () => this.#touch(),
    });
  }

  #touch(): void {
    this.#revision++;
    for (const it of this.#files) it.touch();
  }

  #openSidecars(): RowFile[] {
    const { sidecars, bytes, name } = this.#options;
    if (!sidecars) return [];
    const birth = () => sidecarLog(bytes, this.#opening).birth;
    const log = {
      bytes,
      layout,
      get birth() {
        return birth();
      },
    };
    const recover = () => this.reindex(`${name}: an index file is damaged`);
    return [
      openRowFile(sidecars.requests, this.requests, log, recover),
      openRowFile(sidecars.events, this.events, log, recover),
    ];
  }

  /**
   * Bytes of the log that both sidecars cover. The two are saved one after the other: a crash in between
   * leaves one of them old, and then both are made again. So are those whose last row does not lead to its line.
   */
  #agreed(): number {
    const [first = 0, second = 0] = this.#files.map((it) => it.covered);
    const fits = first === 0 || this.#isLastInPlace();
    if (first === second && fits) return first;
    if (!fits) this.#options.notice(`${this.name}: the index files do not fit it; they are made anew from the log`);
    this.requests.truncate(0);
    this.events.truncate(0);
    for (const it of this.#files) it.touch();
    return 0;
  }

  #isLastInPlace(): boolean {
    const { bytes, index } = this;
    const held = this.firstHeld();
    let row = this.requests.length - 1;
    while (row >= held && index.isLost(row)) row--;
    if (row < held) return true;
    const offset = index.offsetOf(row);
    for (let size = readAhead; ; size *= 4) {
      const line = bytes.read(offset, size);
      if (line.includes(newline) || line.length < size) return !isSealed(line) || isIntact(line, this.#opening.n + row);
    }
  }

  /** Called around a new index: pending lines are written before it, cached lines are dropped after it. */
  onReindex(hooks: { before: () => void; after: () => void }): void {
    this.#hooks = hooks;
  }

  /** Makes the tables from the whole file again, once. Numbers keep their rows; rows without a line are lost. */
  reindex(reason: string): void {
    this.#hooks.before();
    if (this.#isReindexed) return;
    this.#isReindexed = true;
    const { bytes, name, notice, report, keysOf } = this.#options;
    const { requests, events } = this;
    notice(`${reason}; the index is made anew from the log`);
    const made = new TrafficIndex({ opening: this.#opening, keysOf });
    made.fillUp();
    readTraffic({ index: made, bytes, name, opening: this.#opening, report }, 0);
    while (made.requests.length < requests.length) made.requests.add(0, 0, lostBit);
    while (made.events.length < events.length) made.events.add(0, 0, 0, 0, lostBit);
    requests.adopt(made.requests);
    events.adopt(made.events);
    this.#hooks.after();
    this.#touch();
  }

  #read(from: number, report: (damage: Damage) => void): void {
    readTraffic({ index: this.#index, bytes: this.bytes, name: this.name, opening: this.#opening, report }, from);
  }

  /** Indexes the lines from an offset on: those that the sidecars do not cover, or that a switch added. */
  catchUp(from: number): void {
    const damaged: Damage[] = [];
    const wasReindexed = this.#isReindexed;
    this.#read(from, (it) => damaged.push(it));
    // otherwise a damaged sidecar was found, and the whole log was read and reported
    if (this.#isReindexed === wasReindexed) damaged.forEach(this.#options.report);
  }

  isGone(row: number): boolean {
    return this.#index.offsetOf(row) < this.bytes.start;
  }

  isForgotten(row: number): boolean {
    return row >= 0 && row < this.requests.length && (this.requests.get(row, request.meta) & forgottenBit) !== 0;
  }

  /** The first row of requests from `from` on for which the test holds; it must hold for all later ones. */
  firstRow(from: number, holds: (row: number) => boolean): number {
    return firstOf(from, this.requests.length, holds);
  }

  firstHeld(): number {
    const { from, n } = this.#opening;
    return this.hasSidecars ? (from?.n ?? n) - n : this.firstRow(0, (row) => !this.isGone(row));
  }

  /** The first row with an event. In memory the index keeps all rows, so that `lost` knows about evicted events. */
  firstEventHeld(): number {
    const { from, seq } = this.#opening;
    return this.hasSidecars ? (from?.seq ?? seq) - seq : 0;
  }

  /** The row of the first event with this hash of its uuid that passes the test; -1: none. */
  findUuid(hash: number, test: (row: number) => boolean): number {
    const gone = this.#gone;
    return this.#uuids.find(hash, (row) => row >= gone && row - gone < this.events.length && test(row - gone));
  }

  counts(): TrafficCounts {
    // in a file only the remaining requests count; in memory the evicted ones, too
    const held = this.firstHeld();
    const evicted_requests = this.hasSidecars ? (this.#opening.from?.evicted ?? 0) : held;
    const counts = { requests: 0, rejected: 0, events: 0, kept: 0, dropped: 0, warned: 0, evicted_requests };
    const { requests, events } = this;
    for (let row = this.hasSidecars ? held : 0; row < requests.length; row++) {
      const meta = requests.get(row, request.meta);
      if (meta & (forgottenBit | lostBit)) continue;
      counts.requests++;
      if (meta & rejectedBit) counts.rejected++;
    }
    for (let row = this.firstEventHeld(); row < events.length; row++) {
      const meta = events.get(row, event.meta);
      if (meta & (clearedBit | lostBit)) continue;
      counts.events++;
      if (meta & droppedBit) counts.dropped++;
      else {
        counts.kept++;
        if (isWarnedFacet(events.get(row, event.facet))) counts.warned++;
      }
    }
    return counts;
  }

  truncate(n: number, seq: number): void {
    this.requests.truncate(n - this.#opening.n);
    this.events.truncate(Math.min(this.events.length, seq - this.#opening.seq));
  }

  #rewind(from: number): void {
    const { requests, events, index } = this;
    const [held, heldEvent] = [this.firstHeld(), this.firstEventHeld()];
    let rows = requests.length;
    while (rows > held && index.offsetOf(rows - 1) >= from) rows--;
    const n = this.#opening.n + rows;
    let last = events.length;
    while (last > heldEvent && events.get(last - 1, event.request) >= n) last--;
    requests.truncate(rows);
    events.truncate(last);
  }

  #hasLost(from: number): boolean {
    for (let row = from; row < this.requests.length; row++) if (this.#index.isLost(row)) return true;
    return false;
  }

  #emptyRows(next: Opening): void {
    this.#isReindexed = true;
    this.requests.truncate(0);
    this.events.truncate(0);
    this.#uuids.clear();
    this.#gone = 0;
    this.#opening = next;
    this.#index.restart(next);
    this.#index.fillUp();
  }

  #fillWithLost(next: { n: number; seq: number }): void {
    const first = { n: this.nextRequest, seq: this.nextSeq };
    const lost = [
      ...(first.n < next.n ? [spanText("request", first.n, next.n - 1)] : []),
      ...(first.seq < next.seq ? [spanText("event", first.seq, next.seq - 1)] : []),
    ];
    while (this.nextRequest < next.n) this.requests.add(0, 0, lostBit);
    while (this.nextSeq < next.seq) this.events.add(0, 0, 0, 0, lostBit);
    if (lost.length === 0) return;
    const detail = `another program removed the last lines while the sim ran: ${lost.join(" with ")} lost`;
    this.#options.report({ file: this.name, line: null, detail });
  }

  /**
   * Another program changed the file: indexes its lines from an offset on again. Numbers that were given out are not used again;
   * those without a line are lost, and reported.
   * @throws DataFolderError when the file is not the log any more
   */
  readAgain(from: number): void {
    const { bytes, name } = this;
    const { report } = this.#options;
    const next = { n: this.nextRequest, seq: this.nextSeq };
    if (from > bytes.start) {
      const damaged: Damage[] = [];
      this.#touch();
      this.#rewind(from);
      const first = this.requests.length;
      this.#read(from, (it) => damaged.push(it));
      // what another program wrote is no damage if all of ours is there
      const isComplete = this.nextRequest >= next.n && !this.#hasLost(first);
      if (!isComplete) damaged.forEach(report);
    } else {
      bytes.rebase(0, 0);
      const opening = readOpening(bytes, name);
      if (opening?.birth !== this.#opening.birth)
        throw new DataFolderError(`${name}: it is another log`, { file: name, hint: "move it away" });
      this.#emptyRows(opening);
      this.#read(0, report);
    }
    this.#fillWithLost(next);
  }

  restart(): void {
    const { bytes, name } = this;
    const { n, seq } = this.#opening;
    const next = { n: this.nextRequest, seq: this.nextSeq };
    const [first, firstSeq] = [this.firstHeld() + n, this.firstEventHeld() + seq];
    bytes.rebase(0, 0);
    this.#emptyRows(startLog(bytes, next.n, next.seq));
    if (first === next.n) return;
    const carried = firstSeq < next.seq ? ` with ${spanText("event", firstSeq, next.seq - 1)}` : "";
    const lost = `${spanText("request", first, next.n - 1)}${carried} lost`;
    const detail = `another program emptied this file while the sim ran: ${lost}`;
    this.#options.report({ file: name, line: null, detail });
  }

  dropBefore(next: Opening): void {
    this.#opening = next;
    this.#gone += this.#index.dropBefore(next);
  }

  startOver(): void {
    this.#revision++;
    for (const it of this.#files) it.close();
    this.#opening = readOpening(this.bytes, this.name) ?? startLog(this.bytes, 1, 1);
    this.#index = this.#newIndex();
    this.#isReindexed = true;
    this.#files = this.#openSidecars();
    this.#gone = 0;
    this.#uuids.clear();
  }

  saveSidecars(): void {
    for (const it of this.#files) it.save(this.bytes.size);
  }

  close(): void {
    // rows that are not indexed yet would be read from closed files
    this.#uuids.clear();
    for (const it of this.#files) it.close();
  }
}

/** The first number of [from, to) for which the test holds, or `to`; it must hold for all later ones. */
export function firstOf(from: number, to: number, holds: (at: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The log that sidecars index, as their headers have it. */
export const sidecarLog = (bytes: Bytes, opening: Opening) => ({
  bytes,
  layout,
  // Rows are numbered from the first request and the first event. Each of them only grows, so the sum
  // changes whenever pages of either table are dropped.
  birth: opening.birth + opening.n + opening.seq,
});
