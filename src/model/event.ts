import type { Json, JsonObject } from "../kernel/json.ts";
import type { DropReason, Warning } from "./outcome.ts";
import type { Place } from "./places.ts";

/** Who the event's person is: a stored person, a synthetic one (personless event), or nobody (dropped). */
type PersonMode = "full" | "propertyless" | "none";

/**
 * What ingest decided about one item of a request. It is stored beside the verbatim item, in
 * `TrafficLine.events`; together they are the stored event. Absent keys mean the usual case.
 */
export interface EventFacts {
  uuid: string | null;
  /** The event's time, ms since the epoch, after skew and offset. */
  time: number;
  /** The person's uuid at that moment. */
  person: string | null;
  mode?: PersonMode;
  /** Set when the event was dropped. */
  dropped?: DropReason;
  /** More exactly: the offending value or the ids involved, as text. */
  detail?: string;
  warnings?: Warning[];
  /** Group keys by type index, e.g. {"0": "acme"}. */
  groups?: Record<string, string>;
  /** Where the event's address is: its `$geoip_…` properties. */
  place?: Place;
  /** Properties that the service adds or changes, laid over the item's own. */
  adds?: JsonObject;
  /** Names of the item's properties that are not kept, e.g. `$set` of a personless event. */
  strips?: string[];
}

/** An event as the sim shows it: one shape, whatever way it came in. */
export interface StoredEvent {
  /** Order of arrival over all projects, from 1; the cursor of every list and wait. */
  seq: number;
  outcome: "kept" | "dropped";
  reason: DropReason | null;
  detail: string | null;
  warnings: Warning[];
  project: number | null;
  uuid: string | null;
  event: string;
  distinct_id: string;
  timestamp: string;
  received_at: string;
  person_id: string | null;
  person_mode: PersonMode;
  properties: Record<string, Json>;
  /** Number of the request that carried it (GET /__sim/requests/{n}). */
  request: number;
}
