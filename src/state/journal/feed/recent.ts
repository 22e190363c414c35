import type { Json } from "../../../kernel/base/json.ts";
import { groupOf } from "../exception.ts";
import type { EventSubject, RequestSubject } from "../filter/types.ts";
import type { RowSelection, Subscription } from "./client-frames.ts";
import type { EventHead, RequestRow } from "./feed-row.ts";
import type { SimFrame } from "./frames.ts";
import { type FeedEntry, type Journal, type Kinds, limits } from "./ports.ts";

/** A row, and its JSON text, which is made once for all clients. */
interface HeldRow<Row> {
  readonly row: Row;
  text: string | undefined;
}

/** A request in the ring; rows that were not needed on its arrival are missing. */
interface HeldRequest {
  readonly n: number;
  readonly project: number | null;
  readonly request: HeldRow<RequestRow> | undefined;
  readonly events: readonly HeldRow<EventHead>[] | undefined;
  /** Estimated bytes, with its texts. */
  readonly size: number;
}

/** Bytes of a request without its rows, and of a row without its strings: objects, keys in JSON, numbers. */
const slotSize = 100;
const rowSize = 400;
const previewSize = 250;

const eventSize = ({ event, distinct_id }: EventHead): number =>
  rowSize + previewSize + 2 * (event.length + distinct_id.length);

const requestSize = ({ target, detail }: RequestRow): number => rowSize + 2 * (target.length + (detail?.length ?? 0));

const held = <Row>(row: Row): HeldRow<Row> => ({ row, text: undefined });

export function holdEntry({ n, project, request, events }: FeedEntry): HeldRequest {
  let size = slotSize;
  if (request) size += requestSize(request);
  if (events) for (const row of events) size += eventSize(row);
  return { n, project, request: request && held(request), events: events?.map(held), size };
}

/** @param complete Adds what the row does not have yet */
function textOf<Row>(it: HeldRow<Row>, complete: (row: Row) => object = (row) => row as object): string {
  it.text ??= JSON.stringify(complete(it.row));
  return it.text;
}

type Lines = Pick<Journal, "properties" | "text">;

/** An event as filters see it; its line is read only if the filter needs more than the row. */
function heldEventSubject({ request }: HeldRequest, { row }: HeldRow<EventHead>, lines: Lines): EventSubject {
  let properties: Readonly<Record<string, Json>> | undefined;
  const propertiesOf = () => {
    properties ??= lines.properties(row);
    return properties;
  };
  return {
    row,
    properties: propertiesOf,
    exceptionGroup: () => groupOf(row.event, propertiesOf),
    request: () => request?.row,
  };
}

function heldRequestSubject(held: HeldRequest, { row }: HeldRow<RequestRow>, lines: Lines): RequestSubject {
  let text: string | undefined;
  return {
    row,
    events: () => (held.events ?? []).map((it) => heldEventSubject(held, it, lines)),
    text() {
      text ??= lines.text(held.n);
      return text;
    },
  };
}

const eventsIn = ({ events }: HeldRequest): number => events?.length ?? 0;

const slack = 1024;

/** The newest requests, numbered without gaps; the oldest are evicted above the limits. A request above them is held alone. */
export class Ring {
  readonly #limits: { readonly events: number; readonly bytes: number };
  #slots: (HeldRequest | undefined)[] = [];
  #gone = 0;
  /** Number of the first request since `begin`. */
  begun: number;
  /** Number of the oldest request that it holds; `last + 1` when it is empty. */
  first: number;
  events = 0;
  bytes = 0;

  constructor(limits: { readonly events: number; readonly bytes: number }, last: number) {
    this.#limits = limits;
    this.begun = last + 1;
    this.first = last + 1;
  }

  get last(): number {
    return this.first + this.#slots.length - this.#gone - 1;
  }

  /** Evicts everything; the next request is `last + 1`. */
  begin(last: number): void {
    this.#slots = [];
    this.#gone = 0;
    this.events = 0;
    this.bytes = 0;
    this.begun = last + 1;
    this.first = this.begun;
  }

  push(held: HeldRequest): void {
    if (held.n !== this.last + 1) this.begin(held.n - 1);
    this.#slots.push(held);
    this.events += eventsIn(held);
    this.bytes += held.size;
    const isTooFull = () => this.events > this.#limits.events || this.bytes > this.#limits.bytes;
    while (this.#slots.length - this.#gone > 1 && isTooFull()) this.#dropFirst();
  }

  at(n: number): HeldRequest | undefined {
    return n < this.first ? undefined : this.#slots[this.#gone + n - this.first];
  }

  #dropFirst(): void {
    const dropped = this.#slots[this.#gone];
    if (dropped === undefined) return;
    this.#slots[this.#gone] = undefined;
    this.#gone++;
    this.first++;
    this.events -= eventsIn(dropped);
    this.bytes -= dropped.size;
    if (this.#gone < slack || this.#gone * 2 < this.#slots.length) return;
    this.#slots = this.#slots.slice(this.#gone);
    this.#gone = 0;
  }
}

const hasRows = ({ request, events }: HeldRequest, needs: Kinds): boolean =>
  (request !== undefined || !needs.requests) && (events !== undefined || !needs.events);

/** The requests that can be sent: those of the ring, and older ones, which are read again. */
export class Recent {
  readonly journal: Journal;
  readonly #onNew: () => void;
  readonly #ring: Ring;
  readonly #kinds = { events: false, requests: false };
  #stop: (() => void) | undefined;

  constructor(journal: Journal, onNew: () => void) {
    this.journal = journal;
    this.#onNew = onNew;
    this.#ring = new Ring(limits.ring, journal.last);
  }

  get last(): number {
    return this.#stop ? this.#ring.last : this.journal.last;
  }

  get oldest(): number {
    const { first, begun } = this.#ring;
    return first > begun ? first : Math.max(1, begun - limits.readBack);
  }

  at(n: number, needs: Kinds): HeldRequest | undefined {
    if (n < this.#ring.begun) return this.#readAgain(n);
    const held = this.#ring.at(n);
    return held === undefined || hasRows(held, needs) ? held : this.#readAgain(n);
  }

  #readAgain(n: number): HeldRequest | undefined {
    const entry = this.journal.read(n);
    return entry && holdEntry(entry);
  }

  attend({ events, requests }: Kinds): void {
    Object.assign(this.#kinds, { events, requests });
    if (events || requests) {
      this.#stop ??= this.#listen();
      return;
    }
    this.#stop?.();
    this.#stop = undefined;
    this.begin();
  }

  #listen(): () => void {
    this.begin();
    return this.journal.onEntry(this.#kinds, (entry) => {
      // a session has read it again already
      if (entry.n <= this.#ring.last) return;
      this.#ring.push(holdEntry(entry));
      this.#onNew();
    });
  }

  begin(): void {
    this.#ring.begin(this.journal.last);
  }
}

export interface Batch {
  readonly bytes: Buffer;
  readonly to: number;
}

type HeldSource = Pick<Recent, "journal" | "last" | "at">;

export const bytesOf = (frame: SimFrame): Buffer => Buffer.from(JSON.stringify(frame));

function add<Row, Subject>(
  texts: string[],
  rows: readonly HeldRow<Row>[] | undefined,
  selection: RowSelection<Subject>,
  passes: (it: HeldRow<Row>) => boolean,
  textFor: (it: HeldRow<Row>) => string,
): number {
  if (selection === "none" || rows === undefined) return 0;
  let added = 0;
  for (const it of rows) {
    if (selection !== "all" && !passes(it)) continue;
    const text = textFor(it);
    texts.push(text);
    added += text.length;
  }
  return added;
}

const test = <Subject>(selection: RowSelection<Subject>, makeSubject: () => Subject, now: number): boolean =>
  typeof selection === "string" ? selection === "all" : selection.test(makeSubject(), now);

function gapFrom(from: number, source: HeldSource, needs: Kinds): Batch {
  let to = from;
  while (to < source.last && source.at(to + 1, needs) === undefined) to++;
  return { bytes: bytesOf({ t: "gap", from, to, why: "old" }), to };
}

/** The next frame after `cursor`; there must be a newer request. @param now The time of the sim's clock, ms */
export function batchAfter(
  cursor: number,
  source: HeldSource,
  { project, events, requests, columns, needs }: Subscription,
  now: number,
): Batch {
  const from = cursor + 1;
  const { journal } = source;
  // texts are shared by all clients that have no columns
  const eventText = (it: HeldRow<EventHead>) =>
    columns.length === 0
      ? textOf(it, (row) => journal.complete(row, columns))
      : JSON.stringify(journal.complete(it.row, columns));
  if (source.at(from, needs) === undefined) return gapFrom(from, source, needs);
  const eventTexts: string[] = [];
  const requestTexts: string[] = [];
  const most = Math.min(source.last, cursor + limits.batch.requests);
  let to = cursor;
  let examined = 0;
  let characters = 0;
  while (to < most && examined < limits.batch.events && characters < limits.batch.characters) {
    const held = source.at(to + 1, needs);
    if (held === undefined) break;
    to++;
    examined += held.events?.length ?? 0;
    if (project !== undefined && held.project !== project) continue;
    characters += add(
      eventTexts,
      held.events,
      events,
      (it) => test(events, () => heldEventSubject(held, it, journal), now),
      eventText,
    );
    characters += add(
      requestTexts,
      held.request && [held.request],
      requests,
      (it) => test(requests, () => heldRequestSubject(held, it, journal), now),
      (it) => textOf(it),
    );
  }
  const text = `{"t":"rows","from":${from},"to":${to},"events":[${eventTexts.join(",")}],"requests":[${requestTexts.join(",")}]}`;
  return { bytes: Buffer.from(text), to };
}
