import type { Endpoint } from "../../http/endpoint.ts";
import type { FeatureFlag, Project } from "../../model/world.ts";
import { found, numberIn } from "../access.ts";
import type { ResourceDesk } from "../desk.ts";
import { filtered, filterQuery } from "../list-filters.ts";
import { newestFirst } from "../newest.ts";
import { pageOf, pageQuery, pageSchema } from "../page.ts";
import { projectEndpoints } from "../row.ts";
import { sortedByProject } from "../sorted.ts";
import { FlagBody, FlagPatch } from "./body.ts";
import { createFlag, updateFlag } from "./changes.ts";
import { flagFilters } from "./list.ts";
import { FeatureFlagShape, showFlag } from "./shape.ts";

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
    ...projectEndpoints(desk, {
      methods: ["GET"],
      path: "/feature_flags",
      summary: "Feature flags, newest first, without deleted ones",
      scope: read,
      query: [...pageQuery, ...filterQuery(flagFilters)],
      reply: pageSchema(FeatureFlagShape),
      handle: ({ call, caller, project }) =>
        pageOf(call, filtered(call, caller, flagFilters, flags(project.id)), show),
    }),
    ...projectEndpoints(desk, {
      methods: ["POST"],
      path: "/feature_flags",
      summary: "Creates a feature flag",
      scope: write,
      status: 201,
      body: FlagBody,
      reply: FeatureFlagShape,
      handle: ({ caller, project, body }) => show(createFlag(desk, { caller, project, body: body() })),
    }),
    ...projectEndpoints(desk, {
      methods: ["GET"],
      path: "/feature_flags/:id",
      summary: "A feature flag",
      scope: read,
      reply: FeatureFlagShape,
      handle: ({ project, param }) => show(flagOf(desk, project, param("id"))),
    }),
    ...projectEndpoints(desk, {
      methods: ["PATCH"],
      path: "/feature_flags/:id",
      summary: "Changes a feature flag; deletes and restores it with `deleted`",
      scope: write,
      body: FlagPatch,
      reply: FeatureFlagShape,
      handle({ caller, project, param, body }) {
        const flag = flagOf(desk, project, param("id"));
        return show(updateFlag(desk, flag, { caller, body: body(), isPatch: true }));
      },
    }),
    ...projectEndpoints(desk, {
      methods: ["PUT"],
      path: "/feature_flags/:id",
      summary: "Changes a feature flag; the key is required",
      scope: write,
      body: FlagBody,
      reply: FeatureFlagShape,
      handle({ caller, project, param, body }) {
        const flag = flagOf(desk, project, param("id"));
        return show(updateFlag(desk, flag, { caller, body: body(), isPatch: false }));
      },
    }),
    ...projectEndpoints(desk, {
      methods: ["DELETE"],
      path: "/feature_flags/:id",
      summary: "Always refused: flags are deleted with PATCH",
      scope: write,
      status: 405,
      handle: () => undefined,
    }),
  ];
}
