import { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import { uuidV5 } from "../../../kernel/base/ids.ts";
import { isObject, type JsonObject, parsedJson } from "../../../kernel/base/json.ts";
import { compareText } from "../../../kernel/base/text.ts";
import type { Call } from "../../../kernel/http/call.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { surveyFlagIds } from "../../../state/documents/resources.ts";
import type { FeatureFlag, StoredProject } from "../../../state/documents/world.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { datetime, dictionary, invalid, text } from "../../api-frame/fields.ts";
import { linkWith } from "../../api-frame/lists.ts";
import { inProject, managementRow, type ProjectRequest, projectRoot } from "../../api-frame/row.ts";
import { conditionsOf, payloadOf } from "../endpoint/flags-answer.ts";
import { overridesFor, withOverrides } from "../engine/overrides.ts";
import { evaluateRuleset } from "../engine/ruleset.ts";
import type { Rulesets } from "../rulesets.ts";
import { type RequestedSubject, subjectOf } from "../subjects.ts";
import { activeDependents, flagsOf, updateFlag } from "./flag-changes.ts";
import { FeatureFlagShape, type FlagPatch, showFlag, statusOf } from "./flag-shapes.ts";
import { showLinkedFlag } from "./linked-flags.ts";

interface FlagActionParts {
  /** The live flags of a project, the last created first. */
  flags(project: number): readonly FeatureFlag[];
  /** The flag of the path. @throws SimError not_found */
  flagOf(request: ProjectRequest<unknown>): FeatureFlag;
  readonly rulesets: Rulesets;
}

const Activity = z
  .object({
    results: z.array(
      z.object({
        id: z.string(),
        user: z.object({ first_name: z.string(), email: z.string() }).nullable(),
        activity: z.enum(["created", "updated", "deleted", "restored"]),
        scope: z.literal("FeatureFlag"),
        item_id: z.string(),
        detail: z.object({
          id: z.null(),
          changes: z.array(
            z.object({
              type: z.literal("FeatureFlag"),
              action: z.enum(["created", "changed", "deleted"]),
              field: z.string(),
              before: z.json(),
              after: z.json(),
            }),
          ),
          merge: z.null(),
          trigger: z.null(),
          name: z.string(),
          short_id: z.null(),
          type: z.null(),
        }),
        created_at: z.string(),
      }),
    ),
    next: z.string().nullable(),
    previous: z.string().nullable(),
    total_count: z.int(),
  })
  .meta({ title: "FlagActivity" });
type Entry = z.infer<typeof Activity>["results"][number];

const activityLimit = 10;
/** Namespace of the ids of entries that no change wrote: that of RFC 4122 for OIDs. */
const createdEntries = "6ba7b812-9dad-11d1-80b4-00c04fd430c8";

/** How a flag was created, and its changes, newest first. */
function entriesOf(desk: ResourceDesk, flag: FeatureFlag): Entry[] {
  const entry = (
    fields: Pick<Entry, "id" | "activity" | "created_at">,
    user: number | null,
    name: string,
    changes: Entry["detail"]["changes"],
  ): Entry => ({
    ...fields,
    user: shownUser(desk, user),
    scope: "FeatureFlag",
    item_id: String(flag.id),
    detail: { id: null, changes, merge: null, trigger: null, name, short_id: null, type: null },
  });
  const id = uuidV5(createdEntries, `feature flag ${flag.id}`);
  const changes = (flag.history ?? []).flatMap((it) => it.changes);
  const first = changes.find(({ field }) => field === "key")?.before;
  const name = typeof first === "string" ? first : flag.key;
  const created = entry({ id, activity: "created", created_at: flag.created_at }, flag.created_by, name, []);
  const changed = (flag.history ?? []).map((it) =>
    entry(
      { id: it.id, activity: it.activity, created_at: it.at },
      it.user,
      it.key,
      it.changes.map(({ field, before, after }) => ({
        type: "FeatureFlag",
        action: before === null ? "created" : after === null ? "deleted" : "changed",
        field,
        before,
        after,
      })),
    ),
  );
  return [...changed.reverse(), created];
}

function shownUser(desk: ResourceDesk, id: number | null): Entry["user"] {
  const user = id === null ? undefined : desk.worlds.get("users", id);
  return user ? { first_name: user.first_name, email: user.email } : null;
}

const activityQuery = z.object({
  limit: z.int().min(1).optional().describe("Number of entries per page (default: 10)"),
  page: z.int().min(1).optional().describe("The page, from 1"),
});

/** A number of at least 1. @throws SimError invalid_input */
function countOf({ query }: Call, name: string, otherwise: number): number {
  const text = query.get(name);
  if (text === undefined || text === null) return otherwise;
  if (!/^[+-]?\d{1,9}$/.test(text.trim())) throw invalid("A valid integer is required.", name);
  if (Number(text) >= 1) return Number(text);
  throw invalid("Ensure this value is greater than or equal to 1.", name);
}

/** A page of activity. Upstream posthog/models/activity_logging/activity_page.py. */
function activityOf(desk: ResourceDesk, call: Call, flags: readonly FeatureFlag[]): z.infer<typeof Activity> {
  const limit = countOf(call, "limit", activityLimit);
  const page = countOf(call, "page", 1);
  const all = flags.flatMap((flag) => entriesOf(desk, flag));
  // stable: the changes of a flag stay in their order
  all.sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  const link = (to: number) => linkWith(call, { page: String(to), limit: String(limit) });
  return {
    results: all.slice((page - 1) * limit, page * limit),
    next: page * limit < all.length ? link(page + 1) : null,
    previous: page > 1 ? link(page - 1) : null,
    total_count: all.length,
  };
}

const Trial = z.object({
  distinct_id: text().optional(),
  person_id: text().optional(),
  timestamp: datetime().nullable().optional(),
  groups: dictionary().optional(),
});

const TrialAnswer = z
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

function usedProperties(flag: FeatureFlag, stored: JsonObject): JsonObject {
  const sets = flag.filters.groups ?? [];
  const keys = new Set(sets.flatMap((set) => (set.properties ?? []).map(({ key }) => key)));
  return Object.fromEntries(Object.entries(stored).filter(([key]) => keys.has(key)));
}

/** Questions about flags, and what is done to one. Upstream PostHog/posthog posthog/api/feature_flag.py. */
export function flagActionRows(desk: ResourceDesk, { flags, flagOf, rulesets }: FlagActionParts): Endpoint[] {
  const reads = inProject("feature_flag:read");
  const writes = inProject("feature_flag:write");
  const root = `${projectRoot}/feature_flags`;
  function decide(project: StoredProject, asked: RequestedSubject) {
    const overrides = overridesFor(desk.worlds, project.id, asked.distinctId);
    const ruleset = rulesets.overriddenRulesetOf(project, overrides);
    const subject = subjectOf(desk, project, asked);
    const isSelected = () => true;
    const results = withOverrides(evaluateRuleset(ruleset, subject, { isSelected }), overrides);
    return { ruleset, subject, results };
  }

  /** A change without a body; a flag that is so already is not written. */
  const switched = (name: string, doing: string, summary: string, change: Pick<FlagPatch, "active" | "archived">) =>
    managementRow(desk, {
      method: "POST",
      path: `${root}/:id/${name}`,
      summary,
      access: writes,
      reply: FeatureFlagShape,
      handle(request) {
        const flag = flagOf(request);
        if (flag.deleted) {
          throw invalid(`This feature flag has been deleted. Restore it before ${doing} it.`);
        }
        const isUnchanged =
          change.archived === undefined ? flag.active === change.active : (flag.archived === true) === change.archived;
        return showFlag(desk, isUnchanged ? flag : updateFlag(desk, flag, { ...request, body: () => change }, true));
      },
    });

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
      handle({ project, caller, call }) {
        const keys = call.query.getAll("flag_keys");
        const groups = parsedJson(call.query.get("groups") ?? "");
        const { results } = decide(project, {
          distinctId: caller.user.distinct_id,
          personProperties: {},
          groups: isObject(groups) ? groups : {},
          groupProperties: {},
        });
        const values = new Map(results.map((it) => [it.compiled.flag.id, it.decision.value]));
        const ofSurveys = surveyFlagIds(desk.worlds.current, project.id);
        return flags(project.id)
          .filter((it) => !ofSurveys.has(it.id) && (keys.length === 0 || keys.includes(it.key)))
          .map((flag) => ({ feature_flag: showLinkedFlag(flag), value: values.get(flag.id) ?? false }));
      },
    }),
    ...managementRow(desk, {
      method: "GET",
      path: `${root}/activity`,
      summary: "How flags were created and changed, newest first",
      access: inProject("activity_log:read"),
      query: activityQuery,
      reply: Activity,
      handle: ({ call, project }) => activityOf(desk, call, flagsOf(desk, project.id)),
    }),
    ...managementRow(desk, {
      method: "GET",
      path: `${root}/:id/activity`,
      summary: "How a flag was created and changed, newest first",
      access: inProject("activity_log:read"),
      query: activityQuery,
      reply: Activity,
      handle: (request) => activityOf(desk, request.call, [flagOf(request)]),
    }),
    ...managementRow(desk, {
      method: "GET",
      path: `${root}/:id/status`,
      summary: "Whether a flag can go, with the reason; here no flag is stale because it is not called",
      access: reads,
      reply: z
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
        .meta({ title: "FlagStatus" }),
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
    ...managementRow<"project", z.infer<typeof Trial>>(desk, {
      method: "POST",
      path: `${root}/:id/test_evaluation`,
      summary: "Evaluates a flag for a distinct id, with the result of each condition set",
      access: reads,
      body: Trial,
      reply: TrialAnswer,
      handle(request) {
        const flag = flagOf(request);
        const { distinct_id, person_id, timestamp, groups = {} } = request.body();
        if (!distinct_id && !person_id) throw invalid("Either distinct_id or person_id must be provided");
        if (distinct_id && person_id) throw invalid("Cannot provide both distinct_id and person_id");
        if (timestamp) throw invalid("phx-sim does not emulate evaluation at an earlier time", "timestamp");
        const { people } = desk;
        const { project } = request;
        const person = distinct_id
          ? people.personOf(project.id, distinct_id)
          : people.person(project.id, person_id ?? "");
        const [first] = person ? [...people.distinctIds(person)].sort(compareText) : [];
        const distinctId = distinct_id ?? first;
        if (distinctId === undefined) {
          throw new SimError("not_found", `Person not found for person_id: ${person_id}`);
        }
        const { ruleset, subject, results } = decide(project, {
          distinctId,
          personProperties: {},
          groups,
          groupProperties: {},
        });
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
      },
    }),
    ...switched("enable", "enabling", "Switches a flag on", { active: true }),
    ...switched("disable", "disabling", "Switches a flag off", { active: false }),
    ...switched("archive", "archiving", "Archives a flag, and switches it off", { active: false, archived: true }),
    ...switched("unarchive", "unarchiving", "Brings a flag back from the archive; it stays off", { archived: false }),
  ];
}
