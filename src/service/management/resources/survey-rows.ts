import { z } from "zod";
import { groupedBy } from "../../../kernel/base/grouped-by.ts";
import { isUuid } from "../../../kernel/base/ids.ts";
import { type Json, type JsonObject, objectsIn, own, textsIn } from "../../../kernel/base/json.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { liveResource, liveResources } from "../../../state/documents/resources.ts";
import { wireTime } from "../../../state/documents/time.ts";
import type { StoredResource } from "../../../state/documents/world.ts";
import type { StoredEvent } from "../../../state/journal/event.ts";
import { found, requireScope } from "../../api-frame/access.ts";
import { calmly } from "../../api-frame/calmly.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { invalid, isTrue, readWireTime } from "../../api-frame/fields.ts";
import { inProject, managementRow, type ProjectRequest, projectRoot } from "../../api-frame/row.ts";
import { changeResource, showResource } from "./kind-rows.ts";
import { textIn } from "./resource-fields.ts";
import { surveys } from "./surveys.ts";

/** What surveys collected, from captured events. Upstream PostHog/posthog products/surveys/backend/responses. */

const names = ["survey shown", "survey dismissed", "survey sent"] as const;
type EventName = (typeof names)[number];

interface Span {
  /** ms since the epoch; both are included. */
  readonly from: number;
  readonly to: number;
}

const propertyText = ({ properties }: StoredEvent, name: string): string => {
  const value = own(properties, name) ?? null;
  return value === null ? "" : stringOf(value);
};

/** A submission without an id is an event of its own. */
const submissionOf = (event: StoredEvent): string =>
  propertyText(event, "$survey_submission_id") || `event ${event.uuid ?? event.seq}`;

/** The events of a name about these surveys, the first to happen first. */
async function eventsOf(
  desk: ResourceDesk,
  project: number,
  event: string,
  { from, to }: Span,
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  const query = { project, event, after: from - 1, before: to + 1, order: "asc" } as const;
  for await (const it of calmly(desk.events.byTime(query))) events.push(it);
  return events;
}

/** The last event of each submission: those before it are partial answers. */
const latest = (events: readonly StoredEvent[]): StoredEvent[] => [
  ...new Map(events.map((it) => [`${propertyText(it, "$survey_id")} ${submissionOf(it)}`, it])).values(),
];

interface Counted {
  total_count: number;
  unique_persons: number;
  first_seen: string | null;
  last_seen: string | null;
  unique_persons_only_seen: number;
  total_count_only_seen: number;
}

const timeOf = (event: StoredEvent | undefined): string | null =>
  event ? wireTime(Date.parse(event.timestamp)) : null;

const personsOf = (events: readonly StoredEvent[]): Set<string> =>
  new Set(events.map((it) => it.person_id ?? it.distinct_id));

const counted = (events: readonly StoredEvent[]): Counted => ({
  total_count: events.length,
  unique_persons: personsOf(events).size,
  first_seen: timeOf(events[0]),
  last_seen: timeOf(events.at(-1)),
  unique_persons_only_seen: 0,
  total_count_only_seen: 0,
});

const percent = (part: number, whole: number): number => (whole === 0 ? 0 : Number(((part / whole) * 100).toFixed(2)));

/** Counts and rates of events, by their names. */
function statsOf(events: Readonly<Record<EventName, readonly StoredEvent[]>>) {
  const [shown, dismissed, sent] = names.map((name) => counted(events[name])) as [Counted, Counted, Counted];
  const senders = personsOf(events["survey sent"]);
  // who answered after all did not dismiss it
  dismissed.unique_persons -= [...personsOf(events["survey dismissed"])].filter((it) => senders.has(it)).length;
  shown.unique_persons_only_seen = Math.max(0, shown.unique_persons - dismissed.unique_persons - sent.unique_persons);
  shown.total_count_only_seen = Math.max(0, shown.total_count - dismissed.total_count - sent.total_count);
  return {
    stats: { "survey shown": shown, "survey dismissed": dismissed, "survey sent": sent },
    rates: {
      response_rate: percent(sent.total_count, shown.total_count),
      dismissal_rate: percent(dismissed.total_count, shown.total_count),
      unique_users_response_rate: percent(sent.unique_persons, shown.unique_persons),
      unique_users_dismissal_rate: percent(dismissed.unique_persons, shown.unique_persons),
    },
  };
}

async function collect(desk: ResourceDesk, project: number, span: Span, isMeant: (event: StoredEvent) => boolean) {
  const [shown, dismissed, sent] = await Promise.all(names.map((name) => eventsOf(desk, project, name, span)));
  // an answered survey that is closed early is dismissed, too: it counts as sent
  const isDismissed = (it: StoredEvent) => propertyText(it, "$survey_partially_completed") !== "true";
  return statsOf({
    "survey shown": (shown ?? []).filter(isMeant),
    "survey dismissed": (dismissed ?? []).filter((it) => isMeant(it) && isDismissed(it)),
    "survey sent": latest(sent ?? []).filter(isMeant),
  });
}

const dateText =
  "Invalid date format. Please use ISO 8601 format with timezone info (e.g. 2024-01-01T00:00:00Z or 2024-01-01T00:00:00+00:00)";

/** @throws SimError invalid_input */
function timeIn({ call }: ProjectRequest<unknown>, name: string): number | undefined {
  const value = call.query.get(name);
  if (!value) return undefined;
  const time = readWireTime(value.replace(/ (\d\d:\d\d)$/, "+$1"));
  if (time === undefined) throw invalid(dateText);
  return Date.parse(time);
}

/** @throws SimError invalid_input */
function spanIn(request: ProjectRequest<unknown>, { start_date, end_date, created_at }: JsonObject = {}): Span {
  const from = timeIn(request, "date_from");
  const to = timeIn(request, "date_to");
  if (from !== undefined && to !== undefined && from > to) throw invalid("date_from must be before date_to");
  const start = start_date ?? created_at;
  const bounds = [from, typeof start === "string" ? Date.parse(start) : undefined].filter((it) => it !== undefined);
  const ends = [to, typeof end_date === "string" ? Date.parse(end_date) : undefined].filter((it) => it !== undefined);
  return { from: Math.max(-8.64e15, ...bounds), to: Math.min(8.64e15, ...ends) };
}

const archivedIn = ({ fields }: StoredResource): string[] => textsIn(fields.archived_responses);

const withoutArchived = ({ call }: ProjectRequest<unknown>, surveys: readonly StoredResource[]) => {
  const archived = new Set(isTrue(call.query.get("exclude_archived") ?? "") ? surveys.flatMap(archivedIn) : []);
  return (event: StoredEvent): boolean => !archived.has(event.uuid ?? "");
};

/** An answer: by the question's id, else by its position. */
function answerIn({ properties }: StoredEvent, id: string, index: number): Json {
  const byId = own(properties, `$survey_response_${id}`) ?? null;
  const answer = byId ?? own(properties, index === 0 ? "$survey_response" : `$survey_response_${index}`) ?? null;
  return answer === "" ? null : answer;
}

const extras = {
  device_type: "$device_type",
  browser: "$browser",
  os: "$os",
  geoip_country_code: "$geoip_country_code",
  geoip_country_name: "$geoip_country_name",
  geoip_city_name: "$geoip_city_name",
  current_url: "$current_url",
  iteration: "$survey_iteration",
} as const;

/** A submission: for each question the last answer. */
function showResponse(events: readonly StoredEvent[], questions: readonly JsonObject[]): JsonObject {
  const last = events.at(-1);
  const answers = questions.flatMap((question, i): JsonObject[] => {
    const id = textIn(question, "id");
    const answer = events.map((it) => answerIn(it, id, i)).findLast((it) => it !== null) ?? null;
    if (answer === null) return [];
    const [text, type] = [textIn(question, "question"), textIn(question, "type") || "open"];
    return [{ question_id: id, question_index: i, question_text: text, question_type: type, answer }];
  });
  const property = (name: string) => (last && propertyText(last, name)) || null;
  return {
    uuid: last?.uuid ?? "",
    distinct_id: last?.distinct_id ?? "",
    session_id: property("$session_id"),
    submitted_at: timeOf(last),
    answers,
    extra: Object.fromEntries(Object.entries(extras).map(([name, it]) => [name, property(it)])),
  };
}

/** @throws SimError invalid_input */
function numberIn({ call }: ProjectRequest<unknown>, name: string, least: number, most: number): number | undefined {
  const text = call.query.get(name);
  if (!text) return undefined;
  const number = Number(text);
  if (Number.isNaN(number)) throw invalid("A valid number is required.", name);
  if (number < least) throw invalid(`Ensure this value is greater than or equal to ${least}.`, name, "min_value");
  if (number > most) throw invalid(`Ensure this value is less than or equal to ${most}.`, name, "max_value");
  return number;
}

/** @throws SimError invalid_input */
async function listResponses(desk: ResourceDesk, request: ProjectRequest<unknown>, survey: StoredResource) {
  const { call, project } = request;
  const wanted = call.query.get("question_id");
  const [lowest, highest] = ["score_gte", "score_lte"].map((it) => numberIn(request, it, -1e9, 1e9));
  if ((lowest !== undefined || highest !== undefined) && !wanted) {
    throw invalid("score_lte and score_gte require question_id to be specified");
  }
  const limit = numberIn(request, "limit", 1, 500) ?? 100;
  const offset = numberIn(request, "offset", 0, 1e9) ?? 0;
  const { created_at, start_date, end_date } = survey.fields;
  const since = timeIn(request, "since") ?? Date.parse(stringOf(start_date ?? created_at));
  const until = timeIn(request, "until") ?? (typeof end_date === "string" ? Date.parse(end_date) : desk.clock.now());
  const sent = (await eventsOf(desk, project.id, "survey sent", { from: since, to: until })).filter(
    (it) => propertyText(it, "$survey_id") === survey.key,
  );
  const questions = objectsIn(survey.fields.questions).filter((it) => !wanted || it.id === wanted);
  const isKept = withoutArchived(request, [survey]);
  const fits = ({ answers }: JsonObject): boolean => {
    if (!wanted) return true;
    const [answer] = objectsIn(answers);
    const score = Number(answer?.answer);
    return (
      answer !== undefined && (lowest === undefined || score >= lowest) && (highest === undefined || score <= highest)
    );
  };
  const rows = [...groupedBy(sent, submissionOf).values()]
    .filter((events) => events.slice(-1).every(isKept))
    .map((events) => showResponse(events, questions))
    .filter(fits)
    .sort((a, b) => (stringOf(a.submitted_at) < stringOf(b.submitted_at) ? 1 : -1));
  return { results: rows.slice(offset, offset + limit), has_more: rows.length > offset + limit, limit, offset };
}

const path = `${projectRoot}/surveys`;

const Stats = z.object({ stats: z.record(z.string(), z.json()), rates: z.record(z.string(), z.number()) });

const Responses = z.object({
  results: z.array(z.looseObject({ uuid: z.string(), answers: z.array(z.looseObject({})) })),
  has_more: z.boolean(),
  limit: z.int(),
  offset: z.int(),
});

const when = (words: string) => z.string().describe(`Only events ${words} this time`);
const span = { date_from: when("at or after"), date_to: when("at or before") };
const exclude_archived = z.boolean().describe("Leaves archived responses out");

/** Endpoints of surveys apart from their documents. */
export function surveyRows(desk: ResourceDesk): Endpoint[] {
  const surveyOf = ({ project, param }: ProjectRequest<unknown>): StoredResource =>
    found(liveResource(desk.worlds, "surveys", project.id, param("id").toLowerCase()));

  const put = (survey: StoredResource, fields: JsonObject) =>
    desk.worlds.change((draft) => draft.put("resources", { ...survey, fields: { ...survey.fields, ...fields } }));

  const archiving = (name: "archive" | "unarchive", change: (all: string[], uuid: string) => string[]) =>
    managementRow(desk, {
      method: "POST",
      path: `${path}/:id/responses/:response_uuid/${name}`,
      summary: `${name === "archive" ? "Archives" : "Restores"} a response of a survey`,
      access: inProject("survey:write"),
      reply: z.object({}),
      handle(request) {
        const survey = surveyOf(request);
        const uuid = request.param("response_uuid").toLowerCase();
        if (!isUuid(uuid)) throw invalid("Invalid UUID format");
        put(survey, { archived_responses: change(archivedIn(survey), uuid) });
        return {};
      },
    });

  /** @throws SimError invalid_input with this reason */
  const switching = (name: "launch" | "stop", field: "start_date" | "end_date", ended: string) =>
    managementRow<"project", JsonObject>(desk, {
      method: "POST",
      path: `${path}/:id/${name}`,
      summary: name === "launch" ? "Starts a survey now" : "Ends a survey now",
      access: inProject("survey:write"),
      reply: z.looseObject({ id: z.string() }),
      handle(request) {
        const survey = surveyOf(request);
        const { fields } = survey;
        const isPast = (it: Json | undefined) => typeof it === "string" && Date.parse(it) <= desk.clock.now();
        if (fields.archived === true) throw invalid(`Cannot ${name} an archived survey. Unarchive it first${ended}.`);
        if (name === "launch" && isPast(fields.end_date)) {
          throw invalid("Cannot launch a survey with end_date in the past. Extend the end_date first.");
        }
        if (isPast(fields[field])) return showResource(desk, surveys, survey);
        const change = { [field]: wireTime(desk.clock.now()) };
        return showResource(desk, surveys, changeResource(desk, surveys, request, survey, change));
      },
    });

  return [
    ...switching("launch", "start_date", ""),
    ...switching("stop", "end_date", " if needed"),
    ...managementRow(desk, {
      method: "GET",
      path: `${path}/responses_count`,
      summary: "How many responses each survey has",
      access: inProject("survey:read"),
      query: z.object({ exclude_archived, survey_ids: z.string().describe("Only these, with commas between them") }),
      reply: z.record(z.string(), z.int()),
      async handle(request) {
        const { call, project } = request;
        const all = liveResources(desk.worlds.current, "surveys", project.id);
        const starts = all.flatMap(({ fields }) =>
          typeof fields.start_date === "string" ? [Date.parse(fields.start_date)] : [],
        );
        if (starts.length === 0) return {};
        const only =
          call.query
            .get("survey_ids")
            ?.split(",")
            .map((it) => it.trim())
            .filter(Boolean) ?? [];
        const isKept = withoutArchived(request, all);
        const sent = await eventsOf(desk, project.id, "survey sent", { from: Math.min(...starts), to: 8.64e15 });
        const counts: Record<string, number> = {};
        for (const it of latest(sent).filter(isKept)) {
          const id = propertyText(it, "$survey_id");
          if (only.length === 0 || only.includes(id)) counts[id] = (counts[id] ?? 0) + 1;
        }
        return counts;
      },
    }),
    ...managementRow(desk, {
      method: "GET",
      path: `${path}/stats`,
      summary: "Counts and rates of all surveys that are not archived",
      access: inProject("survey:read"),
      query: z.object(span),
      reply: Stats,
      handle(request) {
        const { project } = request;
        const all = liveResources(desk.worlds.current, "surveys", project.id);
        const ids = new Set(all.filter((it) => it.fields.archived !== true).map((it) => stringOf(it.key)));
        const window = spanIn(request);
        if (ids.size === 0) {
          const empty: Readonly<Record<EventName, readonly StoredEvent[]>> = {
            "survey shown": [],
            "survey dismissed": [],
            "survey sent": [],
          };
          return { ...statsOf(empty), stats: {} };
        }
        return collect(desk, project.id, window, (it) => ids.has(propertyText(it, "$survey_id")));
      },
    }),
    ...managementRow(desk, {
      method: "GET",
      path: `${path}/:id/stats`,
      summary: "Counts and rates of a survey",
      access: inProject("survey:read"),
      query: z.object({ ...span, exclude_archived }),
      reply: Stats.extend({
        survey_id: z.string(),
        start_date: z.string().nullable(),
        end_date: z.string().nullable(),
      }),
      async handle(request) {
        const survey = surveyOf(request);
        const isKept = withoutArchived(request, [survey]);
        const isMeant = (it: StoredEvent) => propertyText(it, "$survey_id") === survey.key && isKept(it);
        const { start_date = null, end_date = null } = survey.fields;
        const stats = await collect(desk, request.project.id, spanIn(request, survey.fields), isMeant);
        return { ...stats, survey_id: survey.key, start_date, end_date };
      },
    }),
    ...managementRow(desk, {
      method: "GET",
      path: `${path}/:id/responses`,
      summary: "Responses of a survey with the texts of its questions, the last first",
      access: inProject("survey:read"),
      query: z.object({
        since: when("at or after"),
        until: when("at or before"),
        question_id: z.string().describe("Only responses that answer this question"),
        score_gte: z.number().describe("Only answers of at least this number"),
        score_lte: z.number().describe("Only answers of at most this number"),
        exclude_archived,
        limit: z.int().describe("Number of responses, 1 to 500 (default: 100)"),
        offset: z.int().describe("Index of the first response"),
      }),
      reply: Responses,
      handle(request) {
        requireScope(request.caller, "query:read");
        return listResponses(desk, request, surveyOf(request));
      },
    }),
    ...managementRow(desk, {
      method: "GET",
      path: `${path}/:id/archived-response-uuids`,
      summary: "Uuids of the archived responses of a survey",
      access: inProject("survey:read"),
      reply: z.array(z.string()),
      handle: (request) => archivedIn(surveyOf(request)),
    }),
    ...archiving("archive", (all, uuid) => [...new Set([...all, uuid])]),
    ...archiving("unarchive", (all, uuid) => all.filter((it) => it !== uuid)),
  ];
}
