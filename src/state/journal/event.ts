import type { JsonObject } from "../../kernel/base/json.ts";
import type { DropReason, Warning } from "./drop-reasons.ts";
import type { GeoPlace } from "./places.ts";
import type { PersonMode } from "./stored-event.ts";

export type { StoredEvent } from "./stored-event.ts";

/**
 * What capture decided about an item of a request. `TrafficLine.events` stores it with the verbatim item; together they
 * are the stored event. Absent keys mean the usual case.
 */
export interface EventFacts {
  uuid: string | null;
  /** The distinct id, where it is not the one in the item: of a visitor without cookies, or a number of many digits. */
  id?: string;
  /** The event's time, ms since the epoch, after skew and offset. */
  time: number;
  person: string | null;
  mode?: PersonMode;
  dropped?: DropReason;
  /** Details: the wrong value, or the ids. */
  detail?: string;
  warnings?: Warning[];
  /** Group keys by type index, e.g. {"0": "acme"}. */
  groups?: Record<string, string>;
  place?: GeoPlace;
  adds?: JsonObject;
  /** Names of the item's properties that are not kept, e.g. `$set` of a personless event. */
  strips?: string[];
}
