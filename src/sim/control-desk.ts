import type { SimClock } from "../base/clock.ts";
import type { Faults } from "../faults/rules.ts";
import type { Gauge } from "../http/gauge.ts";
import type { TrafficLog } from "../journal/log/traffic-log.ts";
import type { WorldStore } from "../world/world-store.ts";

/** What assertions use. */
export interface ControlDesk {
  readonly worlds: WorldStore;
  readonly faults: Faults;
  readonly log: TrafficLog;
  readonly gauge: Gauge;
  readonly clock: SimClock;
  /** True if the sim outlives the tests: their reports link to the inspector. */
  readonly inspectable: boolean;
  notice(text: string): void;
  /** Ends when the sim closes. */
  readonly closing: AbortSignal;
}
