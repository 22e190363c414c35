import { setImmediate as turn } from "node:timers/promises";
import { showEvent } from "../ingest/show.ts";
import { SimError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import { fits, operatorsIn } from "../match/subset.ts";
import type { StoredEvent } from "../model/event.ts";
import type { EventFilter, TrafficLog } from "../store/traffic-log.ts";

/** Lines looked at before other work gets a turn. */
const slice = 200;

/** Refuses operators until they are built: as property names they would silently never match. */
export function checkPattern(pattern: JsonObject | undefined, pointer: string): void {
  const [path] = operatorsIn(pattern ?? {});
  if (path !== undefined) {
    throw new SimError("invalid_input", `operator at ${path} is not supported yet`, {
      pointer: pointer + path,
      hint: "literals and nested objects (recursive subset) are",
    });
  }
}

/**
 * Events in order that fit the filter and the pattern. `event` and `distinct_id` literals of the
 * pattern go through the index; the rest is read line by line, with pauses for other requests.
 */
export async function* searchEvents(
  log: TrafficLog,
  filter: EventFilter,
  pattern?: JsonObject,
): AsyncGenerator<StoredEvent> {
  let looked = 0;
  for (const ref of log.scan({ ...filter, ...indexed(pattern) })) {
    const event = showEvent(ref.line, ref.index);
    if (pattern === undefined || fits(pattern, { ...event } as unknown as JsonObject)) yield event;
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
