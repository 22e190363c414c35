import { derived } from "../../model/derived.ts";
import { wireTime } from "../../model/time.ts";
import type { Dashboard, Organization, SharingConfiguration } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";

/** A dashboard that somebody without a key may see. */
export interface SharedDashboard {
  readonly dashboard: Dashboard;
  readonly organization: Organization;
  readonly configuration: SharingConfiguration;
}

/** Where a token leads; a replaced one only for a while. */
interface Way {
  readonly configuration: SharingConfiguration;
  /** ms since the epoch. */
  readonly until: number;
}

/** Finds shared dashboards by their tokens, through an index. */
export function openViewer(desk: ResourceDesk) {
  const { worlds } = desk;
  const ways = derived(worlds, ["sharing_configurations"], () => {
    const index = new Map<string, Way>();
    for (const configuration of worlds.current.sharing_configurations) {
      for (const { access_token, expires_at } of configuration.former_tokens) {
        index.set(access_token, { configuration, until: Date.parse(expires_at) });
      }
      index.set(configuration.access_token, { configuration, until: Number.POSITIVE_INFINITY });
    }
    return index;
  });

  function placeOf(dashboard: Dashboard): Organization | undefined {
    const project = worlds.projectById(dashboard.project);
    return project && worlds.get("organizations", project.organization);
  }

  return {
    /** What the token opens now; undefined when sharing is off, expired or forbidden, or the dashboard deleted. */
    find(token: string): SharedDashboard | undefined {
      const way = ways().get(token);
      if (!way?.configuration.enabled || way.until <= desk.clock.now()) return undefined;
      const dashboard = worlds.get("dashboards", way.configuration.dashboard);
      if (!dashboard || dashboard.deleted) return undefined;
      const organization = placeOf(dashboard);
      if (!organization?.allow_publicly_shared_resources) return undefined;
      return { dashboard, organization, configuration: way.configuration };
    },
    /** Notes that the dashboard was looked at. */
    saw(dashboard: Dashboard): void {
      worlds.change((draft) =>
        draft.put("dashboards", { ...dashboard, last_accessed_at: wireTime(desk.clock.now()) }),
      );
    },
  };
}
