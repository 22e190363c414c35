import { setImmediate as turn } from "node:timers/promises";
import type { TimeSource } from "../../../kernel/base/clock.ts";
import { SimError } from "../../../kernel/base/errors.ts";
import { clearTimeout, setTimeout } from "../../../kernel/base/real-time.ts";
import type { Call } from "../../../kernel/http/call.ts";
import type { Reply } from "../../../kernel/http/reply.ts";
import type { EventSubject, Filter } from "../filter/types.ts";
import { indexedPart } from "../filter-parameter.ts";
import type { EventFilter, TrafficLog } from "../log/traffic-log.ts";
import { examineEvents, slice } from "../search.ts";
import { showEvent } from "../show.ts";
import type { TrafficLine } from "../traffic.ts";
import { eventSubject } from "./make-rows.ts";

export interface StreamPorts {
  readonly log: TrafficLog;
  readonly clock: TimeSource;
  readonly closing: AbortSignal;
}

/** A comment is sent after this much silence, ms, so that proxies keep the connection. */
const silence = 15_000;
/** After this many characters a page of events ends, so that other work gets a turn. */
const mostCharacters = 64 * 1024;
/** Streams at the same time: what is sent to one is held until its client takes it. */
const mostStreams = 100;

interface StreamSelection {
  readonly filter: Filter<EventSubject>;
  readonly project: number | undefined;
}

const message = (event: string, id: number, data: unknown): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

const gap = (from: number, to: number): string => message("gap", to, { from, to });

function bellOf(log: TrafficLog) {
  let hasRung = false;
  let wake = () => {};
  const stop = log.subscribe(() => {
    hasRung = true;
    wake();
  });
  return {
    /** Resolves with true once something was written since the last call, with false after `ms` or on `end`. */
    async rung(ms: number): Promise<boolean> {
      if (!hasRung)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms).unref();
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      wake = () => {};
      const was = hasRung;
      hasRung = false;
      return was;
    },
    end() {
      stop();
      wake();
    },
  };
}

/** A stream that ends at once when its reader leaves; a generator alone would continue to wait. */
const endable = (made: AsyncGenerator<string>, left: AbortController): AsyncIterable<string> => ({
  [Symbol.asyncIterator]: () => ({
    next: () => made.next(),
    return() {
      left.abort();
      return made.return(undefined);
    },
  }),
});

function gapAfter(log: TrafficLog, cursor: number, project: number | undefined): number | undefined {
  const [next] = log.scan({ since: cursor });
  const first = next?.seq ?? log.lastSeq + 1;
  return first > cursor + 1 && log.lost(cursor, project) ? first - 1 : undefined;
}

async function pageAfter(
  { log, clock }: StreamPorts,
  { filter, project }: StreamSelection,
  cursor: number,
): Promise<{ text: string; cursor: number }> {
  const until = log.lastSeq;
  const within: EventFilter = { ...indexedPart(filter, project), since: cursor, until };
  const now = clock.now();
  const match = (line: TrafficLine, index: number) =>
    filter.test(eventSubject(line, index), now) ? showEvent(line, index) : undefined;
  let text = "";
  let examined = 0;
  for await (const { seq, event } of examineEvents(log, within, match)) {
    if (event) text += message("event", seq, event);
    if (++examined === slice || text.length > mostCharacters) return { text, cursor: seq };
  }
  return { text, cursor: until };
}

async function* messages(
  ports: StreamPorts,
  selection: StreamSelection,
  since: number,
  signal: AbortSignal,
  onEnd: () => void,
): AsyncGenerator<string> {
  const { log, closing } = ports;
  const bell = bellOf(log);
  const ends = [signal, closing];
  for (const it of ends) it.addEventListener("abort", bell.end);
  let cursor = Math.min(since, log.lastSeq);
  try {
    yield ": phx-sim\n\n";
    // a larger seq is of another history
    if (since > cursor && cursor > 0) yield gap(1, cursor);
    while (!ends.some((it) => it.aborted)) {
      if (cursor < log.lastSeq) {
        const to = gapAfter(log, cursor, selection.project);
        if (to !== undefined) yield gap(cursor + 1, to);
        const page = await pageAfter(ports, selection, to ?? cursor);
        cursor = page.cursor;
        if (page.text !== "") yield page.text;
        await turn();
      } else if (!(await bell.rung(silence)) && !closing.aborted) yield ":\n\n";
    }
  } finally {
    onEnd();
    bell.end();
    for (const it of ends) it.removeEventListener("abort", bell.end);
  }
}

/** The seq in the header that browsers send when they reconnect. @throws SimError invalid_input */
export function lastSeen(call: Call): number | undefined {
  const text = call.headers["last-event-id"];
  if (text === undefined || text === "") return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new SimError("invalid_input", `Last-Event-ID "${text}" is not the seq of an event`);
}

const headers = ["content-type", "text/event-stream; charset=utf-8", "cache-control", "no-store"];

/** What a client gets that is disconnected; it has no id, so that a reconnect resumes after the last event. */
const closed = (code: string, detail: string): string => `event: closed\ndata: ${JSON.stringify({ code, detail })}\n\n`;

const stalled = closed(
  "stalled",
  "the client read nothing for 30 seconds; connect again with Last-Event-ID, and read each message at once",
);

/** Makes streams of events after a seq, as server-sent events; at most `mostStreams` at the same time. */
export function createStreams(ports: StreamPorts): (call: Call, selection: StreamSelection, since: number) => Reply {
  const open = new Set<AbortController>();
  return (call, selection, since) => {
    if (open.size >= mostStreams)
      throw new SimError("throttled", `${mostStreams} clients already read streams of events`, {
        hint: "close one of them, or list events with GET /__sim/events?since=SEQ",
        retryAfter: 1,
      });
    const left = new AbortController();
    const end = () => void open.delete(left);
    left.signal.addEventListener("abort", end);
    call.signal.addEventListener("abort", () => left.abort());
    // nothing reads the answer to HEAD
    if (call.method !== "HEAD") open.add(left);
    const stream = endable(messages(ports, selection, since, left.signal, end), left);
    return { status: 200, headers, body: null, stream, stalled };
  };
}
