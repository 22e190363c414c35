import type { Json } from "../base/json.ts";
import type { DropReason, Warning } from "./outcome.ts";

/** Who the event's person is: a stored person, a synthetic one (personless event), or nobody (dropped). */
export type PersonMode = "full" | "propertyless" | "none";

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
