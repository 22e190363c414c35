import { z } from "zod";
import type { Endpoint } from "../../http/endpoint.ts";
import type { ResourceDesk } from "../../management/frame/desk.ts";
import { dictionary, text } from "../../management/frame/fields.ts";
import { inProject, managementRow, type ProjectRequest, projectRoot } from "../../management/frame/row.ts";
import { showUserOf, UserShape } from "../../management/users.ts";
import { surveyFlagIds } from "../../world/resources.ts";
import type { FeatureFlag, StoredProject } from "../../world/world.ts";
import { conditionsOf } from "../endpoint/flags-answer.ts";
import { overridesFor, withOverrides } from "../engine/overrides.ts";
import { evaluateRuleset } from "../engine/ruleset.ts";
import { createFlagBook } from "../flag-book.ts";
import { type RequestedSubject, subjectOf } from "../subjects.ts";
import { dependsOn, updateFlag } from "./flag-changes.ts";
import { FeatureFlagShape, type FlagPatch, showFlag } from "./flag-shapes.ts";

type FlagOf = (request: ProjectRequest<unknown>) => FeatureFlag;

/** Whether a flag can go. Upstream posthog/models/feature_flag/flag_status.py. */
function statusOf(flag: FeatureFlag): { status: string; reason: string } {
  if (flag.deleted) return { status: "deleted", reason: "Flag has been deleted" };
  if (!flag.active) return { status: "inactive", reason: "Flag is disabled" };
  const sets = flag.filters.groups ?? [];
  const isForAll = sets.some(
    (set) => (set.properties ?? []).length === 0 && (set.rollout_percentage ?? 100) === 100 && !set.variant,
  );
  const hasVariants = (flag.filters.multivariate?.variants ?? []).length > 0;
  return isForAll && !hasVariants
    ? { status: "stale", reason: 'This boolean flag will always evaluate to "true"' }
    : { status: "active", reason: "Flag is not fully rolled out and may still be active" };
}

const Activity = z
  .object({
    count: z.int(),
    next: z.null(),
    previous: z.null(),
    results: z.array(
      z.object({
        user: UserShape.nullable(),
        activity: z.enum(["created", "updated"]),
        scope: z.literal("FeatureFlag"),
        item_id: z.string(),
        detail: z.object({ id: z.string(), name: z.string(), changes: z.null(), type: z.null() }),
        created_at: z.string(),
      }),
    ),
  })
  .meta({ title: "FlagActivity" });

/** What a flag itself knows of its past: how it was created, and its last change. */
function activityOf(desk: ResourceDesk, flags: readonly FeatureFlag[]): z.infer<typeof Activity> {
  const results = flags.flatMap((flag) => {
    const about = {
      scope: "FeatureFlag" as const,
      item_id: String(flag.id),
      detail: { id: String(flag.id), name: flag.key, changes: null, type: null },
    };
    const created = {
      ...about,
      user: showUserOf(desk, flag.created_by),
      activity: "created" as const,
      created_at: flag.created_at,
    };
    if (flag.version <= 1 || flag.updated_at === null) return [created];
    const user = showUserOf(desk, flag.last_modified_by);
    return [{ ...about, user, activity: "updated" as const, created_at: flag.updated_at }, created];
  });
  results.sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
  return { count: results.length, next: null, previous: null, results };
}

const Trial = z.object({
  distinct_id: text(),
  person_properties: dictionary().optional(),
  groups: dictionary().optional(),
  group_properties: dictionary().optional(),
});

const TrialAnswer = z
  .object({
    flag_key: z.string(),
    value: z.union([z.boolean(), z.string()]),
    payload: z.string().nullable(),
    reason: z.object({ code: z.string(), condition_index: z.int().nullable(), description: z.string() }),
    conditions: z.array(z.json()),
  })
  .meta({ title: "FlagTestEvaluation" });

/** Questions about flags, and what is done to one. Upstream PostHog/posthog posthog/api/feature_flag.py. */
export function flagActRows(desk: ResourceDesk, flagOf: FlagOf): Endpoint[] {
  const book = createFlagBook(desk);
  const reads = inProject("feature_flag:read");
  const writes = inProject("feature_flag:write");
  const root = `${projectRoot}/feature_flags`;
  const liveFlags = (project: number): FeatureFlag[] => {
    const ofSurveys = surveyFlagIds(desk.worlds.current, project);
    return desk.worlds.current.feature_flags.filter(
      (it) => it.project === project && !it.deleted && !ofSurveys.has(it.id),
    );
  };

  function decide(project: StoredProject, asked: RequestedSubject) {
    const overrides = overridesFor(desk.worlds, project.id, asked.distinctId);
    const ruleset = book.overriddenRulesetOf(project, overrides);
    const subject = subjectOf(desk, project, asked);
    const isSelected = () => true;
    const results = withOverrides(evaluateRuleset(ruleset, subject, { isSelected }), overrides);
    return { ruleset, subject, results };
  }

  const switched = (name: string, summary: string, change: FlagPatch): Endpoint[] =>
    managementRow(desk, {
      method: "POST",
      path: `${root}/:id/${name}`,
      summary,
      access: writes,
      reply: FeatureFlagShape,
      handle: (request) =>
        showFlag(desk, updateFlag(desk, flagOf(request), { ...request, body: () => change }, true)),
    });

  return [
    ...managementRow(desk, {
      method: "GET",
      path: `${root}/my_flags`,
      summary: "The flags, with their values for the caller",
      access: reads,
      reply: z.array(z.object({ feature_flag: FeatureFlagShape, value: z.union([z.boolean(), z.string()]) })),
      handle({ project, caller }) {
        const nothing = { personProperties: {}, groups: {}, groupProperties: {} };
        const { results } = decide(project, { distinctId: caller.user.distinct_id, ...nothing });
        const values = new Map(results.map((it) => [it.compiled.flag.id, it.decision.value]));
        return liveFlags(project.id).map((flag) => ({
          feature_flag: showFlag(desk, flag),
          value: values.get(flag.id) ?? false,
        }));
      },
    }),
    ...managementRow(desk, {
      method: "GET",
      path: `${root}/activity`,
      summary: "How flags were created, and their last changes: no earlier ones are kept",
      access: inProject("activity_log:read"),
      reply: Activity,
      handle: ({ project }) => activityOf(desk, liveFlags(project.id)),
    }),
    ...managementRow(desk, {
      method: "GET",
      path: `${root}/:id/activity`,
      summary: "How a flag was created, and its last change: no earlier ones are kept",
      access: inProject("activity_log:read"),
      reply: Activity,
      handle: (request) => activityOf(desk, [flagOf(request)]),
    }),
    ...managementRow(desk, {
      method: "GET",
      path: `${root}/:id/status`,
      summary: "Whether a flag can go, with the reason; here no flag is stale because it is not called",
      access: reads,
      reply: z.object({ status: z.string(), reason: z.string() }).meta({ title: "FlagStatus" }),
      handle: (request) => statusOf(flagOf(request)),
    }),
    ...managementRow(desk, {
      method: "GET",
      path: `${root}/:id/dependent_flags`,
      summary: "The flags whose conditions use this one",
      access: reads,
      reply: z.array(z.object({ id: z.int(), key: z.string(), name: z.string() })),
      handle(request) {
        const isDependent = dependsOn(flagOf(request).id);
        return liveFlags(request.project.id)
          .filter(isDependent)
          .map(({ id, key, name }) => ({ id, key, name }));
      },
    }),
    ...managementRow<"project", z.infer<typeof Trial>>(desk, {
      method: "POST",
      path: `${root}/:id/test_evaluation`,
      summary: "Evaluates a flag for a distinct id, with the result of each condition set",
      access: reads,
      body: Trial,
      reply: TrialAnswer,
      handle(request) {
        const flag = flagOf(request);
        const { distinct_id, person_properties = {}, groups = {}, group_properties = {} } = request.body();
        const { ruleset, subject, results } = decide(request.project, {
          distinctId: distinct_id,
          personProperties: person_properties,
          groups,
          groupProperties: group_properties,
        });
        const decision = results.find((it) => it.compiled.flag.id === flag.id)?.decision;
        return {
          flag_key: flag.key,
          value: decision?.value ?? false,
          payload: decision?.payload ?? null,
          reason: {
            code: decision?.reason.code ?? "flag_disabled",
            condition_index: decision?.condition_index ?? null,
            description: decision?.reason.description ?? "Flag is disabled",
          },
          conditions: conditionsOf(ruleset, flag, subject),
        };
      },
    }),
    ...switched("enable", "Switches a flag on", { active: true }),
    ...switched("disable", "Switches a flag off", { active: false }),
  ];
}
