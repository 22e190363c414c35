import type { TimeSource } from "../base/clock.ts";
import type { TrafficLog } from "../journal/log/traffic-log.ts";
import type { PeopleStore } from "../people/people-store.ts";
import type { Worlds } from "../world/world.ts";
import { openEventTables } from "./columns.ts";
import { createDataVersion } from "./data-version.ts";
import { dropOffsKind } from "./insights/drop-offs.ts";
import { kinds } from "./kinds.ts";
import { createProjectFacts } from "./project-facts.ts";
import { createQueryRunner, type QueryRunner } from "./runner.ts";

interface Sim {
  readonly log: TrafficLog;
  readonly people: PeopleStore;
  readonly worlds: Worlds;
  readonly clock: TimeSource;
  readonly closing: AbortSignal;
}

/** The queries of a sim. */
export interface SimQueries {
  readonly queries: QueryRunner;
  /** Who left a funnel at which step. */
  readonly dropOffs: QueryRunner;
}

/** Queries over the kept events of a journal. */
export function openQueries({ log, people, worlds, clock, closing }: Sim): SimQueries {
  const { tableFor } = openEventTables({ log, people });
  const version = createDataVersion({ log, people, worlds });
  const factsOf = createProjectFacts({ worlds, people });
  const ports = { worlds, clock, tables: { tableFor, version }, factsOf, closing };
  return {
    queries: createQueryRunner({ ...ports, kinds }),
    dropOffs: createQueryRunner({ ...ports, kinds: [dropOffsKind] }),
  };
}
