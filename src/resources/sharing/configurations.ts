import { derived } from "../../model/derived.ts";
import type { SharingConfiguration } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";

/** Stored sharing configurations by dashboard, through an index. A dashboard that was never shared has none. */
export function openSharing(desk: ResourceDesk) {
  const byDashboard = derived(
    desk.worlds,
    ["sharing_configurations"],
    () => new Map(desk.worlds.current.sharing_configurations.map((it) => [it.dashboard, it])),
  );
  const of = (dashboard: number): SharingConfiguration | undefined => byDashboard().get(dashboard);
  return { of, isShared: (dashboard: number): boolean => of(dashboard)?.enabled ?? false };
}

export type Sharing = ReturnType<typeof openSharing>;
