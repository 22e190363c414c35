import type { Json } from "../../../../src/kernel/base/json.ts";
import type { Surroundings } from "../../../../src/lab/assert/match/report-shapes.ts";
import type { StoredEvent } from "../../../../src/state/journal/event.ts";

/** A stored event; what a test does not say is usual. */
export function stored(
  seq: number,
  event: string,
  properties: Record<string, Json> = {},
  rest: Partial<StoredEvent> = {},
): StoredEvent {
  const received_at = new Date(Date.UTC(2026, 0, 5, 9, 0, 0, seq * 100)).toISOString();
  return {
    seq,
    outcome: "kept",
    reason: null,
    detail: null,
    warnings: [],
    project: 7,
    uuid: `01890000-0000-7000-8000-${String(seq).padStart(12, "0")}`,
    event,
    distinct_id: "u1",
    timestamp: received_at,
    received_at,
    person_id: null,
    person_mode: "full",
    properties,
    request: seq,
    ...rest,
  };
}

/** Quiet surroundings: a project of its own, requests came, nothing odd. */
export const around = (rest: Partial<Surroundings> = {}): Surroundings => ({
  project: { id: 7, name: "checkout test", api_key: "phc_test_7" },
  since: 0,
  waited_ms: 4000,
  url: "http://127.0.0.1:4777",
  inspectable: true,
  early: [],
  late: [],
  elsewhere: [],
  ended: [],
  wrong_keys: [],
  rejected: [],
  unmatched: [],
  requests: 3,
  in_flight: 0,
  last_request_ms_ago: 2800,
  senders: [],
  faults: [],
  evicted: false,
  ...rest,
});
