import type { Desk } from "../model/desk.ts";
import type { EventReader } from "../model/event-reader.ts";
import type { ExportEngine } from "../model/export-engine.ts";
import type { PeopleStore } from "../store/people.ts";
import type { Throttle } from "./throttle.ts";

/** What the management endpoints may touch, besides what every handler may. */
export interface ResourceDesk extends Omit<Desk, "people"> {
  readonly people: PeopleStore;
  readonly events: EventReader;
  readonly exports: ExportEngine;
  /** Rate limits; a sim without them has one that lets everything pass. */
  readonly throttle: Throttle;
}
