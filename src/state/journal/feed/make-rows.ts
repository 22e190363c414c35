import { decodingText, endOfPiece } from "../../../kernel/base/bytes-turns.ts";
import type { Json } from "../../../kernel/base/json.ts";
import { charactersPerStep, isQuick, writingJson } from "../../../kernel/base/json-turns.ts";
import { atOnce, once, type Stepwise } from "../../../kernel/base/work.ts";
import type { EventFacts } from "../event.ts";
import { groupOf } from "../exception.ts";
import type { EventSubject, Filter, RequestSubject } from "../filter/types.ts";
import { noProperties } from "../items.ts";
import { headOf, type RequestHead, type TrafficLog, type Written } from "../log/traffic-log.ts";
import { keysOf, sentProperties, showEvent } from "../show.ts";
import type { EventKey, TrafficLine } from "../traffic.ts";
import { isUnmatched } from "../unmatched.ts";
import type { EventHead, EventRow, RequestRow } from "./feed-row.ts";
import type { FeedEntry, Journal } from "./ports.ts";
import { columnValues, previewOf } from "./preview.ts";

const noEvents: readonly EventFacts[] = [];
const noWarnings: readonly string[] = [];

function droppedIn(events: readonly EventFacts[]): number {
  let count = 0;
  for (const { dropped } of events) if (dropped !== undefined) count++;
  return count;
}

function sourceOf({ scripted, fault, source }: RequestHead): string {
  if (scripted) return "script";
  return fault === undefined ? (source ?? "emulator") : "fault";
}

function requestRowOf(line: RequestHead): RequestRow {
  const { rejected } = line;
  return {
    n: line.n,
    at: line.at,
    method: line.method,
    target: line.target,
    status: line.status,
    ms: line.us / 1000,
    project: line.project,
    outcome: rejected ? "rejected" : "answered",
    reason: rejected?.reason ?? null,
    detail: rejected?.detail ?? null,
    unmatched: isUnmatched(line),
    fault: line.fault ?? null,
    source: sourceOf(line),
    partition: line.partition ?? null,
    events: line.carried,
    dropped: line.dropped,
  };
}

/** The row of a request that was just written, without reading its line. */
function writtenRequestRow({ n, count, entry }: Written): RequestRow {
  const { record } = entry;
  // without spreads: this runs for every request while a page shows requests
  const events = count === 0 ? noEvents : (record.events ?? noEvents);
  return requestRowOf({
    n,
    at: entry.at,
    method: entry.method,
    target: entry.target,
    status: entry.status,
    us: entry.ms * 1000,
    project: entry.project,
    rejected: record.rejected,
    fault: record.fault,
    scripted: record.scripted,
    source: record.source,
    partition: record.partition,
    carried: events.length,
    dropped: droppedIn(events),
  });
}

/** Keys by line: they are read once for all its events, because a batch may have thousands. */
const keysByLine = new WeakMap<TrafficLine, readonly EventKey[]>();

function keysIn(line: TrafficLine): readonly EventKey[] {
  const known = keysByLine.get(line);
  if (known) return known;
  const keys = keysOf(line);
  keysByLine.set(line, keys);
  return keys;
}

interface Carrier {
  readonly n: number;
  readonly at: number;
  readonly project: number | null;
  readonly seq: number;
}

const eventHead = (carrier: Carrier, i: number, facts: EventFacts, key: EventKey | undefined): EventHead => ({
  seq: carrier.seq + i,
  n: carrier.n,
  i,
  at: carrier.at,
  time: facts.time,
  project: carrier.project,
  event: key?.event ?? "",
  distinct_id: key?.distinct_id ?? "",
  person: facts.person,
  outcome: facts.dropped === undefined ? "kept" : "dropped",
  reason: facts.dropped ?? null,
  warnings: facts.warnings ?? noWarnings,
});

function eventHeadOf(line: TrafficLine, i: number): EventHead {
  const { n, at, project, seq = 0 } = line;
  const facts = line.events?.[i];
  if (facts === undefined) throw new RangeError(`request ${n} has no event ${i}`);
  return eventHead({ n, at, project, seq }, i, facts, keysIn(line)[i]);
}

export function eventRowOf(head: EventHead, line: TrafficLine | undefined, columns: readonly string[] = []): EventRow {
  const sent = line === undefined ? noProperties : sentProperties(line, head.i);
  const row = { ...head, ...previewOf(head.event, sent) };
  if (columns.length === 0) return row;
  const all = line === undefined ? noProperties : showEvent(line, head.i).properties;
  return { ...row, values: columnValues(all, columns) };
}

function writtenEventHeads({ n, seq, count, entry }: Written): readonly EventHead[] {
  const { record, at, project } = entry;
  if (count === 0) return [];
  const carrier = { n, at, project, seq };
  return (record.events ?? noEvents).map((facts, i) => eventHead(carrier, i, facts, record.keys?.[i]));
}

export function eventSubject(line: TrafficLine, i: number): EventSubject {
  const row = eventHeadOf(line, i);
  const properties = once(() => showEvent(line, i).properties);
  return {
    row,
    properties,
    exceptionGroup: () => groupOf(row.event, properties),
    request: once(() => requestRowOf(headOf(line))),
  };
}

function* textOf(value: Json | undefined): Stepwise<string> {
  if (value === undefined) return "";
  if (isQuick(value)) return (typeof value === "string" ? value : JSON.stringify(value)).toLowerCase();
  const text = typeof value === "string" ? value : yield* decodingText(yield* writingJson(value));
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = endOfPiece(text, from, charactersPerStep);
    parts.push(text.slice(from, to).toLowerCase());
    from = to;
    yield;
  }
  return parts.join("");
}

function* requestText({ body, raw, reply }: TrafficLine): Stepwise<string> {
  const sent = body ?? (raw && "text" in raw ? raw.text : undefined);
  return `${yield* textOf(sent)}\n${yield* textOf(reply)}`;
}

/** The row of a request if the filter passes it, in steps. The line is read only if its head is not enough. */
export function* passedRequest(
  log: TrafficLog,
  head: RequestHead,
  filter: Filter<RequestSubject>,
  now: number,
): Stepwise<RequestRow | undefined> {
  const row = requestRowOf(head);
  const asked = { events: false, text: false };
  let events: readonly EventSubject[] | undefined = head.carried > 0 ? undefined : [];
  let text: string | undefined;
  const subject: RequestSubject = {
    row,
    events() {
      asked.events = true;
      return events ?? [];
    },
    text() {
      asked.text = true;
      return text ?? "";
    },
  };
  for (;;) {
    const isPassed = filter.test(subject, now);
    const isLacking = { events: asked.events && !events, text: asked.text && text === undefined };
    if (!isLacking.events && !isLacking.text) return isPassed ? row : undefined;
    const line = yield* log.reading(head.n);
    if (isLacking.events) events = line?.events?.map((_, i) => eventSubject(line, i)) ?? [];
    if (isLacking.text) text = line ? yield* requestText(line) : "";
  }
}

function visibleIn({ seq, events }: TrafficLine, log: TrafficLog): number[] {
  if (seq === undefined || events === undefined) return [];
  return Array.from(log.scan({ since: seq - 1, until: seq + events.length - 1 }), ({ index }) => index);
}

const entryOf = (line: TrafficLine, log: TrafficLog): FeedEntry => ({
  n: line.n,
  project: line.project,
  request: requestRowOf(headOf(line)),
  events: visibleIn(line, log).map((i) => eventHeadOf(line, i)),
});

export const feedJournal = (log: TrafficLog): Journal => ({
  get last() {
    return log.lastRequest;
  },
  read(n) {
    const line = log.line(n);
    return line && entryOf(line, log);
  },
  properties({ n, i }) {
    const line = log.line(n);
    return line === undefined ? {} : eventSubject(line, i).properties();
  },
  complete: (head, columns) => eventRowOf(head, log.line(head.n), columns),
  text(n) {
    const line = log.line(n);
    return line === undefined ? "" : atOnce(requestText(line));
  },
  onEntry: (kinds, listener) =>
    log.subscribe((written) =>
      listener({
        n: written.n,
        project: written.entry.project,
        request: kinds.requests ? writtenRequestRow(written) : undefined,
        events: kinds.events ? writtenEventHeads(written) : undefined,
      }),
    ),
  onVeiled: (listener) => log.onVeiled(({ project }) => listener(project)),
});
