import { setImmediate as turn } from "node:timers/promises";
import { showEvent } from "../ingest/show.ts";
import type { JsonObject } from "../kernel/json.ts";
import { fitsEvent } from "../match/judge.ts";
import type { StoredEvent } from "../model/event.ts";
import type { TrafficLine } from "../model/traffic.ts";
import type { EventFilter, TrafficLog } from "../store/traffic-log.ts";

/** Lines looked at before other work gets a turn. */
export const slice = 200;

/**
 * Events in order that fit the filter and the pattern. `event` and `distinct_id` literals of the
 * pattern go through the index; the rest is read line by line, with pauses for other requests.
 * @param isWanted Asked of the line and the event's place in it, before the event is made of them
 */
export async function* searchEvents(
  log: TrafficLog,
  filter: EventFilter,
  pattern?: JsonObject,
  isWanted: (line: TrafficLine, index: number) => boolean = () => true,
): AsyncGenerator<StoredEvent> {
  let looked = 0;
  for (const ref of log.scan({ ...indexed(pattern), ...filter })) {
    if (isWanted(ref.line, ref.index)) {
      const event = showEvent(ref.line, ref.index);
      if (pattern === undefined || fitsEvent(pattern, event)) yield event;
    }
    if (++looked % slice === 0) await turn();
  }
}

function indexed(pattern: JsonObject | undefined): EventFilter {
  const { event, distinct_id } = pattern ?? {};
  return {
    ...(typeof event === "string" && { event }),
    ...(typeof distinct_id === "string" && { distinct_id }),
  };
}
