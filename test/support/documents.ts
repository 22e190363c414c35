import {
  blankFeatureFlag,
  blankMembership,
  blankOrganization,
  blankPersonalApiKey,
  blankProject,
  blankUser,
} from "../../src/state/documents/blank.ts";
import { exportKind } from "../../src/state/documents/schemas/batch-export.ts";
import { dashboardKind, insightKind, tileKind } from "../../src/state/documents/schemas/dashboard.ts";
import {
  type BatchExport,
  type BatchExportBackfill,
  type BatchExportLog,
  type BatchExportRun,
  type Cohort,
  type Dashboard,
  type DashboardCollaborator,
  type DashboardTemplate,
  emptyWorld,
  type FeatureFlag,
  type Insight,
  type Membership,
  type Organization,
  type PersonalApiKey,
  type SharingConfiguration,
  type StoredFlagOverride,
  type StoredProject,
  type Tile,
  type User,
  type World,
} from "../../src/state/documents/world.ts";

/**
 * Documents for tests. Each builder gives the first of its kind, in project 1 of the organization
 * `organizationId`, made by user 1 at `madeAt`; what is given replaces what the builder would say.
 */

/** When all of them were made. */
const madeAt = "2025-03-01T09:30:00Z";

/** A uuid that reports which document it is: `uuidFor(3, "c")` ends in `c…03`. */
export const uuidFor = (n: number, kind = "0"): string =>
  `00000000-0000-4000-8000-${kind}${String(n).padStart(11, "0")}`;

const organizationId: string = uuidFor(1, "a");
const batchExportId: string = uuidFor(1, "b");

/** A world with nothing but what is given. */
export const aWorld = (more: Partial<World> = {}): World => ({ ...emptyWorld(), ...more });

export const aUser = (more: Partial<User> = {}): User => {
  const { id = 1 } = more;
  return blankUser({ id, uuid: uuidFor(id, "d"), email: `user${id}@phx-sim.test`, ...more }, madeAt);
};

export const anOrganization = (more: Partial<Organization> = {}): Organization =>
  blankOrganization({ id: organizationId, name: "Acme", slug: "acme", ...more }, madeAt);

/** User 1 as owner, unless said otherwise. */
export const aMembership = (more: Partial<Membership> = {}): Membership => {
  const { user = 1 } = more;
  return blankMembership({ id: uuidFor(user, "e"), organization: organizationId, user, level: 15, ...more }, madeAt);
};

export const aProject = (more: Partial<StoredProject> = {}): StoredProject => {
  const { id = 1 } = more;
  const key = id === 1 ? "phc_test" : `phc_test_${id}`;
  return blankProject(
    { id, uuid: uuidFor(id, "f"), organization: organizationId, name: "Test", api_key: key, ...more },
    madeAt,
  );
};

/** A key of user 1 that may do everything. */
export const aPersonalApiKey = (more: Partial<PersonalApiKey> = {}): PersonalApiKey => {
  const { key = "phx_test" } = more;
  return blankPersonalApiKey({ id: `id-of-${key}`, key, user: 1, scopes: ["*"], ...more }, madeAt);
};

export const aDashboard = (more: Partial<Dashboard> = {}): Dashboard =>
  dashboardKind.blank({ id: 1, project: 1, name: "Numbers", created_by: 1, ...more }, madeAt);

/** An empty place; see `aTextTile`, `anInsightTile`. */
const aTile = (more: Partial<Tile>): Tile => tileKind.blank({ id: 1, ...more });

export const anInsightTile = (insight: number, more: Partial<Tile> = {}): Tile => aTile({ insight, ...more });

export const aTextTile = (body: string, more: Partial<Tile> = {}): Tile => {
  const { id = 1 } = more;
  const text = { id, body, created_by: 1, last_modified_by: null, last_modified_at: madeAt };
  return aTile({ text, ...more });
};

export const aTemplate = (more: Partial<DashboardTemplate> = {}): DashboardTemplate => ({
  id: uuidFor(1, "2"),
  project: 1,
  template_name: "Starter",
  dashboard_description: "",
  dashboard_filters: {},
  tags: [],
  variables: null,
  tiles: [{ type: "TEXT", body: "Hello", layouts: {} }],
  image_url: null,
  created_at: madeAt,
  ...more,
});

/** User 2 may edit dashboard 1, unless said otherwise. */
export const aCollaborator = (more: Partial<DashboardCollaborator> = {}): DashboardCollaborator => {
  const { dashboard = 1, user = 2 } = more;
  const id = uuidFor(1000 * dashboard + user, "c");
  return { id, dashboard, user, level: 37, added_at: madeAt, updated_at: madeAt, ...more };
};

export const aSharing = (more: Partial<SharingConfiguration> = {}): SharingConfiguration => {
  const { dashboard = 1 } = more;
  return {
    id: uuidFor(dashboard, "5"),
    dashboard,
    created_at: madeAt,
    enabled: true,
    access_token: `access_token_of_dashboard_${String(dashboard).padStart(4, "0")}`,
    settings: null,
    password_required: false,
    former_tokens: [],
    ...more,
  };
};

export const anInsight = (more: Partial<Insight> = {}): Insight => {
  const { id = 1 } = more;
  const shortId = `insight${id}`;
  return insightKind.blank({ id, short_id: shortId, project: 1, name: "Pageviews", created_by: 1, ...more }, madeAt);
};

/** On for everyone. */
export const aFlag = (key: string, more: Partial<FeatureFlag> = {}): FeatureFlag =>
  blankFeatureFlag({ id: 7, project: 1, key, name: key, version: 3, ...more }, madeAt);

export const aFlagOverride = (more: Partial<StoredFlagOverride> = {}): StoredFlagOverride => ({
  id: uuidFor(1, "3"),
  project: 1,
  flag: "beta",
  distinct_id: null,
  value: true,
  payload: null,
  created_at: madeAt,
  ...more,
});

export const aCohort = (more: Partial<Cohort> = {}): Cohort => ({
  id: 1,
  project: 1,
  name: "Team",
  is_static: false,
  deleted: false,
  created_at: madeAt,
  created_by: 1,
  ...more,
});

export const aBatchExport = (more: Partial<BatchExport> = {}): BatchExport =>
  exportKind.blank(
    {
      id: batchExportId,
      project: 1,
      name: "Hourly",
      destination: { type: "NoOp", config: {} },
      interval: "hour",
      ...more,
    },
    madeAt,
  );

/** A completed run of one hour. */
export const aRun = (more: Partial<BatchExportRun> = {}): BatchExportRun => ({
  id: uuidFor(1, "9"),
  batch_export: batchExportId,
  backfill: null,
  status: "Completed",
  records_completed: 10,
  records_total_count: 10,
  bytes_exported: 1000,
  latest_error: null,
  data_interval_start: "2025-03-01T08:00:00Z",
  data_interval_end: "2025-03-01T09:00:00Z",
  cursor: null,
  created_at: madeAt,
  finished_at: madeAt,
  last_updated_at: madeAt,
  ...more,
});

/** A completed backfill of one day. */
export const aBackfill = (more: Partial<BatchExportBackfill> = {}): BatchExportBackfill => ({
  id: uuidFor(1, "8"),
  batch_export: batchExportId,
  start_at: "2025-02-01T00:00:00Z",
  end_at: "2025-02-02T00:00:00Z",
  status: "Completed",
  total_runs: 24,
  created_at: madeAt,
  finished_at: madeAt,
  last_updated_at: madeAt,
  ...more,
});

export const aLog = (more: Partial<BatchExportLog> = {}): BatchExportLog => ({
  id: 1,
  batch_export: batchExportId,
  run: "",
  timestamp: madeAt,
  level: "INFO",
  message: "Started",
  ...more,
});
