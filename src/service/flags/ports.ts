import type { TimeSource } from "../../kernel/base/clock.ts";
import type { WorldStore } from "../../state/documents/world-store.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import type { Places } from "../../state/journal/places.ts";
import type { PersonData } from "../../state/persons/person-data.ts";
import type { DecisionIndex } from "./decision-index.ts";
import type { Rulesets } from "./rulesets.ts";

export interface FlagPorts {
  readonly worlds: WorldStore;
  readonly people: PersonData;
  readonly clock: TimeSource;
  readonly geoip: Places;
  readonly log: TrafficLog;
  readonly rulesets: Rulesets;
  readonly decisions: DecisionIndex;
}
