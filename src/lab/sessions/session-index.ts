import { isObject, type Json, own } from "../../kernel/base/json.ts";
import { type Counter, countsOf, freshCount, oneByOne, type RowCount } from "../../state/journal/counting.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import { eventKind } from "../../state/journal/event-kinds.ts";
import { openLegacy, propertiesOf, recordingEvent } from "../../state/journal/items.ts";
import type { IndexedEvent, TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { showEvent } from "../../state/journal/show.ts";
import type { TotalsProgress } from "../../state/journal/totals-answer.ts";
import type { TrafficLine } from "../../state/journal/traffic.ts";
import { textOf } from "./preview.ts";
import { type RecordedKind, recordedKind } from "./rrweb.ts";

/** The most sessions, newest first, and the most events and parts that one session, and all of them, list. */
const most = { sessions: 2_000, perSession: 2_000, listed: 300_000, ids: 20, windows: 50 } as const;
const longestId = 200;

export interface SessionSum {
  readonly id: string;
  readonly project: number | null;
  /** With the seq of the newest event of each. */
  readonly distinctIds: Map<string, number>;
  person: string | null;
  start: number;
  end: number;
  firstSeq: number;
  lastSeq: number;
  events: number;
  exceptions: number;
  dropped: number;
  /** Seqs of its events, without those of its recording. */
  readonly seqs: number[];
  readonly parts: PartSum[];
  readonly windows: Set<string>;
  partCount: number;
  bytes: number;
  source: string;
  browser: string | null;
  viewport: { width: number; height: number } | null;
  url: string | null;
  urlSeq: number;
}

interface SessionCount extends RowCount {
  readonly sessions: Map<string, SessionSum>;
  listed: number;
  /** Projects with sessions that are not listed any more. */
  readonly cut: Set<number | null>;
}

const keyOf = (project: number | null, id: string): string => `${project ?? ""} ${id}`;

const freshSession = (id: string, { project, seq }: StoredEvent): SessionSum => ({
  id,
  project,
  distinctIds: new Map(),
  person: null,
  start: Number.POSITIVE_INFINITY,
  end: Number.NEGATIVE_INFINITY,
  firstSeq: seq,
  lastSeq: seq,
  events: 0,
  exceptions: 0,
  dropped: 0,
  seqs: [],
  parts: [],
  windows: new Set(),
  partCount: 0,
  bytes: 0,
  source: "web",
  browser: null,
  viewport: null,
  url: null,
  urlSeq: Number.POSITIVE_INFINITY,
});

const sizeIn = (value: Json | undefined): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined;

/** Bytes as posthog-js counts them; those of the journal's line where it sent none. */
function bytesOf(items: readonly Json[], lineSize: number): number {
  const sizes = items.flatMap((it) => sizeIn(own(propertiesOf(it), "$snapshot_bytes")) ?? []);
  return sizes.length === 0 ? lineSize : sizes.reduce((sum, it) => sum + it, 0);
}

/** The correction that capture made to the first item's time: the same holds for what it contains. */
function shiftOf([first]: readonly Json[], time: number): number {
  const sent = isObject(first) && typeof first.timestamp === "string" ? Date.parse(first.timestamp) : Number.NaN;
  return Number.isFinite(sent) ? time - sent : 0;
}

/** Without decompressing anything. */
function partOf(event: StoredEvent, line: TrafficLine, lineSize: number) {
  const sent = line.body === undefined ? [] : openLegacy(line.body, false).items;
  const { $snapshot_items, $window_id } = event.properties;
  const items = Array.isArray($snapshot_items) ? $snapshot_items : [];
  const time = Date.parse(event.timestamp);
  const shift = shiftOf(sent, time);
  const kinds: Partial<Record<RecordedKind, number>> = {};
  let [start, end] = [time, Number.NEGATIVE_INFINITY];
  for (const item of items) {
    if (!isObject(item)) continue;
    const kind = recordedKind(item);
    kinds[kind] = (kinds[kind] ?? 0) + 1;
    const at = sizeIn(item.timestamp);
    // a damaged time must not stretch the session over years
    if (at === undefined || Math.abs(at + shift - time) > 86_400_000) continue;
    start = Math.min(start, at + shift);
    end = Math.max(end, at + shift);
  }
  return {
    seq: event.seq,
    n: event.request,
    window: typeof $window_id === "string" ? $window_id.slice(0, longestId) : "",
    /** ms, by the journal's time. */
    start,
    end: Math.max(start, end),
    bytes: bytesOf(sent, lineSize),
    items: items.length,
    kinds,
    /** The journal's time minus the browser's. */
    shift,
  };
}

export type PartSum = ReturnType<typeof partOf>;

function addPart(count: SessionCount, session: SessionSum, part: PartSum, source: Json | undefined): void {
  session.partCount++;
  session.bytes += part.bytes;
  session.start = Math.min(session.start, part.start);
  session.end = Math.max(session.end, part.end);
  session.source = textOf(source) ?? session.source;
  if (session.windows.size < most.windows) session.windows.add(part.window);
  if (session.parts.length >= most.perSession || count.listed >= most.listed) return;
  session.parts.push(part);
  count.listed++;
}

function addEvent(count: SessionCount, session: SessionSum, event: StoredEvent): void {
  const { seq, properties, outcome } = event;
  const time = Date.parse(event.timestamp);
  session.events++;
  if (outcome === "dropped") session.dropped++;
  if (eventKind(event.event) === "exception") session.exceptions++;
  session.start = Math.min(session.start, time);
  session.end = Math.max(session.end, time);
  session.browser ??= browserOf(properties.$browser, properties.$browser_version);
  session.viewport ??= viewportOf(properties.$viewport_width, properties.$viewport_height);
  const url = textOf(properties.$current_url);
  if (url !== null && seq < session.urlSeq) [session.url, session.urlSeq] = [url, seq];
  if (session.seqs.length >= most.perSession || count.listed >= most.listed) return;
  session.seqs.push(seq);
  count.listed++;
}

const browserOf = (name: Json | undefined, version: Json | undefined): string | null => {
  const text = textOf(name);
  return text === null ? null : typeof version === "number" ? `${text} ${version}` : text;
};

function viewportOf(given: Json | undefined, other: Json | undefined): SessionSum["viewport"] {
  const [width, height] = [sizeIn(given), sizeIn(other)];
  return width === undefined || height === undefined ? null : { width, height };
}

/** The session of an event; undefined if the index is full and the session older than all in it. */
function sessionFor(count: SessionCount, id: string, event: StoredEvent): SessionSum | undefined {
  const key = keyOf(event.project, id);
  const known = count.sessions.get(key);
  if (known) return known;
  if (count.sessions.size >= most.sessions) {
    const oldest = [...count.sessions].reduce((a, b) => (a[1].lastSeq < b[1].lastSeq ? a : b));
    const isOlder = oldest[1].lastSeq > event.seq;
    count.cut.add(isOlder ? event.project : oldest[1].project);
    if (isOlder) return undefined;
    count.sessions.delete(oldest[0]);
    count.listed -= oldest[1].seqs.length + oldest[1].parts.length;
  }
  const session = freshSession(id, event);
  count.sessions.set(key, session);
  return session;
}

function add(count: SessionCount, event: StoredEvent, line: TrafficLine, lineSize: number): void {
  const { $session_id: id, $snapshot_source } = event.properties;
  if (typeof id !== "string" || id === "" || id.length > longestId) return;
  const session = sessionFor(count, id, event);
  if (!session) return;
  const known = session.distinctIds.get(event.distinct_id);
  if (known !== undefined || session.distinctIds.size < most.ids)
    session.distinctIds.set(event.distinct_id, Math.max(known ?? 0, event.seq));
  if (event.person_id !== null && (session.person === null || event.seq > session.lastSeq))
    session.person = event.person_id;
  session.firstSeq = Math.min(session.firstSeq, event.seq);
  session.lastSeq = Math.max(session.lastSeq, event.seq);
  if (event.event === recordingEvent) addPart(count, session, partOf(event, line, lineSize), $snapshot_source);
  else addEvent(count, session, event);
}

export interface ReadSessions {
  readonly sessions: readonly SessionSum[];
  readonly progress: TotalsProgress;
  /** Projects with sessions that are not listed any more. */
  readonly cut: ReadonlySet<number | null>;
}

/**
 * The journal's index has no sessions: events are read once, newest first, for at most 300 ms in a call; the next one
 * continues.
 */
export function createSessionIndex(log: TrafficLog) {
  const counts = countsOf<SessionCount>(log, 1);

  function* range(count: SessionCount, from: number, to: number, isDown: boolean) {
    for (const { seq, n } of oneByOne<IndexedEvent>((use) => log.eachEvent(from, to, {}, use), isDown)) {
      const line = yield* log.reading(n);
      const index = seq - (line?.seq ?? seq);
      if (!line?.events?.[index]) count.isPart = true;
      else add(count, showEvent(line, index), line, log.sizeOf(n));
      yield seq;
    }
  }
  const counter: Counter<SessionCount> = { first: () => log.firstSeq, last: () => log.lastSeq, range };

  async function read(): Promise<ReadSessions> {
    const { count, progress } = await counts.get("sessions", () => ({
      counter,
      count: { ...freshCount(log.lastSeq), sessions: new Map(), listed: 0, cut: new Set() },
    }));
    const sessions = [...count.sessions.values()].sort((a, b) => b.lastSeq - a.lastSeq);
    const complete = progress.complete && count.cut.size === 0;
    return { sessions, progress: { ...progress, complete }, cut: count.cut };
  }

  return { read };
}
export type SessionIndex = ReturnType<typeof createSessionIndex>;
