import { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import { isObject, type JsonObject, parsedJson } from "../../../kernel/base/json.ts";
import { compareText } from "../../../kernel/base/text.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { datetime, dictionary, text } from "../../../state/documents/lenient-fields.ts";
import { surveyFlagIds } from "../../../state/documents/resources.ts";
import type { FeatureFlag, StoredProject } from "../../../state/documents/world.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { invalid } from "../../api-frame/fields.ts";
import { inProject, managementRow, type ProjectRequest, projectRoot } from "../../api-frame/row.ts";
import { conditionsOf, payloadOf } from "../endpoint/flags-answer.ts";
import { overridesFor, withOverrides } from "../engine/overrides.ts";
import { evaluateRuleset } from "../engine/ruleset.ts";
import type { Rulesets } from "../rulesets.ts";
import { subjectOf } from "../subjects.ts";
import { activityOf, activityQuery, FlagActivity } from "./flag-activity.ts";
import { activeDependents, flagsOf, updateFlag } from "./flag-changes.ts";
import { FeatureFlagShape, type FlagPatch, showFlag, statusOf } from "./flag-shapes.ts";
import { showLinkedFlag } from "./linked-flags.ts";

/** Questions about flags, and what is done to one. Upstream PostHog/posthog posthog/api/feature_flag.py. */

interface FlagActionParts {
  readonly desk: ResourceDesk;
  /** The live flags of a project, the last created first. */
  flags(project: number): readonly FeatureFlag[];
  /** The flag of the path. @throws SimError not_found */
  flagOf(request: ProjectRequest<unknown>): FeatureFlag;
  readonly rulesets: Rulesets;
}

const root = `${projectRoot}/feature_flags` as const;
const reads = inProject("feature_flag:read");
const writes = inProject("feature_flag:write");

const TestEvaluation = z.object({
  distinct_id: text().optional(),
  person_id: text().optional(),
  timestamp: datetime().nullable().optional(),
  groups: dictionary().optional(),
});
type TestEvaluation = z.infer<typeof TestEvaluation>;

const TestEvaluationAnswer = z
  .object({
    flag_key: z.string(),
    result: z.union([z.boolean(), z.string()]),
    reason: z.string(),
    reason_description: z.string().nullable(),
    condition_index: z.int().nullable(),
    payload: z.json(),
    person_properties: z.record(z.string(), z.json()),
    evaluation_distinct_id: z.string().nullable(),
    conditions: z.array(z.json()),
  })
  .meta({ title: "FlagTestEvaluation" });

function decide({ desk, rulesets }: FlagActionParts, project: StoredProject, distinctId: string, groups: JsonObject) {
  const overrides = overridesFor(desk.worlds, project.id, distinctId);
  const ruleset = rulesets.overriddenRulesetOf(project, overrides);
  const subject = subjectOf(desk, project, { distinctId, personProperties: {}, groups, groupProperties: {} });
  const isSelected = () => true;
  return { ruleset, subject, results: withOverrides(evaluateRuleset(ruleset, subject, { isSelected }), overrides) };
}

function myFlags(parts: FlagActionParts, { project, caller, call }: ProjectRequest<unknown>) {
  const keys = call.query.getAll("flag_keys");
  const groups = parsedJson(call.query.get("groups") ?? "");
  const { results } = decide(parts, project, caller.user.distinct_id, isObject(groups) ? groups : {});
  const values = new Map(results.map((it) => [it.compiled.flag.id, it.decision.value]));
  const ofSurveys = surveyFlagIds(parts.desk.worlds.current, project.id);
  return parts
    .flags(project.id)
    .filter((it) => !ofSurveys.has(it.id) && (keys.length === 0 || keys.includes(it.key)))
    .map((flag) => ({ feature_flag: showLinkedFlag(flag), value: values.get(flag.id) ?? false }));
}

function usedProperties(flag: FeatureFlag, stored: JsonObject): JsonObject {
  const sets = flag.filters.groups ?? [];
  const keys = new Set(sets.flatMap((set) => (set.properties ?? []).map(({ key }) => key)));
  return Object.fromEntries(Object.entries(stored).filter(([key]) => keys.has(key)));
}

function testEvaluation(parts: FlagActionParts, request: ProjectRequest<TestEvaluation>) {
  const flag = parts.flagOf(request);
  const { distinct_id, person_id, timestamp, groups = {} } = request.body();
  if (!distinct_id && !person_id) throw invalid("Either distinct_id or person_id must be provided");
  if (distinct_id && person_id) throw invalid("Cannot provide both distinct_id and person_id");
  if (timestamp) throw invalid("phx-sim does not emulate evaluation at an earlier time", "timestamp");
  const { project } = request;
  const { people } = parts.desk;
  const person = distinct_id ? people.personOf(project.id, distinct_id) : people.person(project.id, person_id ?? "");
  const distinctId = distinct_id ?? (person && [...people.distinctIds(person)].sort(compareText)[0]);
  if (distinctId === undefined) throw new SimError("not_found", `Person not found for person_id: ${person_id}`);
  const { ruleset, subject, results } = decide(parts, project, distinctId, groups);
  const served = results.find((it) => it.compiled.flag.id === flag.id);
  return {
    flag_key: flag.key,
    result: served?.decision.value ?? false,
    reason: served?.decision.reason.code ?? "flag_not_found",
    reason_description: served?.decision.reason.description ?? null,
    condition_index: served?.decision.condition_index ?? null,
    payload: served ? payloadOf(served) : null,
    person_properties: usedProperties(flag, person?.properties ?? {}),
    evaluation_distinct_id: distinct_id ?? null,
    conditions: served ? conditionsOf(ruleset, flag, subject) : [],
  };
}

/** A change without a body; a flag that is so already is not written. */
const switched = (
  { desk, flagOf }: FlagActionParts,
  name: string,
  doing: string,
  summary: string,
  change: Pick<FlagPatch, "active" | "archived">,
): Endpoint[] =>
  managementRow(desk, {
    method: "POST",
    path: `${root}/:id/${name}`,
    summary,
    access: writes,
    reply: FeatureFlagShape,
    handle(request) {
      const flag = flagOf(request);
      if (flag.deleted) throw invalid(`This feature flag has been deleted. Restore it before ${doing} it.`);
      const isUnchanged =
        change.archived === undefined ? flag.active === change.active : (flag.archived === true) === change.archived;
      return showFlag(desk, isUnchanged ? flag : updateFlag(desk, flag, { ...request, body: () => change }, true));
    },
  });

const FlagStatus = z
  .object({
    status: z.string(),
    reason: z.string(),
    reason_states_rollout: z.boolean(),
    rollout: z.object({
      effectively_full_rollout: z.boolean(),
      has_targeting_conditions: z.boolean(),
      max_rollout_percentage: z.number().nullable(),
      is_multivariate: z.boolean(),
    }),
  })
  .meta({ title: "FlagStatus" });

export function flagActionRows(parts: FlagActionParts): Endpoint[] {
  const { desk, flagOf } = parts;
  const logged = {
    method: "GET",
    access: inProject("activity_log:read"),
    query: activityQuery,
    reply: FlagActivity,
  } as const;
  return [
    ...managementRow(desk, {
      method: "GET",
      path: `${root}/my_flags`,
      summary: "The flags, with their values for the caller",
      access: reads,
      query: z.object({
        flag_keys: z.string().describe("Only these flags; repeatable"),
        groups: z.string().describe("Groups as JSON, by type"),
      }),
      reply: z.array(z.object({ feature_flag: z.json(), value: z.union([z.boolean(), z.string()]) })),
      handle: (request) => myFlags(parts, request),
    }),
    ...managementRow(desk, {
      ...logged,
      path: `${root}/activity`,
      summary: "How flags were created and changed, newest first",
      handle: ({ call, project }) => activityOf(desk, call, flagsOf(desk, project.id)),
    }),
    ...managementRow(desk, {
      ...logged,
      path: `${root}/:id/activity`,
      summary: "How a flag was created and changed, newest first",
      handle: (request) => activityOf(desk, request.call, [flagOf(request)]),
    }),
    ...managementRow(desk, {
      method: "GET",
      path: `${root}/:id/status`,
      summary: "Whether a flag can go, with the reason; here no flag is stale because it is not called",
      access: reads,
      reply: FlagStatus,
      handle: (request) => statusOf(flagOf(request), desk.clock.now()),
    }),
    ...managementRow(desk, {
      method: "GET",
      path: `${root}/:id/dependent_flags`,
      summary: "The active flags whose conditions use this one",
      access: reads,
      reply: z.array(z.object({ id: z.int(), key: z.string(), name: z.string() })),
      handle: (request) =>
        activeDependents(desk, flagOf(request)).map(({ id, key, name }) => ({ id, key, name: name || key })),
    }),
    ...managementRow<"project", TestEvaluation>(desk, {
      method: "POST",
      path: `${root}/:id/test_evaluation`,
      summary: "Evaluates a flag for a distinct id, with the result of each condition set",
      access: reads,
      body: TestEvaluation,
      reply: TestEvaluationAnswer,
      handle: (request) => testEvaluation(parts, request),
    }),
    ...switched(parts, "enable", "enabling", "Switches a flag on", { active: true }),
    ...switched(parts, "disable", "disabling", "Switches a flag off", { active: false }),
    ...switched(parts, "archive", "archiving", "Archives a flag, and switches it off", {
      active: false,
      archived: true,
    }),
    ...switched(parts, "unarchive", "unarchiving", "Brings a flag back from the archive; it stays off", {
      archived: false,
    }),
  ];
}
