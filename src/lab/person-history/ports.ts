import type { Desk } from "../../service/capture/desk.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import type { Group, Person } from "../../state/persons/person.ts";
import type { PersonStore } from "../../state/persons/person-store.ts";

/** What the endpoints of persons and groups need; the desk of captures replays events. */
export interface PersonPorts {
  readonly desk: Desk;
  readonly people: PersonStore;
  readonly log: TrafficLog;
  readonly authored: {
    people(): {
      readonly persons: readonly { readonly person: Person; readonly distinctIds: readonly string[] }[];
      readonly groups: readonly Group[];
    };
  };
}

export const peopleNeeds = ["desk", "people", "log", "authored"] as const;
