import type { Dashboard, Tile } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import { follow } from "../follow.ts";

/** Where an insight stands. */
export interface InsightPlace {
  readonly dashboard: Dashboard;
  readonly tile: Tile;
}

const isThere = (dashboard: Dashboard, tile: Tile): boolean => !dashboard.deleted && !tile.deleted;

/** Places of all insights on dashboards and tiles that are not deleted, through an index. */
export function openInsightPlaces(desk: ResourceDesk) {
  const index = new Map<number, InsightPlace[]>();
  const placesOf = (dashboard: Dashboard) =>
    dashboard.tiles.flatMap((tile) =>
      tile.insight !== null && isThere(dashboard, tile) ? [{ insight: tile.insight, tile }] : [],
    );
  const sync = follow(desk.worlds, "dashboards", {
    add(dashboards) {
      for (const dashboard of dashboards) {
        for (const { insight, tile } of placesOf(dashboard)) {
          const others = index.get(insight);
          if (others) others.push({ dashboard, tile });
          else index.set(insight, [{ dashboard, tile }]);
        }
      }
    },
    remove(dashboards) {
      for (const dashboard of dashboards) {
        for (const { insight } of placesOf(dashboard)) {
          const others = index.get(insight)?.filter((it) => it.dashboard !== dashboard);
          index.set(insight, others ?? []);
        }
      }
    },
  });
  return (insight: number): readonly InsightPlace[] => {
    sync();
    // A changed dashboard came last; the order of tiles is that of their making.
    return (index.get(insight) ?? []).toSorted((a, b) => a.tile.id - b.tile.id);
  };
}

export type InsightPlaces = ReturnType<typeof openInsightPlaces>;
