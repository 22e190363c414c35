import { isoOf } from "../../kernel/base/clock.ts";
import { SimError } from "../../kernel/base/errors.ts";
import { own } from "../../kernel/base/json.ts";
import { inSlices, type Work } from "../../kernel/base/work.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { createBudget } from "../../state/journal/search.ts";
import { previewOf, textOf } from "./preview.ts";
import { bySeq, eventAt, kindsOf, linkTo, readPart, searching, undecidedOf } from "./recordings.ts";
import {
  createSessionIndex,
  type PartSum,
  type ReadSessions,
  type SessionIndex,
  type SessionSum,
} from "./session-index.ts";
import {
  RecordingFindings,
  RecordingListQuery,
  type RecordingLoss,
  RecordingPage,
  RecordingQuery,
  RecordingSearchOrder,
  type SessionEvent,
  SessionEventPage,
  SessionEventsQuery,
  SessionListQuery,
  type SessionPart,
  SessionQuery,
  StoredRecording,
  StoredRecordingPage,
  type StoredSession,
  StoredSessionDetails,
  StoredSessionPage,
} from "./shapes.ts";
import { valuesOf } from "./wanted.ts";

interface SessionPorts {
  readonly log: TrafficLog;
  readonly people: { personOf(project: number, distinctId: string): { readonly uuid: string } | undefined };
}

/** A page of a recording ends after this many characters, or parts. */
const pageSize = { characters: 4 * 1024 * 1024, parts: 200 };
/** Calls to the index until a session that is not known yet counts as missing: 3 s. */
const mostReads = 10;

const showSession = (it: SessionSum): StoredSession => ({
  id: it.id,
  project: it.project,
  distinct_ids: [...it.distinctIds].sort(([, a], [, b]) => b - a).map(([id]) => id),
  person_id: it.person,
  start: isoOf(it.start),
  end: isoOf(it.end),
  first_seq: it.firstSeq,
  last_seq: it.lastSeq,
  events: it.events,
  exceptions: it.exceptions,
  dropped: it.dropped,
  recording:
    it.partCount === 0 ? null : { parts: it.partCount, bytes: it.bytes, windows: it.windows.size, source: it.source },
  browser: it.browser,
  viewport: it.viewport,
  url: it.url,
});

const showPart = ({ seq, n, window, start, end, bytes, items, kinds }: PartSum): SessionPart => ({
  seq,
  request: n,
  window,
  start: isoOf(start),
  end: isoOf(end),
  bytes,
  items,
  kinds,
});

const isOf = (session: SessionSum, project: number | undefined): boolean =>
  project === undefined || session.project === project;

function showSessionEvent(it: StoredEvent): SessionEvent {
  const property = (name: string): string | null => textOf(own(it.properties, name));
  return {
    seq: it.seq,
    request: it.request,
    event: it.event,
    timestamp: it.timestamp,
    outcome: it.outcome,
    reason: it.reason,
    warnings: it.warnings,
    window: property("$window_id"),
    url: property("$current_url"),
    title: property("title") ?? property("$title"),
    text: previewOf(it),
  };
}

function eventsOf(log: TrafficLog, session: SessionSum, offset: number, limit: number): SessionEventPage {
  const seqs = session.seqs.toSorted((a, b) => a - b);
  const isSpent = createBudget();
  const events: SessionEvent[] = [];
  for (let at = offset; at < seqs.length; at++) {
    const event = eventAt(log, seqs[at] ?? 0);
    if (event) events.push(showSessionEvent(event));
    const isFull = event !== undefined && isSpent(log.sizeOf(event.request));
    if (at + 1 < seqs.length && (at + 1 - offset === limit || isFull)) return { events, next: at + 1 };
  }
  return { events, next: null };
}

function* recordingFrom(log: TrafficLog, parts: readonly PartSum[], from: number): Work<RecordingPage> {
  const page: RecordingPage = { parts: [], missing: [], next: null };
  let size = 0;
  for (let at = from; at < parts.length; at++) {
    const part = parts[at];
    if (!part) break;
    if (size >= pageSize.characters || at - from >= pageSize.parts) return { ...page, next: at };
    const { seq, window, shift } = part;
    const decoded = yield* readPart(log, part);
    size += decoded.size + log.sizeOf(part.n);
    page.parts.push({ seq, window, shift_ms: shift, events: [...decoded.events] });
    page.missing.push(...decoded.losses.map((it) => ({ seq, ...it })));
  }
  return page;
}

/** True for sessions of a person, by uuid or by one of its ids: ids may have been merged since. */
function isOfPerson({ people }: SessionPorts, wanted: string): (it: SessionSum) => boolean {
  const personOf = (project: number | null, id: string) =>
    project === null ? undefined : people.personOf(project, id)?.uuid;
  return ({ project, person, distinctIds }) => {
    if (person === wanted || distinctIds.has(wanted)) return true;
    const uuid = personOf(project, wanted) ?? wanted;
    return [...distinctIds.keys()].some((id) => personOf(project, id) === uuid);
  };
}

const holds = ({ id, distinctIds }: SessionSum, text: string): boolean =>
  id.includes(text) || [...distinctIds.keys()].some((it) => it.includes(text));

class Sessions {
  readonly #ports: SessionPorts;
  readonly #index: SessionIndex;

  constructor(ports: SessionPorts) {
    this.#ports = ports;
    this.#index = createSessionIndex(ports.log);
  }

  get log(): TrafficLog {
    return this.#ports.log;
  }

  async list(query: SessionListQuery): Promise<StoredSessionPage> {
    const { project, person, search, recorded, limit, offset } = query;
    const { sessions, progress } = await this.#index.read();
    const isWanted = person === undefined ? () => true : isOfPerson(this.#ports, person);
    const found = sessions.filter(
      (it) =>
        isOf(it, project) &&
        (recorded === undefined || it.partCount > 0 === recorded) &&
        (search === undefined || holds(it, search)) &&
        isWanted(it),
    );
    return {
      sessions: found.slice(offset, offset + limit).map(showSession),
      more: found.length > offset + limit,
      complete: progress.complete,
      reading: progress.counting,
    };
  }

  /** Waits for the index until it has the session, or all of them. @throws SimError not_found */
  async named(id: string, project: number | undefined): Promise<SessionSum & Pick<ReadSessions, "progress">> {
    for (let turn = 1; ; turn++) {
      const { sessions, progress } = await this.#index.read();
      const found = sessions.find((it) => it.id === id && isOf(it, project));
      if (found) return { ...found, progress };
      if (progress.counting && turn < mostReads) continue;
      throw new SimError("not_found", `there is no session ${JSON.stringify(id)}`, {
        hint: progress.counting
          ? "older events are still being read: ask again"
          : "sessions are known by the $session_id of their events",
      });
    }
  }

  /** @throws SimError not_found */
  async recorded(id: string, project: number | undefined) {
    const session = await this.named(id, project);
    if (session.partCount > 0) return session;
    throw new SimError("not_found", `the session ${JSON.stringify(id)} has no recording`, {
      hint: "`GET /__sim/recordings` lists the sessions that have one",
    });
  }

  /** All sessions, once the index has read every event. */
  async all(signal: AbortSignal): Promise<ReadSessions> {
    for (;;) {
      const read = await this.#index.read();
      if (!read.progress.counting) return read;
      signal.throwIfAborted();
    }
  }
}

const sessionRows = (index: Sessions) => [
  row({
    method: "GET",
    path: "/__sim/sessions",
    access: "control",
    summary: "Lists the sessions of the events, by their $session_id, newest first",
    query: SessionListQuery,
    reply: StoredSessionPage,
    handle: ({ query }) => index.list(query),
  }),
  row({
    method: "GET",
    path: "/__sim/sessions/:id",
    access: "control",
    summary: "Returns one session, with the parts of its recording",
    query: SessionQuery,
    errors: [404],
    reply: StoredSessionDetails,
    async handle({ params, query }) {
      const session = await index.named(params.id, query.project);
      const { progress, parts, seqs, events, partCount } = session;
      return {
        ...showSession(session),
        complete: progress.complete,
        reading: progress.counting,
        parts: bySeq(parts).map(showPart),
        unlisted: events - seqs.length + partCount - parts.length,
      };
    },
  }),
  row({
    method: "GET",
    path: "/__sim/sessions/:id/events",
    access: "control",
    summary: "Lists the events of a session in order of arrival, each with a short text",
    query: SessionEventsQuery,
    errors: [404],
    reply: SessionEventPage,
    async handle({ params, query: { project, offset, limit } }) {
      return eventsOf(index.log, await index.named(params.id, project), offset, limit);
    },
  }),
  row({
    method: "GET",
    path: "/__sim/sessions/:id/recording",
    access: "control",
    summary: "Returns the recording of a session, decompressed, part by part, and what cannot be read of it",
    query: RecordingQuery,
    errors: [404],
    reply: RecordingPage,
    async handle({ params, query: { project, from } }) {
      const { parts } = await index.named(params.id, project);
      return await inSlices(recordingFrom(index.log, bySeq(parts), from));
    },
  }),
];

const recordingRows = (index: Sessions) => [
  row({
    method: "GET",
    path: "/__sim/recordings",
    access: "control",
    summary: "Lists the sessions with a recording, newest first",
    query: RecordingListQuery,
    reply: StoredRecordingPage,
    async handle({ query }) {
      const { sessions, ...rest } = await index.list({ ...query, recorded: true });
      return { recordings: sessions, ...rest };
    },
  }),
  row({
    method: "GET",
    path: "/__sim/recordings/:session",
    access: "control",
    summary: "Returns what the recording of a session holds: texts by kind, and what cannot be read",
    query: SessionQuery,
    errors: [404],
    reply: StoredRecording,
    async handle({ params, query: { project } }) {
      const session = await index.recorded(params.session, project);
      const read = await inSlices(searching(index.log, [session], valuesOf([])));
      const { texts, unread, missing } = read;
      const undecided = undecidedOf(
        read,
        session.progress.complete && !index.log.lost(0, session.project ?? undefined),
      );
      return {
        ...showSession(session),
        texts,
        unread,
        missing,
        undecided,
        complete: undecided.length === 0,
        kinds: kindsOf(session.parts),
        link: linkTo(session),
      };
    },
  }),
  row({
    method: "POST",
    path: "/__sim/recordings/search",
    access: "control",
    summary: "Searches the recordings for values, such as personal data, and returns the places",
    body: RecordingSearchOrder,
    errors: [404],
    reply: RecordingFindings,
    async handle({ body: { values, project, session, allow_unread: allowed }, call }) {
      const ofProject = project ?? undefined;
      if (typeof session === "string") await index.recorded(session, ofProject);
      const { sessions, cut } = await index.all(call.signal);
      const chosen = sessions.filter((it) => it.partCount > 0 && isOf(it, ofProject) && it.id === (session ?? it.id));
      const found = await inSlices(searching(index.log, chosen, valuesOf(values), call.signal));
      const isCut = typeof session !== "string" && (ofProject === undefined ? cut.size > 0 : cut.has(ofProject));
      const lost: RecordingLoss[] = isCut
        ? [{ session: null, seq: null, reason: "forgotten", what: "sessions", count: 1 }]
        : [];
      const read = { ...found, missing: [...found.missing, ...lost] };
      const undecided = undecidedOf(read, !index.log.lost(0, ofProject) && !index.log.hasDamage(), allowed);
      const verdict: RecordingFindings["verdict"] =
        read.finds.length > 0 ? "found" : undecided.length > 0 ? "undecided" : "none";
      return { ...read, verdict, undecided, complete: undecided.length === 0 };
    },
  }),
];

export const sessionSlice = slice(["log", "people"], (ports: SessionPorts) => {
  const index = new Sessions(ports);
  return [...sessionRows(index), ...recordingRows(index)];
});
