import type { JsonObject } from "../../src/base/json.ts";
import type { EventFacts } from "../../src/journal/event.ts";
import { entryWriter } from "../../src/journal/log/traffic-entry.ts";
import {
  openTrafficLog,
  type TrafficLog,
  type TrafficLogOptions,
} from "../../src/journal/log/traffic-log.ts";
import { keysOf } from "../../src/journal/show.ts";
import type { BodyShape, CallRecord, TrafficLine } from "../../src/journal/traffic.ts";
import { openPeople } from "../../src/people/people-store.ts";
import { personUuid } from "../../src/people/person.ts";
import { openEventTables } from "../../src/query/columns.ts";
import { memoryBytes } from "../../src/store/bytes.ts";

/** An event of a test's journal. */
export interface SentEvent {
  event: string;
  id: string;
  properties?: JsonObject;
  facts?: Partial<EventFacts>;
}

const entryOf = entryWriter();

interface RequestOptions {
  project?: number;
  at?: number;
  shape?: BodyShape;
  body?: (items: JsonObject[]) => unknown;
}

/** A request with these events, as capture writes it. */
export function request(events: readonly SentEvent[], options: RequestOptions = {}) {
  const { project = 1, at = 1_700_000_000_000, shape = "legacy", body = (items) => items } = options;
  const items = events.map(
    ({ event, id, properties = {} }): JsonObject => ({ event, distinct_id: id, properties }),
  );
  const text = JSON.stringify(body(items));
  const facts = events.map(({ id, facts: more }, i): EventFacts => {
    const uuid = `01900000-0000-7000-8000-${String(i).padStart(12, "0")}`;
    return { uuid, time: at + i, person: personUuid(project, id), ...more };
  });
  const line = {
    shape,
    events: facts,
    target: "/batch/",
    body: JSON.parse(text),
    headers: [],
  } as unknown as TrafficLine;
  const record: CallRecord = { project, shape, text, events: facts, keys: keysOf(line) };
  const call = {
    method: "POST",
    target: "/batch/",
    rawHeaders: ["Host", "x"],
    body: Buffer.from(text),
    peer: "127.0.0.1",
    at,
    started: performance.now(),
  };
  return entryOf(call, { status: 200, headers: ["content-type", "application/json"], body: "{}" }, record);
}

/** A journal and people in memory, and the tables over them. */
export function createJournal(options: Partial<TrafficLogOptions> = {}, budget?: number) {
  const people = openPeople();
  const log: TrafficLog = openTrafficLog({ bytes: memoryBytes(), keysOf, ...options });
  return {
    log,
    people,
    tables: openEventTables({ log, people, ...(budget !== undefined && { budget }) }),
    /** Appends a request with these events, and waits until it is written. */
    async capture(events: readonly SentEvent[], more: RequestOptions = {}) {
      log.append(request(events, more));
      await log.written();
    },
  };
}
