import { randomUUID } from "node:crypto";
import type { TimeSource } from "../../kernel/base/clock.ts";
import type { JsonObject } from "../../kernel/base/json.ts";
import { MadeJson } from "../../kernel/http/reply.ts";
import type { Worlds } from "../../state/documents/world.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import type { PersonStore } from "../../state/persons/person-store.ts";
import { createDataVersions } from "./data-version.ts";
import { dropOffsKind } from "./insights/funnels.ts";
import type { QueryKind } from "./kind.ts";
import { kinds } from "./kinds.ts";
import { createProjectFacts } from "./project-facts.ts";
import { type Computation, createQueryRunner, type QueryRunner } from "./runner.ts";
import type { KindList } from "./worker/messages.ts";
import { QueryQueue } from "./worker/queue.ts";

interface Sim {
  readonly log: TrafficLog;
  readonly people: PersonStore;
  readonly worlds: Worlds;
  readonly clock: TimeSource;
  readonly closing: AbortSignal;
  /** Time that one query may compute, ms (default: 10 s). */
  readonly timeout?: number | undefined;
}

export interface SimQueries {
  readonly queries: QueryRunner;
  /** Who left a funnel at which step. */
  readonly dropOffs: QueryRunner;
}

/** Time that one query may compute, ms. */
const usualTimeout = 10_000;

/** Queries over the kept events of a journal, computed in a process of their own. */
export function openQueries({ log, people, worlds, clock, closing, timeout = usualTimeout }: Sim): SimQueries {
  const versions = createDataVersions({ log, people, worlds });
  const factsOf = createProjectFacts({ worlds, people });
  const queue = new QueryQueue(timeout, closing);

  const computeIn =
    (list: KindList) =>
    async ({ project, kind, query, now, waitMs, signal }: Computation): Promise<JsonObject> => {
      const facts = factsOf(project, now);
      const { timeZone, weekStart, testAccountFilters = [] } = facts;
      const { json, results } = await queue.compute({
        job: {
          list,
          kind: kind.kind,
          query,
          of: project.id,
          project: { now, timeZone, weekStart, testAccountFilters },
        },
        feed: { log, people, versions, project: project.id, facts },
        signal,
        waitMs,
      });
      const fields = JSON.parse(Buffer.from(json).toString("utf8"));
      return results === undefined ? fields : { ...fields, results: new MadeJson(Buffer.from(results), randomUUID()) };
    };
  const runner = (list: KindList, its: readonly QueryKind<unknown>[]) =>
    createQueryRunner({ worlds, clock, version: versions.versionOf, closing, kinds: its, compute: computeIn(list) });
  return { queries: runner("queries", kinds), dropOffs: runner("dropOffs", [dropOffsKind]) };
}
