import type { TrafficLog } from "../journal/log/traffic-log.ts";
import type { Places } from "../journal/places.ts";
import type { TimeSource } from "../kernel/base/clock.ts";
import type { People } from "../people/people.ts";
import type { WorldStore } from "../world/world-store.ts";
import type { FlagBook } from "./flag-book.ts";

/** What the flag endpoints of the control API use. */
export interface FlagPorts {
  readonly worlds: WorldStore;
  readonly people: People;
  readonly clock: TimeSource;
  readonly geoip: Places;
  readonly log: TrafficLog;
  readonly flagBook: FlagBook;
}
