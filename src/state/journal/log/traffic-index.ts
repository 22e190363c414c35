import { fnv1a } from "../../../kernel/base/hash.ts";
import type { Bytes } from "../../../kernel/store/bytes.ts";
import type { Damage } from "../../../kernel/store/damage.ts";
import { lineNumber, textsOf } from "../../../kernel/store/lines.ts";
import type { EventFacts } from "../event.ts";
import type { EventKey, TrafficLine } from "../traffic.ts";
import { clearedProblem, eventFacet, requestFacet } from "./facets.ts";
import { type HidingTable, hideOnly } from "./hidden.ts";
import { type ClearLine, type HiddenLine, lineIn, type Opening, type ProblemsLine } from "./log-lines.ts";
import { RowTable } from "./rows.ts";

/** Columns of requests: offset of the line in bytes (low, high half), facts for counting, hash of the partition, facet. */
export const request = { offsetLow: 0, offsetHigh: 1, meta: 2, partition: 3, facet: 4, width: 5 } as const;
/** Columns of events: number of the request, three hashes, facts for filtering, time (low, high half), reason and warnings. */
export const event = {
  request: 0,
  name: 1,
  distinctId: 2,
  uuid: 3,
  meta: 4,
  timeLow: 5,
  timeHigh: 6,
  facet: 7,
  width: 8,
} as const;

export const rejectedBit = 1;
export const forgottenBit = 2;
export const droppedBit = 1;
export const clearedBit = 2;
/** A flag of both: the number was given out, and the file has no line for it that can be read. */
export const lostBit = 4;
const flagBits = 3;
export const projectOf = (meta: number): number => meta >>> flagBits;

export const noProject = 0;
const noRequest = 0xffffffff;
/** The largest gap in numbers that lines without a checksum may have: a damaged digit must not fill the memory. */
const largestGap = 100_000;
const mostNames = 10_000;

const highOf = (value: number): number => Math.floor(value / 2 ** 32) >>> 0;

const metaOf = (project: number | null, flags: number): number => (((project ?? noProject) << flagBits) | flags) >>> 0;

interface IndexOptions {
  opening: Opening;
  keysOf: (line: TrafficLine) => EventKey[];
  /** Called for an event that may be sent again, with the hash of its uuid. */
  onUnique?: (hash: number, row: number) => void;
  onChange?: () => void;
}

/** The tables over a log. Rows are numbered as requests and events are: a line that is lost leaves rows that are lost. */
export class TrafficIndex {
  readonly requests = new RowTable(request.width);
  readonly events = new RowTable(event.width);
  /** Names by hash: totals name an event even if all lines with it are evicted. */
  readonly #names = new Map<number, string>();
  #opening: Opening;
  readonly #keysOf: IndexOptions["keysOf"];
  readonly #onUnique: (hash: number, row: number) => void;
  readonly #onChange: () => void;

  constructor({ opening, keysOf, onUnique = () => {}, onChange = () => {} }: IndexOptions) {
    this.#opening = opening;
    this.#keysOf = keysOf;
    this.#onUnique = onUnique;
    this.#onChange = onChange;
  }

  addRequest(
    offset: number,
    project: number | null,
    { partition, rejected }: Pick<TrafficLine, "partition" | "rejected">,
    facet: number,
  ): void {
    const meta = metaOf(project, rejected === undefined ? 0 : rejectedBit);
    const hash = partition === undefined ? 0 : fnv1a(partition);
    this.requests.add(offset >>> 0, highOf(offset), meta, hash, facet);
  }

  addEvent(key: EventKey | undefined, facts: EventFacts, project: number | null): void {
    const hash = this.#writeEvent(key, facts, project, this.#opening.n + this.requests.length - 1);
    if (hash !== 0) this.#onUnique(hash, this.events.length - 1);
  }

  /** Adds a row and returns the hash of its uuid; 0 when the event cannot be sent again. */
  #writeEvent(key: EventKey | undefined, facts: EventFacts, project: number | null, n: number): number {
    const { uuid, time, dropped } = facts;
    const isDropped = dropped !== undefined;
    const isUnique = uuid !== null && !isDropped && key?.uuid !== null;
    const hash = isUnique ? fnv1a(uuid) : 0;
    const meta = metaOf(project, isDropped ? droppedBit : 0);
    const name = fnv1a(key?.event ?? "");
    const names = this.#names;
    if (key && names.size < mostNames && !names.has(name)) names.set(name, key.event);
    this.events.add(n, name, fnv1a(key?.distinct_id ?? ""), hash, meta, time >>> 0, highOf(time), eventFacet(facts));
    return hash;
  }

  /** Evicted requests get rows without a line, so that the others have the right numbers. */
  fillUp(): void {
    const { from, n, seq } = this.#opening;
    while (from && this.requests.length < from.n - n) this.requests.add();
    while (from && this.events.length < from.seq - seq) this.events.add(0, 0, 0, 0, clearedBit);
  }

  /** The log begins with a later request. Returns the number of dropped rows of events. */
  dropBefore(next: Opening): number {
    this.#onChange();
    this.requests.dropPagesBefore(next.n - this.#opening.n);
    const dropped = this.events.dropPagesBefore(next.seq - this.#opening.seq);
    this.#opening = next;
    return dropped;
  }

  /** Continues with the first line of another file; the rows must be empty. */
  restart(next: Opening): void {
    this.#onChange();
    this.#opening = next;
  }

  /** Takes a line over at the rows that its numbers name. Returns false when these rows are taken. */
  place(line: TrafficLine, offset: number): boolean {
    const { requests } = this;
    const row = line.n - this.#opening.n;
    if (row < 0 || (row < requests.length && !this.isLost(row))) return false;
    const keys = line.events ? this.#keysOf(line) : undefined;
    while (requests.length < row) requests.add(offset >>> 0, highOf(offset), lostBit);
    this.addRequest(offset, line.project, line, requestFacet(line, keys));
    if (row < requests.length - 1) this.#moveLast(requests, row, request.meta, forgottenBit);
    if (keys) this.#placeEvents(line, keys);
    return true;
  }

  #placeEvents(line: TrafficLine, keys: readonly EventKey[]): void {
    const { events } = this;
    const first = (line.seq ?? 0) - this.#opening.seq;
    while (events.length < first) events.add(noRequest, 0, 0, 0, lostBit);
    line.events?.forEach((it, i) => {
      const at = first + i;
      if (at < events.length && !(events.get(at, event.meta) & lostBit)) return;
      const hash = this.#writeEvent(keys[i], it, line.project, line.n);
      if (at < events.length - 1) this.#moveLast(events, at, event.meta, clearedBit);
      if (hash !== 0) this.#onUnique(hash, at);
    });
  }

  /** Moves the last row of a table to a lost row; what was hidden there stays hidden. */
  #moveLast(rows: RowTable, to: number, meta: number, hiddenBit: number): void {
    this.#onChange();
    const hidden = rows.get(to, meta) & hiddenBit;
    const last = rows.length - 1;
    for (let column = 0; column < rows.width; column++) rows.set(to, column, rows.get(last, column));
    rows.set(to, meta, rows.get(to, meta) | hidden);
    rows.truncate(last);
  }

  clear({ clear: { project, until, requests: lastRequest } }: ClearLine): number {
    this.#onChange();
    const { n, seq, from } = this.#opening;
    const isHit = (meta: number) => project === null || projectOf(meta) === project;
    if (lastRequest !== undefined)
      for (let row = 0; row < Math.min(this.requests.length, lastRequest - n + 1); row++) {
        const meta = this.requests.get(row, request.meta);
        if (isHit(meta)) this.requests.set(row, request.meta, meta | forgottenBit);
      }
    let hidden = 0;
    for (let row = (from?.seq ?? seq) - seq; row < Math.min(this.events.length, until - seq + 1); row++) {
      const meta = this.events.get(row, event.meta);
      if (meta & clearedBit || !isHit(meta)) continue;
      this.events.set(row, event.meta, meta | clearedBit);
      if (!(meta & lostBit)) hidden++;
    }
    return hidden;
  }

  hide({ hidden: { n, seq, hidden } }: HiddenLine): void {
    this.#onChange();
    const tables = this.hidingTables();
    hideOnly(tables.requests, hidden.requests, n);
    hideOnly(tables.events, hidden.events, seq);
  }

  clearProblems({ problems_cleared: { project, seq, n } }: ProblemsLine): void {
    this.#onChange();
    const tables = [
      [this.requests, request, n - this.#opening.n],
      [this.events, event, seq - this.#opening.seq],
    ] as const;
    for (const [rows, { meta, facet }, last] of tables)
      for (let row = 0; row <= Math.min(last, rows.length - 1); row++)
        if (project === null || projectOf(rows.get(row, meta)) === project)
          rows.set(row, facet, (rows.get(row, facet) | clearedProblem) >>> 0);
  }

  /** The name of an event by its hash, as far as it was met since the start. */
  nameOf(hash: number): string | undefined {
    return this.#names.get(hash);
  }

  hidingTables(): Record<"requests" | "events", HidingTable> {
    const { n, seq } = this.#opening;
    return {
      requests: { rows: this.requests, meta: request.meta, hiddenBit: forgottenBit, flagBits, first: n },
      events: { rows: this.events, meta: event.meta, hiddenBit: clearedBit, flagBits, first: seq },
    };
  }

  offsetOf(row: number): number {
    return this.requests.get(row, request.offsetLow) + this.requests.get(row, request.offsetHigh) * 2 ** 32;
  }

  isLost(row: number): boolean {
    return (this.requests.get(row, request.meta) & lostBit) !== 0;
  }

  /** The line of a request cannot be read any more. Returns what is lost, as text. */
  lose(row: number): string {
    this.#onChange();
    const { requests, events } = this;
    requests.set(row, request.meta, requests.get(row, request.meta) | lostBit);
    const lost: number[] = [];
    const n = this.#opening.n + row;
    let at = events.find(event.request, n, -1, 0, 0, events.length);
    for (; at !== -1; at = events.find(event.request, n, -1, 0, at + 1, events.length)) {
      events.set(at, event.meta, events.get(at, event.meta) | lostBit);
      lost.push(at);
    }
    return [...numbers("request", [row], this.#opening.n), ...numbers("event", lost, this.#opening.seq)].join(" with ");
  }
}

interface Gap {
  offset: number;
  isMissing: boolean;
  rows: readonly [from: number, to: number];
  events: readonly [from: number, to: number];
}

interface Reading {
  index: TrafficIndex;
  bytes: Bytes;
  name: string;
  opening: Pick<Opening, "n" | "seq">;
  report: (damage: Damage) => void;
}

/** Indexes the lines from an offset on, and reports unreadable ones with the lost numbers. */
export function readTraffic({ index, bytes, name, opening, report }: Reading, from: number): void {
  const { requests, events } = index;
  const gaps: Gap[] = [];
  let unreadable: number | undefined;
  const damage = (offset: number, detail: string) => report({ file: name, line: lineNumber(bytes, offset), detail });

  for (const { offset, text, isSealed } of textsOf(bytes, from)) {
    const line = text === undefined ? undefined : lineIn(text, isSealed);
    const known = [requests.length, events.length] as const;
    if (line === undefined) unreadable ??= offset;
    else if ("clear" in line) index.clear(line);
    else if ("hidden" in line) index.hide(line);
    else if ("problems_cleared" in line) index.clearProblems(line);
    else if (!("n" in line && "at" in line)) continue;
    else if (!isSealed && gapBefore(line) > largestGap) unreadable ??= offset;
    else if (!index.place(line, offset)) damage(offset, `this line repeats request ${line.n}; it is skipped`);
    else {
      const rows = [known[0], line.n - opening.n] as const;
      const lostEvents = [known[1], line.seq === undefined ? known[1] : line.seq - opening.seq] as const;
      const hasGap = rows[1] > rows[0] || lostEvents[1] > lostEvents[0];
      if (hasGap || unreadable !== undefined)
        gaps.push({ offset: unreadable ?? offset, isMissing: unreadable === undefined, rows, events: lostEvents });
      unreadable = undefined;
    }
  }
  if (unreadable !== undefined)
    damage(unreadable, "this line is damaged; if it held the last request, that request is lost");
  for (const gap of gaps) damage(gap.offset, gapText(gap));

  function gapBefore({ n, seq = 0 }: TrafficLine): number {
    return Math.max(n - opening.n - requests.length, seq - opening.seq - events.length);
  }

  function gapText({ isMissing, rows, events: seqs }: Gap): string {
    const lost = [
      ...numbers("request", lostIn(requests, request.meta, rows), opening.n),
      ...numbers("event", lostIn(events, event.meta, seqs), opening.seq),
    ].join(" with ");
    if (isMissing)
      return lost === "" ? "lines stand in another order" : `lines before this one are missing: ${lost} lost`;
    const hidden = "if it hid events, they are shown again";
    return `this line is damaged: ${lost === "" ? `no request is lost; ${hidden}` : `${lost} lost`}`;
  }
}

function lostIn(rows: RowTable, meta: number, [from, to]: readonly [number, number]): number[] {
  const lost: number[] = [];
  for (let row = from; row < to; row++) if (rows.get(row, meta) & lostBit) lost.push(row);
  return lost;
}

/** `request 5`, `events 7 to 9`. */
export const spanText = (noun: string, from: number, to: number): string =>
  from === to ? `${noun} ${from}` : `${noun}s ${from} to ${to}`;

function numbers(noun: string, rows: readonly number[], first: number): string[] {
  const [from, to] = [rows[0], rows.at(-1)];
  return from === undefined || to === undefined ? [] : [spanText(noun, from + first, to + first)];
}
