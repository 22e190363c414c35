import { z } from "zod";
import { isObject, type Json, type JsonObject, objectsIn, textIn } from "../../../kernel/base/json.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import { boolean, choice, datetime, integer, json, text } from "../../../state/documents/lenient-fields.ts";
import { liveResource } from "../../../state/documents/resources.ts";
import { wireTime } from "../../../state/documents/time.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import {
  changeLinkedFlag,
  createLinkedFlag,
  flagWithId,
  randomDigits,
  requireFlagScope,
  showLinkedFlag,
} from "../../flags/management/linked-flags.ts";
import { resourceKind, type Writing } from "./kind.ts";
import { fieldFilter, searchIn, withIds } from "./resource-fields.ts";
import { checkSurvey, checkSurveyFields, surveyTypes } from "./survey-checks.ts";

/** Upstream PostHog/posthog products/surveys/backend/api/survey.py, models.py. */

const day = 86_400_000;

/** The starts of a recurring survey's iterations, and the current one. */
function withIterations(fields: JsonObject): JsonObject {
  const { iteration_count: count, iteration_frequency_days: days, start_date: start } = fields;
  if (!count || !days) {
    const none = { iteration_start_dates: [], current_iteration: null, current_iteration_start_date: null };
    return { ...fields, ...none };
  }
  if (typeof start !== "string") return { ...fields, iteration_start_dates: null };
  const dates = Array.from({ length: Number(count) }, (_, i) => wireTime(Date.parse(start) + i * Number(days) * day));
  const { current_iteration: current, current_iteration_start_date: since = null } = fields;
  return {
    ...fields,
    iteration_start_dates: dates,
    current_iteration: current || 1,
    current_iteration_start_date: current ? since : start,
  };
}

const intervalDays: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30 };

/** The service keeps this plan as text, in Python's spelling of JSON. */
function withSampling(fields: JsonObject): JsonObject {
  const { response_sampling_interval_type: type, response_sampling_limit: limit } = fields;
  const { response_sampling_start_date: start, response_sampling_interval: interval } = fields;
  const days = Number(interval) * (intervalDays[stringOf(type)] ?? 0);
  if (!limit || typeof start !== "string" || !(days > 0)) {
    return { ...fields, response_sampling_daily_limits: null };
  }
  const most = Number(limit);
  const rows = Array.from({ length: days }, (_, i) => {
    const date = wireTime(Date.parse(start) + i * day).replace("Z", "+00:00");
    const responses = Math.floor(most / days) * (i + 1) + Math.min(i + 1, most % days);
    const percent = i === days - 1 ? 100 : Number(((100 / days) * (i + 1)).toFixed(2));
    const rollout = Number.isInteger(percent) ? `${percent}.0` : stringOf(percent);
    return `{"date": "${date}", "daily_response_limit": ${responses}, "rollout_percentage": ${rollout}}`;
  });
  return { ...fields, response_sampling_daily_limits: `[${rows.join(", ")}]` };
}

const isRunning = ({ start_date: start, end_date: end, archived }: JsonObject): boolean =>
  Boolean(start) && !end && archived !== true;

const notSet = (key: string) => ({ key, value: "is_not_set", operator: "is_not_set", type: "person" });

/** Persons who neither answered nor dismissed the survey, nor saw one in its waiting period. */
function interactionFilters(key: string, fields: JsonObject): JsonObject {
  const { iteration_count: count, current_iteration: current, conditions } = fields;
  const name = Number(count) > 0 ? `${key}/${current || 1}` : key;
  const base = [notSet(`$survey_dismissed/${name}`), notSet(`$survey_responded/${name}`)];
  const wait = isObject(conditions) ? Number(conditions.seenSurveyWaitPeriodInDays ?? 0) : 0;
  const seen = "$last_seen_survey_date";
  const before = { key: seen, value: `${Math.trunc(wait)}d`, operator: "is_date_before", type: "person" };
  const sets =
    wait > 0
      ? [
          [...base, notSet(seen)],
          [...base, before],
        ]
      : [base];
  return { groups: sets.map((properties) => ({ variant: "", rollout_percentage: 100, properties })) };
}

const newFlag = (writing: Writing, fields: JsonObject, suffix: string, filters: JsonObject, active: boolean) =>
  createLinkedFlag(writing, {
    key: `survey-targeting-${randomDigits()}${suffix}`,
    name: `Targeting flag for survey ${textIn(fields, "name")}`,
    filters,
    active,
  });

/** The flag that the survey's author targets with: an existing one, or one made of the given filters. */
function targetingFlag(fields: JsonObject, writing: Writing): FeatureFlag | undefined {
  const { body, desk, draft, before, request } = writing;
  const { targeting_flag_filters: filters, remove_targeting_flag: isRemoved } = body;
  let flag = flagWithId(desk, request.project?.id ?? null, fields.targeting_flag_id);
  if (body.targeting_flag_id || isObject(filters) || (isRemoved === true && flag)) requireFlagScope(writing);
  if (isRemoved === true && flag && before) {
    draft.remove("feature_flags", flag.id);
    flag = undefined;
  }
  if (isObject(filters)) {
    flag = flag
      ? changeLinkedFlag(writing, flag, { filters: { ...(flag.filters as JsonObject), ...filters } })
      : newFlag(writing, fields, "", filters, Boolean(before?.fields.start_date));
  }
  const active = isRunning(fields);
  return flag && before && flag.active !== active ? changeLinkedFlag(writing, flag, { active }) : flag;
}

const samplingFilters = { groups: [{ variant: "", rollout_percentage: 100, properties: [] }] };

/** Ids of the survey's flags; those that it needs are created. */
function flagIds(key: string, fields: JsonObject, writing: Writing): JsonObject {
  const { desk, request } = writing;
  const project = request.project?.id ?? null;
  const targeting = targetingFlag(fields, writing);
  const active = isRunning(fields);
  const filters = interactionFilters(key, fields);
  const known = flagWithId(desk, project, fields.internal_targeting_flag_id);
  const internal = known
    ? changeLinkedFlag(writing, known, { filters: { ...(known.filters as JsonObject), ...filters }, active })
    : newFlag(writing, fields, "-custom", filters, active);
  const sampling = flagWithId(desk, project, fields.internal_response_sampling_flag_id);
  const needsSampling = fields.response_sampling_daily_limits !== null && !sampling;
  const isStarted = Boolean(fields.start_date);
  return {
    targeting_flag_id: targeting?.id ?? null,
    internal_targeting_flag_id: internal.id,
    internal_response_sampling_flag_id: needsSampling
      ? newFlag(writing, fields, "-sampling", samplingFilters, isStarted).id
      : (sampling?.id ?? null),
  };
}

/** A recurring survey that is opened again after its last iteration starts again now. */
function resumed(fields: JsonObject, { before, desk, now }: Writing): JsonObject {
  const { iteration_start_dates: dates, iteration_frequency_days: days } = fields;
  const last = Array.isArray(dates) ? dates.at(-1) : undefined;
  const isResumed = before?.fields.end_date && !fields.end_date && typeof last === "string";
  if (!isResumed || Date.parse(last) + Number(days) * day > desk.clock.now()) return fields;
  return withIterations({ ...fields, start_date: now, current_iteration: null });
}

function prepare(given: JsonObject, writing: Writing): JsonObject {
  const { body, desk, key } = writing;
  checkSurveyFields(body);
  checkSurvey(given, writing);
  const { targeting_flag_filters: _filters, remove_targeting_flag: _remove, ...own } = given;
  const questions = Array.isArray(own.questions)
    ? withIds(own.questions, () => desk.ids.uuid())
    : (own.questions ?? null);
  const fields = resumed(withSampling(withIterations({ ...own, questions })), writing);
  return { ...fields, ...flagIds(stringOf(key), fields, writing) };
}

/** Conditions with the actions that they refer to, as the service shows them. */
function showConditions(conditions: Json | undefined, project: number, desk: ResourceDesk): Json {
  if (!isObject(conditions) || !isObject(conditions.actions)) return conditions ?? null;
  const values = objectsIn(conditions.actions.values).flatMap(({ id }) => {
    const action = liveResource(desk.worlds, "actions", project, Number(id));
    return action ? [{ ...action.fields, id: action.key }] : [];
  });
  return values.length === 0 ? conditions : { ...conditions, actions: { values } };
}

const count = () => integer({ min: 0 }).nullable();
/** The flags of a survey; all but the last are shown. */
const flagNames = ["linked_flag", "targeting_flag", "internal_targeting_flag", "internal_response_sampling_flag"];
const linked = { show: z.looseObject({}).nullable() };

export const surveys = resourceKind({
  kind: "surveys",
  noun: "survey",
  isOnlyStored: false,
  of: "project",
  scope: "survey",
  deletion: "hard",
  fields: {
    name: { write: text({ max: 400 }), required: true },
    description: { write: text({ blank: true }), blank: "" },
    type: { write: choice(surveyTypes), required: true, blank: "popover" },
    schedule: { write: text().nullable(), blank: "once" },
    linked_flag_id: { write: integer().nullable(), blank: null },
    linked_insight_id: { write: integer().nullable(), blank: null },
    targeting_flag_id: { write: integer(), blank: null, show: false },
    targeting_flag_filters: { write: json(), show: false },
    remove_targeting_flag: { write: boolean().nullable(), show: false },
    internal_targeting_flag_id: { blank: null, show: false },
    internal_response_sampling_flag_id: { blank: null, show: false },
    questions: { write: json(), blank: null },
    conditions: { write: json(), blank: null },
    appearance: { write: json(), blank: null },
    start_date: { write: datetime().nullable(), blank: null },
    end_date: { write: datetime().nullable(), blank: null },
    archived: { write: boolean(), blank: false },
    responses_limit: { write: count(), blank: null },
    iteration_count: { write: integer({ min: 0, max: 500 }).nullable(), blank: null },
    iteration_frequency_days: { write: count(), blank: null },
    response_sampling_start_date: { write: datetime().nullable(), blank: null },
    response_sampling_interval_type: { write: choice(["day", "week", "month"]).nullable(), blank: "week" },
    response_sampling_interval: { write: integer().nullable(), blank: null },
    response_sampling_limit: { write: count(), blank: null },
    response_sampling_daily_limits: { write: json(), blank: null },
    enable_partial_responses: { write: boolean().nullable(), blank: false },
    enable_iframe_embedding: { write: boolean().nullable(), blank: false },
    base_language: { write: text({ max: 20, blank: true }), blank: "en" },
    translations: { write: json(), blank: null },
    form_content: { write: json(), blank: null },
    _create_in_folder: { write: text({ blank: true }), show: false },
    linked_flag: linked,
    targeting_flag: linked,
    internal_targeting_flag: linked,
    feature_flag_keys: { show: z.array(z.object({ key: z.string(), value: z.string().nullable() })) },
    iteration_start_dates: { blank: [], show: z.array(z.string()).nullable() },
    current_iteration: { blank: null, show: z.int().nullable() },
    current_iteration_start_date: { blank: null, show: z.string().nullable() },
    user_access_level: { show: z.string() },
  },
  stamps: ["created_at", "created_by"],
  filters: [
    fieldFilter("archived", z.boolean().describe("Only archived, or other ones")),
    fieldFilter("type", z.string().describe("popover, widget, external_survey or api")),
    {
      name: "ids",
      shape: z.string().describe("Only these, with commas between them"),
      test(values) {
        const ids = new Set(values.flatMap((it) => it.split(",")));
        return ({ key }) => ids.has(stringOf(key));
      },
    },
    searchIn("name", "description"),
  ],
  prepare,
  beforeRemoval(document, changing) {
    const { desk, draft } = changing;
    const isTargeted = flagWithId(desk, document.project, document.fields.targeting_flag_id) !== undefined;
    if (isTargeted) requireFlagScope(changing);
    for (const name of ["targeting_flag_id", "internal_targeting_flag_id"]) {
      const flag = flagWithId(desk, document.project, document.fields[name]);
      if (flag) draft.remove("feature_flags", flag.id);
    }
  },
  show(fields, document, desk) {
    const { project } = document;
    const flags = flagNames.map((name) => [name, flagWithId(desk, project, fields[`${name}_id`])] as const);
    return {
      ...Object.fromEntries(flags.slice(0, 3).map(([name, flag]) => [name, showLinkedFlag(flag)])),
      conditions: showConditions(fields.conditions, project ?? 0, desk),
      feature_flag_keys: flags.map(([name, flag]) => ({ key: `${name}_key`, value: flag?.key ?? null })),
      user_access_level: "editor",
    };
  },
});
