import { isoOf } from "../../../kernel/base/clock.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import type { QueryContext, QueryKind } from "../kind.ts";
import type { DropOff, DropOffs } from "../shapes.ts";
import type { EventColumn } from "../table.ts";
import { FunnelsQuery } from "./funnel-shape.ts";
import { followFunnel } from "./funnels.ts";
import { type ActorKey, actorKey } from "./series.ts";
import type { SeriesNode } from "./shapes.ts";

/** Most actors of a step that are named, and most ids and events of each. */
const most = { actors: 10, ids: 3, events: 5 };

const nameOf = (node: SeriesNode): string =>
  node.custom_name ?? node.name ?? (node.kind === "EventsNode" ? node.event : undefined) ?? "All events";

interface Left {
  readonly ids: Set<string>;
  /** Rows of the last events, in order of their times. */
  rows: number[];
}

function lastEvents(
  actors: Iterable<ActorKey>,
  actorAt: EventColumn,
  { table }: QueryContext,
): ReadonlyMap<ActorKey, Left> {
  const found = new Map([...actors].map((actor): [ActorKey, Left] => [actor, { ids: new Set(), rows: [] }]));
  for (let row = 0; row < table.length; row++) {
    const left = found.get(actorKey(actorAt(row)));
    if (!left) continue;
    if (left.ids.size < most.ids) left.ids.add(table.distinctId(row));
    left.rows.push(row);
    if (left.rows.length > most.events * 20) left.rows = latest(left.rows, table.time);
  }
  for (const left of found.values()) left.rows = latest(left.rows, table.time);
  return found;
}

const latest = (rows: readonly number[], timeOf: (row: number) => number): number[] =>
  rows.toSorted((a, b) => timeOf(a) - timeOf(b) || a - b).slice(-most.events);

function dropOffs(query: FunnelsQuery, context: QueryContext): DropOffs {
  const { table } = context;
  const steps = query.series.map((node) => ({ name: nameOf(node), count: 0, actors: new Set<ActorKey>(), left: 0 }));
  const actorAt = followFunnel(query, context, (actor, reached) => {
    for (let step = 0; step <= reached; step++) {
      const at = steps[step];
      if (at) at.count++;
    }
    const last = steps[reached];
    if (!last || reached === steps.length - 1) return;
    last.left++;
    if (last.actors.size < most.actors) last.actors.add(actor);
  });
  const left = lastEvents(
    steps.flatMap(({ actors }) => [...actors]),
    actorAt,
    context,
  );
  const shown = (actor: ActorKey): DropOff => {
    const { ids, rows } = left.get(actor) ?? { ids: [], rows: [] };
    return {
      person: stringOf(actor ?? ""),
      distinct_ids: [...ids],
      last_events: rows.map((row) => ({
        seq: table.seq(row),
        event: table.name(row),
        timestamp: isoOf(table.time(row)),
      })),
    };
  };
  return { steps: steps.map(({ actors, ...step }) => ({ ...step, persons: [...actors].map(shown) })) };
}

/** Who left a funnel at which step, with their last events. */
export const dropOffsKind: QueryKind<FunnelsQuery> = {
  kind: "FunnelsQuery",
  shape: FunnelsQuery,
  run: (query, context) => ({ ...dropOffs(query, context) }),
};
