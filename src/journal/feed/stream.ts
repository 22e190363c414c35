import { setImmediate as turn } from "node:timers/promises";
import { SimError } from "../../base/errors.ts";
import type { Call } from "../../http/call.ts";
import { queryNumber } from "../../http/control-body.ts";
import type { Reply } from "../../http/reply.ts";
import type { ControlDesk } from "../../sim/control-desk.ts";
import type { EventSubject, Filter } from "../filter/types.ts";
import type { EventFilter, TrafficLog } from "../log/traffic-log.ts";
import { slice } from "../search.ts";
import { showEvent } from "../show.ts";
import { eventFilterIn, projectIn, scanned } from "./asked.ts";
import { bellOf } from "./bell.ts";
import { endable } from "./endable.ts";
import { eventSubject } from "./feed-rows.ts";

type StreamDesk = Pick<ControlDesk, "log" | "clock" | "closing">;

const most = Number.MAX_SAFE_INTEGER;
/** A comment is sent after so much silence, ms: what is in between must not think that nobody is there. */
const silence = 15_000;
/** After so many characters, whatever they are of, a page of events ends: others get a turn. */
const enough = 512 * 1024;

interface Wanted {
  readonly filter: Filter<EventSubject>;
  readonly project: number | undefined;
  /** Only events after this one. */
  readonly since: number;
}

const message = (event: string, id: number, data: unknown): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

const gap = (from: number, to: number): string => message("gap", to, { from, to });

/** Where the readable events go on, if some after the cursor were let go. */
function resumption(log: TrafficLog, cursor: number, project: number | undefined): number | undefined {
  const [next] = log.scan({ since: cursor });
  const first = next?.seq ?? log.lastSeq + 1;
  return first > cursor + 1 && log.lost(cursor, project) ? first - 1 : undefined;
}

/** The next events, a few at a time, and up to where all were looked at. */
function pageAfter(
  { log, clock }: StreamDesk,
  { filter, project }: Wanted,
  cursor: number,
): { text: string; cursor: number } {
  const until = log.lastSeq;
  const within: EventFilter = { ...scanned(filter, project), since: cursor, until };
  const now = clock.now();
  let text = "";
  let looked = 0;
  for (const { seq, line, index } of log.scan(within)) {
    if (filter.test(eventSubject(line, index), now)) text += message("event", seq, showEvent(line, index));
    if (++looked === slice || text.length > enough) return { text, cursor: seq };
  }
  return { text, cursor: until };
}

async function* told(desk: StreamDesk, wanted: Wanted, signal: AbortSignal): AsyncGenerator<string> {
  const { log, closing } = desk;
  const bell = bellOf(log);
  const ends = [signal, closing];
  for (const it of ends) it.addEventListener("abort", bell.end);
  let cursor = Math.min(wanted.since, log.lastSeq);
  try {
    yield ": phx-sim\n\n";
    // a number that was never given here is of another past
    if (wanted.since > cursor && cursor > 0) yield gap(1, cursor);
    while (!ends.some((it) => it.aborted)) {
      if (cursor < log.lastSeq) {
        const to = resumption(log, cursor, wanted.project);
        if (to !== undefined) yield gap(cursor + 1, to);
        const page = pageAfter(desk, wanted, to ?? cursor);
        cursor = page.cursor;
        if (page.text !== "") yield page.text;
        await turn();
      } else if (!(await bell.rung(silence)) && !closing.aborted) yield ":\n\n";
    }
  } finally {
    bell.end();
    for (const it of ends) it.removeEventListener("abort", bell.end);
  }
}

/** Where a client was that connects again; browsers send it by themselves. */
function lastSeen(call: Call): number | undefined {
  const text = call.headers["last-event-id"];
  if (text === undefined || text === "") return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new SimError("invalid_input", `Last-Event-ID "${text}" is not the seq of an event`);
}

const headers = ["content-type", "text/event-stream; charset=utf-8", "cache-control", "no-store"];

/** GET /__sim/events/stream: events as they come, as server-sent events. */
export function streamEvents(desk: StreamDesk, call: Call): Reply {
  const filter = eventFilterIn(call);
  const project = projectIn(call);
  const since = lastSeen(call) ?? queryNumber(call, "since", { min: 0, max: most }) ?? desk.log.lastSeq;
  const stream = endable((signal) => told(desk, { filter, project, since }, signal));
  return { status: 200, headers, body: null, stream };
}
