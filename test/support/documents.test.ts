import { expect, test } from "vitest";
import { resourceOf } from "../../src/state/documents/resources.ts";
import { WorldSchema } from "../../src/state/documents/world.schema.ts";
import { collections } from "../../src/state/documents/world.ts";
import {
  aBackfill,
  aBatchExport,
  aCohort,
  aCollaborator,
  aDashboard,
  aFlag,
  aFlagOverride,
  aLog,
  aMembership,
  anInsight,
  anInsightTile,
  anOrganization,
  aPersonalApiKey,
  aProject,
  aRun,
  aSharing,
  aTemplate,
  aTextTile,
  aUser,
  aWorld,
  uuidFor,
} from "./documents.ts";

test("a world of all documents is a world", () => {
  const world = aWorld({
    users: [aUser(), aUser({ id: 2 })],
    organizations: [anOrganization()],
    memberships: [aMembership(), aMembership({ user: 2, level: 1 })],
    projects: [aProject(), aProject({ id: 2 })],
    personal_api_keys: [aPersonalApiKey(), aPersonalApiKey({ key: "phx_other", user: 2 })],
    dashboards: [aDashboard({ tiles: [aTextTile("Hello"), anInsightTile(1, { id: 2 })] })],
    dashboard_templates: [aTemplate()],
    dashboard_collaborators: [aCollaborator()],
    sharing_configurations: [aSharing()],
    insights: [anInsight()],
    feature_flags: [aFlag("beta")],
    cohorts: [aCohort()],
    flag_overrides: [aFlagOverride()],
    batch_exports: [aBatchExport()],
    batch_export_runs: [aRun()],
    batch_export_backfills: [aBackfill()],
    batch_export_logs: [aLog()],
    resources: [resourceOf("annotations", 1, 1, { content: "Released" })],
  });
  expect(WorldSchema.parse(world)).toEqual(world);
  for (const name of collections) {
    const ids = world[name].map((it) => it.id);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(ids.length);
  }
});

test("uuids look like uuids", () => {
  expect(uuidFor(3, "c")).toBe("00000000-0000-4000-8000-c00000000003");
});
