import type { TimeSource } from "../base/clock.ts";
import type { TrafficLog } from "../journal/log/traffic-log.ts";
import type { PeopleStore } from "../people/people-store.ts";
import type { Worlds } from "../world/world.ts";
import { createQueryRunner, type QueryRunner } from "./runner.ts";

interface Sim {
  readonly log: TrafficLog;
  readonly people: PeopleStore;
  readonly worlds: Worlds;
  readonly clock: TimeSource;
  readonly closing: AbortSignal;
}

/** The queries of a sim, over the kept events of its journal. */
export function openQueries({ log, worlds, clock, closing }: Sim): QueryRunner {
  let cleared = 0;
  log.onVeiled(() => cleared++);
  const tables = {
    tableFor(): never {
      throw new Error("to come with the columns");
    },
    version: () => [log.firstSeq, log.lastSeq, cleared].join(" "),
  };
  return createQueryRunner({ worlds, clock, tables, kinds: [], closing });
}
