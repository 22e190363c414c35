import type { Json } from "../../kernel/json.ts";

/** How many documents of a kind a project has. */
export interface ProjectCounts {
  readonly dashboards: number;
  readonly insights: number;
  readonly feature_flags: number;
  readonly cohorts: number;
  readonly batch_exports: number;
  readonly surveys: number;
}

/** A project, with its secret key masked. */
export interface ShownProject {
  readonly id: number;
  readonly name: string;
  readonly organization: string;
  readonly api_key: string;
  readonly secret_api_key: string;
  readonly timezone: string;
  /** Made from a key that nobody knew. */
  readonly adopted: boolean;
  /** Made for one test. */
  readonly ephemeral: boolean;
  readonly counts: ProjectCounts;
}

interface ShownMember {
  readonly user: number;
  readonly name: string;
  readonly email: string;
  readonly level: "member" | "admin" | "owner";
}

export interface ShownOrganization {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly created_at: string;
  readonly members: readonly ShownMember[];
  readonly projects: readonly ShownProject[];
}

/** A personal key; all but its end is masked. */
export interface ShownKey {
  readonly id: string;
  readonly label: string;
  readonly key: string;
  readonly owner: string;
  readonly scopes: readonly string[];
  /** Names of what it is limited to; empty: nothing. */
  readonly limited_to: readonly string[];
  readonly created_at: string;
}

/** A way in which the contract and the live service differ. */
interface ShownDifference {
  readonly id: string;
  readonly topic: string;
  readonly documented: string;
  readonly production: string;
  readonly source: string;
}

/** Answer of GET /__sim/world. */
export interface ShownWorld {
  readonly organizations: readonly ShownOrganization[];
  readonly personal_api_keys: readonly ShownKey[];
  readonly dialect: {
    readonly current: "documented" | "production";
    readonly differences: readonly ShownDifference[];
  };
}

interface ShownTile {
  readonly id: number;
  readonly kind: "insight" | "text";
  /** The insight's name, or the text. */
  readonly title: string;
  readonly color: string | null;
  /** Where it is on a wide page, in columns and rows; null where nobody has said. */
  readonly place: { readonly x: number; readonly y: number; readonly w: number; readonly h: number } | null;
  readonly query: Json;
}

export interface ShownDashboard {
  readonly id: number;
  readonly project: number;
  readonly name: string | null;
  readonly description: string;
  readonly pinned: boolean;
  readonly tags: readonly string[];
  /** Only collaborators may edit it. */
  readonly restricted: boolean;
  readonly collaborators: readonly string[];
  /** It can be seen by whoever has its address. */
  readonly shared: boolean;
  readonly created_at: string;
  readonly tiles: readonly ShownTile[];
}

/** Answer of GET /__sim/world/dashboards. */
export interface ShownDashboards {
  readonly dashboards: readonly ShownDashboard[];
  readonly count: number;
}
