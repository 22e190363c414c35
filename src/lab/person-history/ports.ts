import type { Desk } from "../../service/capture/desk.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import type { PeopleStore } from "../../state/persons/people-store.ts";
import type { Group, Person } from "../../state/persons/person.ts";

/** What the endpoints of persons and groups need. Ingest's part replays events. */
export interface PeoplePorts extends Desk {
  readonly people: PeopleStore;
  readonly log: TrafficLog;
  /** The persons and groups of the scenario. */
  scenarioPeople(): {
    readonly persons: readonly { readonly person: Person; readonly distinctIds: readonly string[] }[];
    readonly groups: readonly Group[];
  };
}
