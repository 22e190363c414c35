import type { z } from "zod";
import type { WorldSchema } from "./world.schema.ts";

/** All documents that people edit, as one document; events and persons are not part of it. */
export type World = z.infer<typeof WorldSchema>;
export type User = World["users"][number];
export type Organization = World["organizations"][number];
export type Membership = World["memberships"][number];
export type StoredProject = World["projects"][number];
export type MadeProject = NonNullable<StoredProject["ephemeral"]>;
export type PersonalApiKey = World["personal_api_keys"][number];
export type Dashboard = World["dashboards"][number];
export type Tile = Dashboard["tiles"][number];
export type DashboardTemplate = World["dashboard_templates"][number];
export type DashboardCollaborator = World["dashboard_collaborators"][number];
export type SharingConfiguration = World["sharing_configurations"][number];
export type Insight = World["insights"][number];
export type FeatureFlag = World["feature_flags"][number];
export type StoredFlagOverride = World["flag_overrides"][number];
export type PlaceRow = World["geoip"][number];
export type Cohort = World["cohorts"][number];
export type BatchExport = World["batch_exports"][number];
export type BatchExportRun = World["batch_export_runs"][number];
export type BatchExportBackfill = World["batch_export_backfills"][number];
export type BatchExportLog = World["batch_export_logs"][number];
export type StoredResource = World["resources"][number];

/** The version that this code reads and writes; older ones are migrated (store/migrations.ts). */
const worldVersion = 3;

export const collections = [
  ...["users", "organizations", "memberships", "projects", "personal_api_keys", "dashboards"],
  ...["dashboard_templates", "dashboard_collaborators", "sharing_configurations", "insights"],
  ...["feature_flags", "flag_overrides", "cohorts", "batch_exports", "batch_export_runs"],
  ...["batch_export_backfills", "batch_export_logs", "resources"],
] as const satisfies readonly (keyof World)[];

/** Its keys are in the order of world.json. */
export const emptyWorld = (): World => ({
  version: worldVersion,
  sequences: {},
  // the collections, each empty
  ...(Object.fromEntries(collections.map((name) => [name, []])) as unknown as Pick<World, CollectionName>),
  product_tours: [],
  prompts: [],
  geoip: [],
});

export type CollectionName = (typeof collections)[number];
export type DocumentOf<C extends CollectionName> = World[C][number];

/** Sequences of numbers. Tiles and texts are inside dashboards and have their own numbers. */
export type DocumentSequence =
  | "users"
  | "projects"
  | "dashboards"
  | "tiles"
  | "texts"
  | "insights"
  | "feature_flags"
  | "cohorts"
  | "batch_export_logs";

export type SequenceName = DocumentSequence | `resources/${string}`;

/** The world for readers: documents are replaced, never changed in place. */
export type ReadonlyWorld = {
  readonly [K in keyof World]: World[K] extends (infer E)[] ? readonly E[] : Readonly<World[K]>;
};

export interface Draft {
  put<C extends CollectionName>(collection: C, document: DocumentOf<C>): DocumentOf<C>;
  remove<C extends CollectionName>(collection: C, id: DocumentOf<C>["id"]): void;
  nextId(sequence: SequenceName): number;
}

/** The world document for handlers; world-store.ts implements it. */
export interface Worlds {
  readonly current: ReadonlyWorld;
  projectByKey(apiKey: string): StoredProject | undefined;
  projectById(id: number): StoredProject | undefined;
  get<C extends CollectionName>(collection: C, id: DocumentOf<C>["id"]): DocumentOf<C> | undefined;
  versionOf(collection: CollectionName): number;
  /** Changes documents, all or none: if `edit` throws, nothing changes. It is on disk before the request is answered. */
  change<T>(edit: (draft: Draft) => T): T;
}
