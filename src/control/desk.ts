import type { Faults } from "../faults/faults.ts";
import type { FlagBook } from "../flags/book.ts";
import type { Endpoint } from "../http/endpoint.ts";
import type { Gauge } from "../kernel/gauge.ts";
import type { Desk } from "../model/desk.ts";
import type { PeopleStore } from "../store/people.ts";
import type { TrafficLog } from "../store/traffic-log.ts";
import type { WorldStore } from "../store/world.ts";

/** What the control endpoints may touch, besides what every handler may. */
export interface ControlDesk extends Omit<Desk, "people" | "worlds"> {
  readonly people: PeopleStore;
  readonly worlds: WorldStore;
  readonly flagBook: FlagBook;
  readonly faults: Faults;
  readonly log: TrafficLog;
  readonly gauge: Gauge;
  /** The facts of GET /__sim/info. */
  info(): Record<string, unknown>;
  /** Every row that is served, with its docs. */
  endpoints(): Promise<readonly Endpoint[]>;
  /** Back to the scenario; `parts` restricts what is reset. */
  reset(parts: ReadonlySet<ResetPart>): Promise<void>;
}

export const resetParts = ["world", "people", "events", "faults"] as const;
export type ResetPart = (typeof resetParts)[number];
