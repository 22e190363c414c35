import { fnv1a } from "../../kernel/base/hash.ts";
import type { Json } from "../../kernel/base/json.ts";
import { createEventBytesReader, type EventBytes, type EventValue } from "../../state/journal/event-bytes.ts";
import { legacyKey, outsideEvents, v1Key } from "../../state/journal/items.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import type { Steps } from "./table.ts";
import { type Distinct, type DistinctTexts, distinctJson, distinctTexts, textsIn, withRoom } from "./values.ts";

/** A property of a project's events, by row. */
export interface PropertyColumn {
  readonly name: string;
  readonly codes: Uint32Array;
  readonly distinct: Distinct<Json | undefined>;
  /** Rows that were read. */
  readonly length: number;
  /** What it takes, in bytes. */
  readonly bytes: number;
  /** Sets the value of a row that was not read yet; earlier ones that were not set have none. `rows`: expected number. */
  set(row: number, bytes: Buffer, value: EventValue, rows: number): void;
  /** The rows up to this one are read; those that were not set have no value. */
  skipTo(row: number, rows: number): void;
}

export function createPropertyColumn(name: string): PropertyColumn {
  const distinct = distinctJson();
  let codes = new Uint32Array(0);
  let length = 0;
  function skipTo(row: number, rows: number): void {
    if (row <= length) return;
    if (row > codes.length) codes = withRoom(codes, codes.length === 0 ? Math.max(row, rows) : row);
    length = row;
  }
  return {
    name,
    distinct,
    get codes() {
      return codes;
    },
    get length() {
      return length;
    },
    get bytes() {
      return codes.byteLength + distinct.bytes;
    },
    set(row, bytes, { from, to, made }, rows) {
      if (row < length) return;
      skipTo(row + 1, rows);
      codes[row] = made ? distinct.codeOf(made.value) : distinct.codeAt(bytes, from, to);
    },
    skipTo,
  };
}

/**
 * The rows of a project's events, in order of arrival. Arrays are replaced when they grow; rows that were read do not
 * change.
 */
export interface EventRows {
  readonly length: number;
  readonly times: Float64Array;
  readonly seqs: Float64Array;
  readonly names: Uint32Array;
  readonly ids: Uint32Array;
  /** The person of each event when it arrived. */
  readonly persons: Uint32Array;
  readonly nameTexts: DistinctTexts;
  readonly idTexts: DistinctTexts;
  readonly personTexts: DistinctTexts;
  /** What the rows take, in bytes; an estimate. */
  readonly bytes: number;
  /** Seq up to which the journal was read. */
  readonly readTo: number;
  /** Row of the first event whose line is held. */
  firstHeld(): number;
  /** False if events went, or came back, since they were read. Then these rows are of no use. */
  check(): Steps<boolean>;
  /** True as long as no check is due. */
  isCurrent(): boolean;
  /** Reads new events, and these columns of the others. Ends early once a check is due. */
  read(columns: readonly PropertyColumn[]): Steps<void>;
}

/** Rows of the index in a step of a check. */
const checkStep = 8_192;

/** Rows of evicted events that are kept in any case. */
const mostEvicted = 4_096;

/** What the service keeps apart is no event of queries. */
const outsideHashes: ReadonlySet<number> = new Set([...outsideEvents].map((name) => fnv1a(name)));

const dollar = 0x24;

/** True for an event that the service keeps apart: all those names begin with `$$`, but for recordings, which have no bytes here. */
const isOutside = ({ bytes, name: { from, to, made } }: EventBytes): boolean =>
  made
    ? outsideEvents.has(String(made.value))
    : bytes[from + 1] === dollar &&
      bytes[from + 2] === dollar &&
      outsideEvents.has(bytes.toString("utf8", from + 1, to - 1));

export function createEventRows(log: TrafficLog, project: number): EventRows {
  let revision = log.revision;
  let length = 0;
  let readTo = 0;
  let times = new Float64Array(0);
  let seqs = new Float64Array(0);
  let names = new Uint32Array(0);
  let ids = new Uint32Array(0);
  let persons = new Uint32Array(0);
  /** By the code of a distinct id: the row in `readers.persons` of its last person, and 1. */
  let personRows = new Uint32Array(0);
  const [nameTexts, idTexts, personTexts] = [distinctTexts(), distinctTexts(), distinctTexts()];
  const readers = {
    names: {
      legacy: textsIn(nameTexts, (event) => legacyKey({ event }).event),
      v1: textsIn(nameTexts, (event) => v1Key({ event }).event),
    },
    ids: {
      legacy: textsIn(idTexts, (distinct_id) => legacyKey({ distinct_id }).distinct_id),
      v1: textsIn(idTexts, (distinct_id) => v1Key({ distinct_id }).distinct_id),
    },
    persons: textsIn(personTexts, String),
  };

  function firstHeld(): number {
    const first = log.firstHeldSeq;
    let [low, high] = [0, length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((seqs[middle] ?? 0) >= first) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Rows of evicted events, and their distinct values, take memory until all are read again. */
  function isMostlyEvicted(): boolean {
    const evicted = firstHeld();
    return evicted > mostEvicted && evicted > length / 2;
  }

  function* check(): Steps<boolean> {
    if (isMostlyEvicted()) return false;
    if (log.revision === revision) return true;
    const checked = log.revision;
    const first = Math.max(1, log.firstHeldSeq);
    let row = firstHeld();
    let isSame = true;
    for (let from = first; from <= readTo && isSame; from += checkStep) {
      const to = Math.min(readTo, from + checkStep - 1);
      log.eachEvent(from, to, { project, outcome: "kept" }, ({ seq, name }) => {
        if (row < length && seqs[row] === seq) row++;
        else if (!outsideHashes.has(name)) isSame = false;
      });
      yield;
      if (log.revision !== checked) return yield* check();
    }
    if (!isSame || row < length) return false;
    revision = checked;
    return true;
  }

  /** Counts the new events up to a seq, so that arrays need not grow step by step. */
  function* makeRoom(end: number): Steps<void> {
    let rows = length;
    for (let from = readTo + 1; from <= end; from += checkStep) {
      const to = Math.min(end, from + checkStep - 1);
      log.eachEvent(from, to, { project, outcome: "kept" }, () => rows++);
      yield;
    }
    times = withRoom(times, rows);
    seqs = withRoom(seqs, rows);
    names = withRoom(names, rows);
    ids = withRoom(ids, rows);
    persons = withRoom(persons, rows);
  }

  /** Most events have the person of the last event with the same id. */
  function personAt(bytes: Buffer, { from, to }: EventValue, id: number): number {
    if (from === to) return 0;
    personRows = withRoom(personRows, id + 1);
    const row = readers.persons.rowAt(bytes, from, to, (personRows[id] ?? 0) - 1);
    personRows[id] = row + 1;
    return readers.persons.codeOf(row);
  }

  function add({ seq, time, shape, bytes, name, id, person }: EventBytes): void {
    times[length] = time;
    seqs[length] = seq;
    names[length] = name.made
      ? nameTexts.codeOf(String(name.made.value))
      : readers.names[shape].codeAt(bytes, name.from, name.to);
    ids[length] = id.made ? idTexts.codeOf(String(id.made.value)) : readers.ids[shape].codeAt(bytes, id.from, id.to);
    persons[length] = personAt(bytes, person, ids[length] ?? 0);
    length++;
  }

  function* read(columns: readonly PropertyColumn[]): Steps<void> {
    const end = log.lastWrittenSeq;
    yield* makeRoom(end);
    if (log.revision !== revision) return;
    const behind = columns.filter((it) => it.length < length || readTo < end);
    let row = Math.max(firstHeld(), Math.min(length, ...behind.map((it) => it.length)));
    const reader = createEventBytesReader(behind.map((it) => it.name));
    const take = (event: EventBytes): void => {
      if (isOutside(event)) return;
      while (row < length && (seqs[row] ?? 0) < event.seq) row++;
      if (row === length) {
        add(event);
        readTo = event.seq;
      }
      for (let k = 0; k < behind.length; k++) {
        const value = event.properties[k];
        if (value) behind[k]?.set(row, event.bytes, value, length);
      }
      row++;
    };
    const since = row < length ? (seqs[row] ?? 0) - 1 : readTo;
    for (const line of log.lines({ project, outcome: "kept", since, until: end })) {
      if (line) {
        for (const _ of reader.read(line, take)) {
          yield;
          if (log.revision !== revision) return;
        }
      }
      yield;
      if (log.revision !== revision) return;
    }
    readTo = Math.max(readTo, end);
    for (const column of behind) column.skipTo(length, length);
  }

  return {
    get length() {
      return length;
    },
    get times() {
      return times;
    },
    get seqs() {
      return seqs;
    },
    get names() {
      return names;
    },
    get ids() {
      return ids;
    },
    get persons() {
      return persons;
    },
    nameTexts,
    idTexts,
    personTexts,
    get bytes() {
      const arrays = [times, seqs, names, ids, persons].reduce((sum, it) => sum + it.byteLength, 0);
      return arrays + 2 * (nameTexts.bytes + idTexts.bytes + personTexts.bytes);
    },
    get readTo() {
      return readTo;
    },
    firstHeld,
    check,
    isCurrent: () => log.revision === revision && !isMostlyEvicted(),
    read,
  };
}
