import { z } from "zod";
import type { Endpoint } from "../../http/endpoint.ts";
import { found, numberIn } from "../../management/frame/access.ts";
import type { ResourceDesk } from "../../management/frame/desk.ts";
import {
  authorFilter,
  filtered,
  filterQuery,
  type ListFilter,
  pageOf,
  pageQuery,
  pageSchema,
  searchFilter,
  tagsFilter,
} from "../../management/frame/lists.ts";
import { inProject, managementRow } from "../../management/frame/row.ts";
import { newestFirst, sortedByProject } from "../../management/frame/sorted.ts";
import type { FeatureFlag, Project } from "../../world/world.ts";
import { createFlag, updateFlag } from "./flag-changes.ts";
import { FeatureFlagShape, FlagBody, FlagPatch, showFlag } from "./flag-shapes.ts";

const isMultivariant = ({ filters }: FeatureFlag): boolean =>
  (filters.multivariate?.variants ?? []).length > 0;

const types: ReadonlyMap<string | undefined, (flag: FeatureFlag) => boolean> = new Map([
  ["boolean", (flag: FeatureFlag) => !isMultivariant(flag)],
  ["multivariant", isMultivariant],
  // The sim has no experiments.
  ["experiment", () => false],
  ["remote_config", (flag: FeatureFlag) => flag.is_remote_configuration],
]);

/** The filters of the list. Upstream PostHog/posthog posthog/api/feature_flag.py. */
const flagFilters: readonly ListFilter<FeatureFlag>[] = [
  {
    name: "active",
    shape: z.string().describe("true, false, or STALE; no flag is stale here"),
    // Upstream, a flag that is no longer called becomes stale; here all are ACTIVE.
    test: ([value]) => (value === "STALE" ? () => false : (flag) => flag.active === (value === "true")),
  },
  { ...authorFilter, name: "created_by_id" },
  searchFilter("Part of the key or the name, in any case", ({ key, name }) => [key, name]),
  {
    name: "type",
    shape: z.string().describe("boolean, multivariant, experiment or remote_config"),
    test: ([value]) => types.get(value),
  },
  {
    name: "evaluation_runtime",
    shape: z.string().describe("all, client or server"),
    test:
      ([value]) =>
      (flag) =>
        flag.evaluation_runtime === value,
  },
  tagsFilter,
];

const read = "feature_flag:read";
const write = "feature_flag:write";

/** The project's flag with this id, also a deleted one: it can be restored. @throws SimError not_found */
function flagOf(desk: ResourceDesk, project: Project, id: string): FeatureFlag {
  const number = numberIn(id);
  const flag = number === undefined ? undefined : desk.worlds.get("feature_flags", number);
  return found(flag?.project === project.id ? flag : undefined);
}

/** Feature flags of a project. Upstream PostHog/posthog posthog/api/feature_flag.py. */
export function featureFlagEndpoints(desk: ResourceDesk): Endpoint[] {
  const flags = sortedByProject(desk.worlds, "feature_flags", {
    compare: newestFirst,
    has: ({ deleted }) => !deleted,
  });
  const show = (flag: FeatureFlag) => showFlag(desk, flag);
  return [
    ...managementRow(desk, {
      method: "GET",
      path: "/api/projects/:project_id/feature_flags",
      summary: "Feature flags, newest first, without deleted ones",
      access: inProject(read),
      query: pageQuery.extend(filterQuery(flagFilters)),
      reply: pageSchema(FeatureFlagShape),
      handle: ({ call, caller, project }) =>
        pageOf(call, filtered(call, caller, flagFilters, flags(project.id)), show),
    }),
    ...managementRow(desk, {
      method: "POST",
      path: "/api/projects/:project_id/feature_flags",
      summary: "Creates a feature flag",
      access: inProject(write),
      status: 201,
      body: FlagBody,
      reply: FeatureFlagShape,
      handle: ({ caller, project, body }) => show(createFlag(desk, { caller, project, body: body() })),
    }),
    ...managementRow(desk, {
      method: "GET",
      path: "/api/projects/:project_id/feature_flags/:id",
      summary: "A feature flag",
      access: inProject(read),
      reply: FeatureFlagShape,
      handle: ({ project, param }) => show(flagOf(desk, project, param("id"))),
    }),
    ...managementRow(desk, {
      method: "PATCH",
      path: "/api/projects/:project_id/feature_flags/:id",
      summary: "Changes a feature flag; deletes and restores it with `deleted`",
      access: inProject(write),
      body: FlagPatch,
      reply: FeatureFlagShape,
      handle({ caller, project, param, body }) {
        const flag = flagOf(desk, project, param("id"));
        return show(updateFlag(desk, flag, { caller, body: body(), isPatch: true }));
      },
    }),
    ...managementRow(desk, {
      method: "PUT",
      path: "/api/projects/:project_id/feature_flags/:id",
      summary: "Changes a feature flag; the key is required",
      access: inProject(write),
      body: FlagBody,
      reply: FeatureFlagShape,
      handle({ caller, project, param, body }) {
        const flag = flagOf(desk, project, param("id"));
        return show(updateFlag(desk, flag, { caller, body: body(), isPatch: false }));
      },
    }),
    ...managementRow(desk, {
      method: "DELETE",
      path: "/api/projects/:project_id/feature_flags/:id",
      summary: "Always refused: flags are deleted with PATCH",
      access: inProject(write),
      status: 405,
      handle: () => undefined,
    }),
  ];
}
