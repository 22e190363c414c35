import { z } from "zod";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { liveResources, surveyFlagIds } from "../../../state/documents/resources.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import { documentNamed, found } from "../../api-frame/access.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { isTrue } from "../../api-frame/fields.ts";
import { authorFilter, equalFilter, type ListFilter, searchFilter, tagsFilter } from "../../api-frame/lists.ts";
import { resourceRows } from "../../api-frame/resource.ts";
import { inProject, type ProjectRequest, projectRoot } from "../../api-frame/row.ts";
import { newestFirst, sortedByProject } from "../../api-frame/sorted.ts";
import type { Rulesets } from "../rulesets.ts";
import { flagActionRows } from "./flag-actions.ts";
import { createFlag, updateFlag } from "./flag-changes.ts";
import { FeatureFlagShape, FlagBody, FlagPatch, showFlag, statusOf } from "./flag-shapes.ts";

const isMultivariant = ({ filters }: FeatureFlag): boolean => (filters.multivariate?.variants ?? []).length > 0;

type FlagTest = (flag: FeatureFlag) => boolean;

const typesIn = ({ worlds }: ResourceDesk): ReadonlyMap<string | undefined, FlagTest> =>
  new Map<string | undefined, FlagTest>([
    ["boolean", (flag) => !isMultivariant(flag)],
    ["multivariant", isMultivariant],
    [
      "experiment",
      ({ id, project }) =>
        liveResources(worlds.current, "experiments", project).some(({ fields }) => fields.feature_flag_id === id),
    ],
    ["remote_config", (flag) => flag.is_remote_configuration],
  ]);

const flagFilters = (desk: ResourceDesk): readonly ListFilter<FeatureFlag>[] => [
  {
    name: "active",
    shape: z.string().describe("true, false, or STALE"),
    test: ([value]) =>
      value === "STALE"
        ? // upstream's list leaves out those without condition sets
          (flag) => (flag.filters.groups ?? []).length > 0 && statusOf(flag, desk.clock.now()).status === "stale"
        : (flag) => flag.active === (value?.toLowerCase() === "true"),
  },
  {
    name: "archived",
    shape: z.string().describe("true or false (default: false)"),
    test:
      ([value]) =>
      (flag) =>
        (flag.archived === true) === isTrue(value),
  },
  { ...authorFilter, name: "created_by_id" },
  searchFilter("Part of the key or the name, in any case", ({ key, name }) => [key, name]),
  {
    name: "type",
    shape: z.string().describe("boolean, multivariant, experiment or remote_config"),
    test: ([value]) => typesIn(desk).get(value),
  },
  equalFilter("evaluation_runtime", z.string().describe("all, client or server"), (it) => it.evaluation_runtime),
  tagsFilter,
];

const flagOf = (desk: ResourceDesk, { project, param }: ProjectRequest<unknown>): FeatureFlag =>
  found(documentNamed(desk, "feature_flags", project.id, param("id")));

export function featureFlagEndpoints(desk: ResourceDesk, rulesets: Rulesets): Endpoint[] {
  const flags = sortedByProject(desk.worlds, "feature_flags", { compare: newestFirst, has: ({ deleted }) => !deleted });
  // rows with a name in the path come before those of any id
  const actions = flagActionRows({ desk, flags, flagOf: (request) => flagOf(desk, request), rulesets });
  const documents = resourceRows(desk, {
    path: `${projectRoot}/feature_flags`,
    reads: inProject("feature_flag:read"),
    writes: inProject("feature_flag:write"),
    shape: FeatureFlagShape,
    show: (flag) => showFlag(desk, flag),
    filters: flagFilters(desk),
    all({ call, project }) {
      const ofSurveys = surveyFlagIds(desk.worlds.current, project.id);
      const isListed = (it: FeatureFlag) => !ofSurveys.has(it.id) && (!it.archived || call.query.has("archived"));
      const all = flags(project.id);
      return all.every(isListed) ? all : all.filter(isListed);
    },
    list: { summary: "Feature flags, newest first, without deleted and archived ones" },
    create: { summary: "Creates a feature flag", body: FlagBody, handle: (request) => createFlag(desk, request) },
    read: { summary: "A feature flag", handle: (request) => showFlag(desk, flagOf(desk, request)) },
    patch: {
      summary: "Changes a feature flag; deletes and restores it with `deleted`",
      body: FlagPatch,
      handle: (request) => updateFlag(desk, flagOf(desk, request), request, true),
    },
    put: {
      summary: "Changes a feature flag; the key is required",
      body: FlagBody,
      handle: (request) => updateFlag(desk, flagOf(desk, request), request, false),
    },
    remove: { summary: "Always refused: flags are deleted with PATCH" },
  });
  return [...actions, ...documents];
}
