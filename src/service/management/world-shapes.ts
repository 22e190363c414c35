import { z } from "zod";

/** Documents of each kind that a project has, without deleted ones. */
const ProjectCounts = z.strictObject({
  dashboards: z.int(),
  insights: z.int(),
  feature_flags: z.int(),
  cohorts: z.int(),
  batch_exports: z.int(),
  surveys: z.int(),
});

export const ProjectSummary = z.strictObject({
  id: z.int(),
  name: z.string(),
  organization: z.string(),
  api_key: z.string(),
  secret_api_key: z.string().describe("Masked"),
  timezone: z.string(),
  week_start_day: z.literal([0, 1]).describe("First day of a week: 0 Sunday, 1 Monday"),
  adopted: z.boolean().describe("Made from an unknown key"),
  ephemeral: z.boolean().describe("Made for one test"),
  counts: ProjectCounts,
});
export type ProjectSummary = z.infer<typeof ProjectSummary>;

export const OrganizationSummary = z.strictObject({
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  created_at: z.string(),
  members: z.array(
    z.strictObject({ user: z.int(), name: z.string(), email: z.string(), level: z.enum(["member", "admin", "owner"]) }),
  ),
  projects: z.array(ProjectSummary),
});
export type OrganizationSummary = z.infer<typeof OrganizationSummary>;

/** A personal key; all but its end is masked. */
export const KeySummary = z.strictObject({
  id: z.string(),
  label: z.string(),
  key: z.string().describe("Masked"),
  owner: z.string(),
  scopes: z.array(z.string()),
  limited_to: z.array(z.string()).describe("Names of organizations and projects; empty: no limit"),
  created_at: z.string(),
});
export type KeySummary = z.infer<typeof KeySummary>;

export const WorldSummary = z
  .strictObject({
    organizations: z.array(OrganizationSummary),
    personal_api_keys: z.array(KeySummary),
    dialect: z.strictObject({
      current: z.enum(["documented", "production"]),
      differences: z.array(
        z.strictObject({
          id: z.string(),
          topic: z.string(),
          documented: z.string(),
          production: z.string(),
          source: z.string(),
        }),
      ),
    }),
  })
  .meta({ title: "WorldSummary" });
export type WorldSummary = z.infer<typeof WorldSummary>;

const TileSummary = z.strictObject({
  id: z.int(),
  kind: z.enum(["insight", "text"]),
  title: z.string().describe("The insight's name, or the text"),
  color: z.string().nullable(),
  place: z
    .strictObject({ x: z.number(), y: z.number(), w: z.number(), h: z.number() })
    .nullable()
    .describe("On a wide page, in columns and rows; null if the tile has no layout"),
  query: z.json(),
});
export type TileSummary = z.infer<typeof TileSummary>;

export const DashboardSummary = z.strictObject({
  id: z.int(),
  project: z.int(),
  name: z.string().nullable(),
  description: z.string(),
  pinned: z.boolean(),
  tags: z.array(z.string()),
  restricted: z.boolean().describe("Only collaborators may edit it"),
  collaborators: z.array(z.string()),
  shared: z.boolean().describe("Anyone with its address can see it"),
  created_at: z.string(),
  tiles: z.array(TileSummary),
});
export type DashboardSummary = z.infer<typeof DashboardSummary>;

export const DashboardSummaries = z
  .strictObject({ dashboards: z.array(DashboardSummary), count: z.int() })
  .meta({ title: "DashboardSummaries" });
export type DashboardSummaries = z.infer<typeof DashboardSummaries>;

export const RevealedKey = z.strictObject({ id: z.string(), key: z.string() }).meta({ title: "RevealedKey" });
