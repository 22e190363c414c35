import { setImmediate as turn } from "node:timers/promises";
import { fitsEvent } from "../assert/match/judge.ts";
import type { JsonObject } from "../base/json.ts";
import type { StoredEvent } from "./event.ts";
import type { EventFilter, TrafficLog } from "./log/traffic-log.ts";
import { showEvent } from "./show.ts";
import type { TrafficLine } from "./traffic.ts";

/** Lines, and bytes of them, looked at before other work gets a turn. */
export const slice = 200;
const sliceBytes = 512 * 1024;

/** Says after each line, by its size, whether it is time for a turn of the event loop. */
export function createPauses(): (size: number) => Promise<void> | undefined {
  let [lines, bytes] = [0, 0];
  return (size) => {
    bytes += size;
    if (++lines < slice && bytes < sliceBytes) return undefined;
    [lines, bytes] = [0, 0];
    return turn();
  };
}

/** What is looked at for one page, at most: it then ends early, and names the place where the next one begins. */
interface Farthest {
  readonly entries: number;
  readonly bytes: number;
}
const farthest: Farthest = { entries: 20_000, bytes: 64 * 1024 * 1024 };

/** Counts entries and their bytes; returns true once they are enough for one page. */
export function createBudget(most: Farthest = farthest): (size: number) => boolean {
  let [entries, bytes] = [0, 0];
  return (size) => {
    bytes += size;
    return ++entries >= most.entries || bytes >= most.bytes;
  };
}

/** An event that was looked at; `event` is undefined where it is not what is searched. */
interface Looked {
  readonly seq: number;
  readonly event: StoredEvent | undefined;
  /** Bytes that were read for it: its request's, at that request's first event. */
  readonly size: number;
}

/**
 * Looks at events in order. `event` and `distinct_id` literals of the pattern go through the index; the rest is read
 * line by line, with pauses for other requests.
 * @param isWanted Asked of the line and the event's place in it, before the event is made of them
 */
export async function* lookAtEvents(
  log: TrafficLog,
  filter: EventFilter,
  pattern?: JsonObject,
  isWanted: (line: TrafficLine, index: number) => boolean = () => true,
): AsyncGenerator<Looked> {
  const pause = createPauses();
  let line: TrafficLine | undefined;
  for (const ref of log.scan({ ...indexed(pattern), ...filter })) {
    const event = isWanted(ref.line, ref.index) ? showEvent(ref.line, ref.index) : undefined;
    const isIt = event !== undefined && (pattern === undefined || fitsEvent(pattern, event));
    const size = ref.line === line ? 0 : log.sizeOf(ref.line.n);
    line = ref.line;
    yield { seq: ref.seq, event: isIt ? event : undefined, size };
    const turn = pause(size);
    if (turn) await turn;
  }
}

/** Events in order that fit the filter and the pattern. */
export async function* searchEvents(
  log: TrafficLog,
  filter: EventFilter,
  pattern?: JsonObject,
): AsyncGenerator<StoredEvent> {
  for await (const { event } of lookAtEvents(log, filter, pattern)) if (event) yield event;
}

function indexed(pattern: JsonObject | undefined): EventFilter {
  const { event, distinct_id } = pattern ?? {};
  return {
    ...(typeof event === "string" && { event }),
    ...(typeof distinct_id === "string" && { distinct_id }),
  };
}
