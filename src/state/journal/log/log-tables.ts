import type { Bytes } from "../../../kernel/store/bytes.ts";
import type { Damage } from "../../../kernel/store/damage.ts";
import { DataFolderError } from "../../../kernel/store/data-folder.ts";
import { isSealed, repairTail } from "../../../kernel/store/lines.ts";
import type { EventKey, TrafficLine } from "../traffic.ts";
import { isWarnedFacet, facetLayout as layout } from "./facets.ts";
import { createHashIndex } from "./hash-index.ts";
import { isIntact, type Opening, readOpening, startLog } from "./log-lines.ts";
import { openRowFile, type RowFile, type Rows } from "./rows.ts";
import {
  clearedBit,
  createTrafficIndex,
  droppedBit,
  event,
  flagBits,
  forgottenBit,
  lostBit,
  readTraffic,
  rejectedBit,
  request,
  spanText,
  type TrafficIndex,
} from "./traffic-index.ts";

/** Bytes of the first read of a line. */
const readAhead = 4096;
const newline = 0x0a;

export interface LogTablesOptions {
  bytes: Bytes;
  /** The file's name, for messages. */
  name: string;
  /** Where the sidecar files go; absent in memory. */
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

export function openLogTables(options: LogTablesOptions) {
  const { bytes, name, notice, report, keysOf } = options;
  const hasSidecars = options.sidecars !== undefined;
  let hooks = { before: () => {}, after: () => {} };
  const found = readOpening(bytes, name);
  repairTail(bytes, name, notice);
  let opening = found ?? startLog(bytes, 1, 1);
  let index = newIndex();
  let { requests, events } = index;
  let isReindexed = false;
  let files = openSidecars();
  const covered = agreed(files);
  isReindexed = covered === 0;
  let revision = 0;
  /** Rows at the front of the event table that were dropped since it was opened: the index of uuids counts them. */
  let gone = 0;
  const uuids = createHashIndex(
    (row) => (row < gone ? 0 : events.get(row - gone, event.uuid)),
    events.length,
    (hash, from, to) => {
      const row = events.find(event.uuid, hash, -1, 0, Math.max(0, from - gone), to - gone);
      return row === -1 ? -1 : row + gone;
    },
  );

  index.fillUp();

  function newIndex(): TrafficIndex {
    return createTrafficIndex({
      opening,
      keysOf,
      onUnique: (hash, row) => uuids.add(hash, row + gone),
      onChange: touch,
    });
  }

  /** Rows that may be saved already have changed. */
  function touch(): void {
    revision++;
    for (const it of files) it.touch();
  }

  function openSidecars(): RowFile[] {
    if (!options.sidecars) return [];
    const log = {
      bytes,
      layout,
      get birth() {
        return sidecarLog(bytes, opening).birth;
      },
    };
    const recover = () => reindex(`${name}: an index file is damaged`);
    return [
      openRowFile(options.sidecars.requests, requests, log, recover),
      openRowFile(options.sidecars.events, events, log, recover),
    ];
  }

  /**
   * Bytes of the log that both sidecars cover. The two are saved one after the other: a crash in between
   * leaves one of them old, and then both are made again. So are those whose last row does not lead to its line.
   */
  function agreed(sidecars: readonly RowFile[]): number {
    const [first = 0, second = 0] = sidecars.map((it) => it.covered);
    const fits = first === 0 || isLastInPlace();
    if (first === second && fits) return first;
    if (!fits) notice(`${name}: the index files do not fit it; they are made anew from the log`);
    requests.truncate(0);
    events.truncate(0);
    for (const it of sidecars) it.touch();
    return 0;
  }

  function isLastInPlace(): boolean {
    let row = requests.length - 1;
    while (row >= firstHeld() && index.isLost(row)) row--;
    if (row < firstHeld()) return true;
    const offset = index.offsetOf(row);
    for (let size = readAhead; ; size *= 4) {
      const found = bytes.read(offset, size);
      if (found.includes(newline) || found.length < size) return !isSealed(found) || isIntact(found, opening.n + row);
    }
  }

  /** Numbers keep their rows; rows without a line are lost. */
  function reindex(reason: string): void {
    hooks.before();
    if (isReindexed) return;
    isReindexed = true;
    notice(`${reason}; the index is made anew from the log`);
    const made = createTrafficIndex({ opening, keysOf });
    made.fillUp();
    readTraffic({ index: made, bytes, name, opening, report }, 0);
    while (made.requests.length < requests.length) made.requests.add(0, 0, lostBit);
    while (made.events.length < events.length) made.events.add(0, 0, 0, 0, lostBit);
    requests.adopt(made.requests);
    events.adopt(made.events);
    hooks.after();
    touch();
  }

  function catchUp(from: number): void {
    const damaged: Damage[] = [];
    const wasReindexed = isReindexed;
    readTraffic({ index, bytes, name, opening, report: (it) => damaged.push(it) }, from);
    // otherwise a damaged sidecar was found, and the whole log was read and reported
    if (isReindexed === wasReindexed) damaged.forEach(report);
  }

  const isGone = (row: number): boolean => index.offsetOf(row) < bytes.start;

  function firstRow(from: number, holds: (row: number) => boolean): number {
    let [low, high] = [from, requests.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (holds(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  function firstHeld(): number {
    if (hasSidecars) return (opening.from?.n ?? opening.n) - opening.n;
    return firstRow(0, (row) => !isGone(row));
  }

  /** In memory the index keeps all rows, so that `lost` knows about evicted events. */
  function firstEventHeld(): number {
    return hasSidecars ? (opening.from?.seq ?? opening.seq) - opening.seq : 0;
  }

  /** Removes the rows of the lines from an offset on. */
  function rewind(from: number): void {
    let rows = requests.length;
    while (rows > firstHeld() && index.offsetOf(rows - 1) >= from) rows--;
    const n = opening.n + rows;
    let last = events.length;
    while (last > firstEventHeld() && events.get(last - 1, event.request) >= n) last--;
    requests.truncate(rows);
    events.truncate(last);
  }

  function hasLost(from: number): boolean {
    for (let row = from; row < requests.length; row++) if (index.isLost(row)) return true;
    return false;
  }

  function emptyRows(next: Opening): void {
    isReindexed = true;
    requests.truncate(0);
    events.truncate(0);
    uuids.clear();
    gone = 0;
    opening = next;
    index.restart(next);
    index.fillUp();
  }

  /** Rows without a line for the numbers before these. */
  function fillWithLost(next: { n: number; seq: number }): void {
    const first = { n: opening.n + requests.length, seq: opening.seq + events.length };
    const lost = [
      ...(first.n < next.n ? [spanText("request", first.n, next.n - 1)] : []),
      ...(first.seq < next.seq ? [spanText("event", first.seq, next.seq - 1)] : []),
    ];
    while (opening.n + requests.length < next.n) requests.add(0, 0, lostBit);
    while (opening.seq + events.length < next.seq) events.add(0, 0, 0, 0, lostBit);
    if (lost.length === 0) return;
    const detail = `another program removed the last lines while the sim ran: ${lost.join(" with ")} lost`;
    report({ file: name, line: null, detail });
  }

  function readAgain(from: number): void {
    const next = { n: opening.n + requests.length, seq: opening.seq + events.length };
    if (from > bytes.start) {
      const found: Damage[] = [];
      touch();
      rewind(from);
      const first = requests.length;
      readTraffic({ index, bytes, name, opening, report: (it) => found.push(it) }, from);
      // what another program wrote is no damage if all of ours is there
      const isComplete = opening.n + requests.length >= next.n && !hasLost(first);
      if (!isComplete) found.forEach(report);
    } else {
      bytes.rebase(0, 0);
      const found = readOpening(bytes, name);
      if (found?.birth !== opening.birth) throw otherLog(name);
      emptyRows(found);
      readTraffic({ index, bytes, name, opening, report }, 0);
    }
    fillWithLost(next);
  }

  function restart(): void {
    const next = { n: opening.n + requests.length, seq: opening.seq + events.length };
    const [first, firstSeq] = [firstHeld() + opening.n, firstEventHeld() + opening.seq];
    bytes.rebase(0, 0);
    emptyRows(startLog(bytes, next.n, next.seq));
    if (first === next.n) return;
    const carried = firstSeq < next.seq ? ` with ${spanText("event", firstSeq, next.seq - 1)}` : "";
    const lost = `${spanText("request", first, next.n - 1)}${carried} lost`;
    report({ file: name, line: null, detail: `another program emptied this file while the sim ran: ${lost}` });
  }

  return {
    bytes,
    name,
    /** True if evicted lines stay in the file until it is trimmed. */
    hasSidecars,
    /** Bytes that the sidecars covered at the start. */
    covered,
    get opening() {
      return opening;
    },
    get index() {
      return index;
    },
    get requests() {
      return requests;
    },
    get events() {
      return events;
    },
    /** Number of the next request, and seq of the next event. */
    get nextRequest() {
      return opening.n + requests.length;
    },
    get nextSeq() {
      return opening.seq + events.length;
    },
    /** True once the tables were made from the whole file. */
    get isReindexed() {
      return isReindexed;
    },
    /** Changes when rows change that were there before; not when rows are added or evicted from memory. */
    get revision() {
      return revision;
    },
    /** The first row with a line, and the first with an event. */
    firstHeld,
    firstEventHeld,
    /** The first row of requests from `from` on for which the test holds; it must hold for all later ones. */
    firstRow,
    /** True if the line of a request is evicted. */
    isGone,
    isForgotten: (row: number) =>
      row >= 0 && row < requests.length && (requests.get(row, request.meta) & forgottenBit) !== 0,
    /** The row of the first event with this hash of its uuid that passes the test; -1: none. */
    findUuid: (hash: number, test: (row: number) => boolean) =>
      uuids.find(hash, (row) => row >= gone && row - gone < events.length && test(row - gone)),
    counts() {
      // in a file only the remaining requests count; in memory the evicted ones, too
      const held = firstHeld();
      const evicted_requests = hasSidecars ? (opening.from?.evicted ?? 0) : held;
      const first = { request: hasSidecars ? held : 0, event: firstEventHeld() };
      return { ...countAll(requests, events, first), evicted_requests };
    },
    /** Indexes the lines from an offset on: those that the sidecars do not cover, or that a switch added. */
    catchUp,
    truncate(n: number, seq: number) {
      requests.truncate(n - opening.n);
      events.truncate(Math.min(events.length, seq - opening.seq));
    },
    /** Makes the tables from the whole file again, once. */
    reindex,
    /**
     * Another program changed the file: indexes its lines from an offset on again. Numbers that were given out are not used again;
     * those without a line are lost, and reported.
     * @throws DataFolderError when the file is not the log any more
     */
    readAgain,
    /** Starts an empty file; the numbers continue. */
    restart,
    /** The file was trimmed, and begins with another line. */
    dropBefore(next: Opening) {
      opening = next;
      gone += index.dropBefore(next);
    },
    /** The file is another one. */
    startOver() {
      revision++;
      for (const it of files) it.close();
      opening = readOpening(bytes, name) ?? startLog(bytes, 1, 1);
      index = newIndex();
      ({ requests, events } = index);
      isReindexed = true;
      files = openSidecars();
      gone = 0;
      uuids.clear();
    },
    /** Called around a new index: pending lines are written before it, cached lines are dropped after it. */
    onReindex(given: { before: () => void; after: () => void }) {
      hooks = given;
    },
    saveSidecars() {
      for (const it of files) it.save(bytes.size);
    },
    close() {
      // rows that are not indexed yet would be read from closed files
      uuids.clear();
      for (const it of files) it.close();
    },
  };
}

/**
 * The tables over a log, the sidecar files that keep them, and the numbers: row r of the requests is request `opening.n + r`,
 * row r of the events is the event with seq `opening.seq + r`.
 */
export type LogTables = ReturnType<typeof openLogTables>;

/** The log that sidecars index, as their headers have it. */
export const sidecarLog = (bytes: Bytes, opening: Opening) => ({
  bytes,
  layout,
  // Rows are numbered from the first request and the first event. Each of them only grows, so the sum
  // changes whenever pages of either table are dropped.
  birth: opening.birth + opening.n + opening.seq,
});

const otherLog = (name: string): DataFolderError =>
  new DataFolderError(`${name}: it is another log`, { file: name, hint: "move it away" });

export const projectOf = (meta: number): number => meta >>> flagBits;

function countAll(
  requests: Rows,
  events: Rows,
  first: { request: number; event: number },
): Omit<TrafficCounts, "evicted_requests"> {
  const counts = { requests: 0, rejected: 0, events: 0, kept: 0, dropped: 0, warned: 0 };
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
    else {
      counts.kept++;
      if (isWarnedFacet(events.get(row, event.facet))) counts.warned++;
    }
  }
  return counts;
}
