import type { Json } from "../../../kernel/base/json.ts";
import { groupOf } from "../exception.ts";
import type { EventSubject, RequestSubject } from "../filter/types.ts";
import type { EventHead, RequestRow } from "./feed-row.ts";
import { type FeedEntry, type Journal, type Kinds, limits } from "./ports.ts";

/** A row, and its JSON text, which is made once for all clients. */
export interface HeldRow<Row> {
  readonly row: Row;
  text: string | undefined;
}

/** A request in the ring; rows that were not needed on its arrival are missing. */
export interface HeldRequest {
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
/** Bytes of the preview in the text of an event. */
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
export function textOf<Row>(it: HeldRow<Row>, complete: (row: Row) => object = (row) => row as object): string {
  it.text ??= JSON.stringify(complete(it.row));
  return it.text;
}

type Lines = Pick<Journal, "properties" | "text">;

/** An event as filters see it; its line is read only if the filter needs more than the row. */
export function heldEventSubject({ request }: HeldRequest, { row }: HeldRow<EventHead>, lines: Lines): EventSubject {
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

export function heldRequestSubject(held: HeldRequest, { row }: HeldRow<RequestRow>, lines: Lines): RequestSubject {
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

/** The newest requests, numbered without gaps; the oldest are evicted above the limits. */
export interface Ring {
  /** Number of the first request since `begin`. */
  readonly begun: number;
  /** Numbers of the oldest and the newest request it holds; `first` is `last + 1` when it is empty. */
  readonly first: number;
  readonly last: number;
  readonly events: number;
  readonly bytes: number;
  /** After a gap in the numbers it begins anew. */
  push(held: HeldRequest): void;
  at(n: number): HeldRequest | undefined;
  /** Evicts everything; the next request is `last + 1`. */
  begin(last: number): void;
}

const eventsIn = ({ events }: HeldRequest): number => events?.length ?? 0;

/** Empty slots at the front before the list is cut. */
const slack = 1024;

/** A request that is larger than the limits is held alone. */
export function createRing(limits: { readonly events: number; readonly bytes: number }, last: number): Ring {
  let slots: (HeldRequest | undefined)[] = [];
  /** Number of empty slots at the front. */
  let gone = 0;
  let begun = last + 1;
  let first = last + 1;
  let events = 0;
  let bytes = 0;

  function begin(newest: number): void {
    slots = [];
    gone = 0;
    events = 0;
    bytes = 0;
    begun = newest + 1;
    first = begun;
  }

  function dropFirst(): void {
    const dropped = slots[gone];
    if (dropped === undefined) return;
    slots[gone] = undefined;
    gone++;
    first++;
    events -= eventsIn(dropped);
    bytes -= dropped.size;
    if (gone < slack || gone * 2 < slots.length) return;
    slots = slots.slice(gone);
    gone = 0;
  }

  const isTooFull = (): boolean => slots.length - gone > 1 && (events > limits.events || bytes > limits.bytes);

  const ring: Ring = {
    get begun() {
      return begun;
    },
    get first() {
      return first;
    },
    get last() {
      return first + slots.length - gone - 1;
    },
    get events() {
      return events;
    },
    get bytes() {
      return bytes;
    },
    push(held) {
      if (held.n !== ring.last + 1) begin(held.n - 1);
      slots.push(held);
      events += eventsIn(held);
      bytes += held.size;
      while (isTooFull()) dropFirst();
    },
    at: (n) => (n < first ? undefined : slots[gone + n - first]),
    begin,
  };
  return ring;
}

/** @param onNew Called after each new request */
export function createRecent(journal: Journal, onNew: () => void) {
  const ring = createRing(limits.ring, journal.last);
  const kinds = { events: false, requests: false };
  let stop: (() => void) | undefined;

  const begin = () => ring.begin(journal.last);

  function listen(): () => void {
    begin();
    return journal.onEntry(kinds, (entry) => {
      // a session has read it again already
      if (entry.n <= ring.last) return;
      ring.push(holdEntry(entry));
      onNew();
    });
  }

  function readAgain(n: number): HeldRequest | undefined {
    const entry = journal.read(n);
    return entry && holdEntry(entry);
  }

  const hasRows = ({ request, events }: HeldRequest, needs: Kinds): boolean =>
    (request !== undefined || !needs.requests) && (events !== undefined || !needs.events);

  return {
    journal,
    get last() {
      return stop ? ring.last : journal.last;
    },
    /** The oldest request that can be sent, and the newest. */
    get oldest() {
      return ring.first > ring.begun ? ring.first : Math.max(1, ring.begun - limits.readBack);
    },
    /** A request with the rows that are needed, as held or read again; undefined if it is evicted. */
    at(n: number, needs: Kinds) {
      if (n < ring.begun) return readAgain(n);
      const held = ring.at(n);
      return held === undefined || hasRows(held, needs) ? held : readAgain(n);
    },
    /** From now on rows of these kinds are made and held; with no kind it does not listen. */
    attend({ events, requests }: Kinds) {
      Object.assign(kinds, { events, requests });
      if (events || requests) {
        stop ??= listen();
        return;
      }
      stop?.();
      stop = undefined;
      begin();
    },
    /** Evicts everything up to now. */
    begin,
  };
}
