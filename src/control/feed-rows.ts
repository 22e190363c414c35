import type { EventSubject, RequestSubject } from "../filter/types.ts";
import { keysOf, showEvent } from "../ingest/show.ts";
import type { Json } from "../kernel/json.ts";
import type { EventRow, RequestRow } from "../model/row.ts";
import type { EventKey, TrafficLine } from "../model/traffic.ts";
import { isUnmatched } from "../model/unmatched.ts";
import type { Written } from "../store/traffic-log.ts";

const droppedIn = ({ events = [] }: TrafficLine): number =>
  events.reduce((count, it) => count + (it.dropped === undefined ? 0 : 1), 0);

/** As the header `x-phx-source` of the answer says it (http/app.ts). */
function sourceOf({ scripted, fault, source }: TrafficLine): string {
  if (scripted) return "script";
  return fault === undefined ? (source ?? "emulator") : "fault";
}

/** A line of the journal as the row of its request. */
export const requestRowOf = (line: TrafficLine): RequestRow => ({
  n: line.n,
  at: line.at,
  method: line.method,
  target: line.target,
  status: line.status,
  ms: line.us / 1000,
  project: line.project,
  outcome: line.rejected ? "rejected" : "answered",
  reason: line.rejected?.reason ?? null,
  detail: line.rejected?.detail ?? null,
  unmatched: isUnmatched(line),
  fault: line.fault ?? null,
  source: sourceOf(line),
  partition: line.partition ?? null,
  events: line.events?.length ?? 0,
  dropped: droppedIn(line),
});

/** The keys of a line are read once for all its events: a batch may have thousands. */
const keysByLine = new WeakMap<TrafficLine, readonly EventKey[]>();

function keysIn(line: TrafficLine): readonly EventKey[] {
  const known = keysByLine.get(line);
  if (known) return known;
  const keys = keysOf(line);
  keysByLine.set(line, keys);
  return keys;
}

/** What of a line its rows are made of: nothing that was sent is read again. Headers and bodies are missing. */
export function lineOfWritten({ n, seq, count, entry }: Written): TrafficLine {
  const { note } = entry;
  const events = count === 0 ? undefined : note.events;
  // spelled out: this is done for every request while a page is open
  const line: TrafficLine = {
    n,
    at: entry.at,
    method: entry.method,
    target: entry.masked,
    peer: entry.peer,
    status: entry.status,
    us: entry.ms * 1000,
    project: entry.project,
    rejected: note.rejected,
    fault: note.fault,
    scripted: note.scripted,
    source: note.source,
    partition: note.partition,
    seq: events && seq,
    events,
    headers: [],
  };
  if (events) keysByLine.set(line, note.keys ?? []);
  return line;
}

/** One event of a line as a row; `i` counts from 0. @throws RangeError when the line has no such event */
export function eventRowOf(line: TrafficLine, i: number): EventRow {
  const facts = line.events?.[i];
  if (facts === undefined) throw new RangeError(`request ${line.n} has no event ${i}`);
  const key = keysIn(line)[i];
  return {
    seq: (line.seq ?? 0) + i,
    n: line.n,
    i,
    at: line.at,
    time: facts.time,
    project: line.project,
    event: key?.event ?? "",
    distinct_id: key?.distinct_id ?? "",
    person: facts.person,
    outcome: facts.dropped === undefined ? "kept" : "dropped",
    reason: facts.dropped ?? null,
    warnings: facts.warnings ?? [],
  };
}

/** The value, made when it is first asked for. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** What a filter is told of one event of a line; `i` counts from 0. */
export const eventSubject = (line: TrafficLine, i: number): EventSubject => ({
  row: eventRowOf(line, i),
  properties: once(() => showEvent(line, i).properties),
  request: once(() => requestRowOf(line)),
});

const textOf = (value: Json | undefined): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

/** What a filter is told of the request of a line. */
export const requestSubject = (line: TrafficLine): RequestSubject => ({
  row: requestRowOf(line),
  events: once(() => (line.events ?? []).map((_, i) => eventSubject(line, i))),
  text() {
    const raw = line.raw && "text" in line.raw ? line.raw.text : undefined;
    return [textOf(line.body ?? raw), textOf(line.reply)].join("\n");
  },
});
