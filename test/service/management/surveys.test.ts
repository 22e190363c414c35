import { describe, expect, test } from "vitest";
import { blankFeatureFlag } from "../../../src/state/documents/blank.ts";
import { manage } from "./manage.ts";
import { startedAt, twoOrganizations } from "./world.ts";

const root = "/api/projects/1/surveys";
const flags = "/api/projects/1/feature_flags";

/** Flag 1 has variants a and b; key phx_survey may not write flags. */
function sim() {
  const world = twoOrganizations();
  const filters = {
    groups: [],
    multivariate: { variants: ["a", "b"].map((key) => ({ key, rollout_percentage: 50 })) },
  };
  world.feature_flags = [
    blankFeatureFlag({ id: 1, project: 1, key: "linked", filters }, startedAt),
    blankFeatureFlag({ id: 2, project: 2, key: "foreign" }, startedAt),
  ];
  const [key] = world.personal_api_keys;
  if (key) world.personal_api_keys.push({ ...key, id: "s", key: "phx_survey", scopes: ["survey:write"] });
  return manage({ world });
}

const question = { type: "open", question: "How was it?" };
const survey = { name: "NPS", type: "popover", questions: [question] };
const email = { key: "email", type: "person", value: "@a.test", operator: "icontains" };
const targeting = { groups: [{ properties: [email], rollout_percentage: 100 }] };

test("a survey has a flag for persons who have not answered it", async () => {
  const it = sim();
  const { status, json } = await it.post(`${root}/`, { ...survey, linked_flag_id: 1, description: "Ours" });
  expect(status).toBe(201);
  expect(json).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: "NPS",
    description: "Ours",
    type: "popover",
    schedule: "once",
    questions: [{ ...question, id: expect.stringMatching(/^[0-9a-f-]{36}$/) }],
    conditions: null,
    appearance: null,
    start_date: null,
    end_date: null,
    archived: false,
    linked_flag: { id: 1, key: "linked", team_id: 1 },
    linked_flag_id: 1,
    targeting_flag: null,
    created_by: { id: 1 },
    iteration_start_dates: [],
    enable_partial_responses: false,
    base_language: "en",
    internal_targeting_flag: {
      key: expect.stringMatching(/^survey-targeting-[0-9a-f]{10}-custom$/),
      name: "Targeting flag for survey NPS",
      active: false,
      filters: {
        groups: [
          {
            rollout_percentage: 100,
            properties: [
              { key: `$survey_dismissed/${json.id}`, operator: "is_not_set", type: "person" },
              { key: `$survey_responded/${json.id}`, operator: "is_not_set", type: "person" },
            ],
          },
        ],
      },
    },
  });
  expect(json).not.toHaveProperty("targeting_flag_filters");
  const listed = await it.get(flags);
  expect(listed.json.results.map((one: { key: string }) => one.key)).toEqual(["linked"]);
  expect(listed.json.results[0].surveys).toMatchObject([{ id: json.id, name: "NPS" }]);
});

describe("targeting flags", () => {
  test("are made of filters, follow the survey's dates, and are deleted with it", async () => {
    const it = sim();
    const { json } = await it.post(root, { ...survey, targeting_flag_filters: targeting });
    const flag = () => it.worlds.get("feature_flags", json.targeting_flag.id);
    expect(json.targeting_flag).toMatchObject({ active: false, filters: targeting });
    expect(json.targeting_flag.key).toMatch(/^survey-targeting-[0-9a-f]{10}$/);
    const launched = await it.post(`${root}/${json.id}/launch/`);
    expect([launched.status, launched.json.start_date]).toEqual([200, "2026-03-04T05:06:07.089000Z"]);
    expect(launched.json.internal_targeting_flag.active).toBe(true);
    expect(flag()?.active).toBe(true);
    const groups = [{ properties: [email], rollout_percentage: 10 }];
    await it.patch(`${root}/${json.id}`, { targeting_flag_filters: { groups } });
    expect(flag()?.filters.groups).toEqual(groups);
    await it.post(`${root}/${json.id}/stop`);
    expect(flag()?.active).toBe(false);
    const removed = await it.patch(`${root}/${json.id}`, { remove_targeting_flag: true });
    expect([removed.json.targeting_flag, flag()]).toEqual([null, undefined]);
    expect((await it.delete(`${root}/${json.id}`)).status).toBe(204);
    expect(it.worlds.current.feature_flags.map(({ key }) => key)).toEqual(["linked", "foreign"]);
  });

  test("need the scope of flags", async () => {
    const it = sim();
    const key = "phx_survey";
    expect((await it.post(root, survey, { key })).status).toBe(201);
    const more = { name: "Other", type: "api", targeting_flag_filters: targeting };
    const { status, json } = await it.post(root, more, { key });
    expect([status, json.detail]).toEqual([403, "API key missing required scope 'feature_flag:write'"]);
    expect(it.worlds.current.resources).toHaveLength(1);
  });

  test("wait as long as the survey's conditions ask for, in each iteration", async () => {
    const { json } = await sim().post(root, {
      ...survey,
      conditions: { seenSurveyWaitPeriodInDays: 7 },
      iteration_count: 2,
      iteration_frequency_days: 10,
      start_date: "2026-03-01T00:00:00Z",
    });
    expect(json).toMatchObject({
      iteration_start_dates: ["2026-03-01T00:00:00Z", "2026-03-11T00:00:00Z"],
      current_iteration: 1,
      current_iteration_start_date: "2026-03-01T00:00:00Z",
    });
    const { groups } = json.internal_targeting_flag.filters;
    expect(groups.map((set: { properties: object[] }) => set.properties.at(-1))).toMatchObject([
      { key: "$last_seen_survey_date", operator: "is_not_set" },
      { key: "$last_seen_survey_date", operator: "is_date_before", value: "7d" },
    ]);
    expect(groups[0].properties[0].key).toBe(`$survey_dismissed/${json.id}/1`);
  });
});

test("a limit of responses is spread over its days", async () => {
  const { json } = await sim().post(root, {
    ...survey,
    response_sampling_start_date: "2026-03-05T00:00:00Z",
    response_sampling_interval_type: "day",
    response_sampling_interval: 3,
    response_sampling_limit: 10,
  });
  expect(JSON.parse(json.response_sampling_daily_limits)).toEqual([
    { date: "2026-03-05T00:00:00+00:00", daily_response_limit: 4, rollout_percentage: 33.33 },
    { date: "2026-03-06T00:00:00+00:00", daily_response_limit: 7, rollout_percentage: 66.67 },
    { date: "2026-03-07T00:00:00+00:00", daily_response_limit: 10, rollout_percentage: 100 },
  ]);
  expect(json.feature_flag_keys[3]).toEqual({
    key: "internal_response_sampling_flag_key",
    value: expect.stringMatching(/-sampling$/),
  });
});

test("surveys are filtered, and show the actions of their conditions", async () => {
  const it = sim();
  await it.post("/api/projects/1/actions", { name: "Paid" });
  const conditions = { actions: { values: [{ id: 1, name: "?" }, { id: 9 }] } };
  const { json } = await it.post(root, { ...survey, conditions });
  expect(json.conditions.actions.values).toMatchObject([{ id: 1, name: "Paid", steps: [] }]);
  await it.post(root, { name: "Old", type: "api", archived: true });
  const found = async (query: string) =>
    (await it.get(`${root}?${query}`)).json.results.map((one: { name: string }) => one.name);
  expect(await found("")).toEqual(expect.arrayContaining(["NPS", "Old"]));
  expect(await found("archived=true")).toEqual(["Old"]);
  expect(await found("type=popover")).toEqual(["NPS"]);
  expect(await found(`ids=${json.id},nothing`)).toEqual(["NPS"]);
  expect(await found("search=ol")).toEqual(["Old"]);
});

describe("the service refuses", () => {
  const desk = sim();
  const ask = (body: object) => desk.post(root, { ...survey, name: "New", ...body });

  test.each<[object, string, string | null]>([
    [{ type: "mail" }, '"mail" is not a valid choice.', "type"],
    [{ schedule: "daily" }, "Schedule must be one of: once, recurring, always", "schedule"],
    [{ questions: {} }, "Questions must be a list of objects", "questions"],
    [{ questions: ["x"] }, "Questions must be a list of objects", "questions"],
    [{ questions: [{ type: "open" }] }, "Question text is required", "questions"],
    [{ questions: [{ question: 5 }] }, "Question text must be a string", "questions"],
    [{ questions: [{ ...question, buttonText: 1 }] }, "Question buttonText must be a string", "questions"],
    [{ questions: [{ ...question, choices: "a" }] }, "Question choices must be a list of strings", "questions"],
    [{ questions: [{ ...question, choices: [" "] }] }, "Question choices cannot be empty", "questions"],
    [
      { questions: [{ ...question, link: "http://a.test" }] },
      "Link must be a URL with one of these schemes: [https, mailto]",
      "questions",
    ],
    [
      { questions: [{ ...question, link: "mailto:nobody" }] },
      "Invalid mailto link. Please enter a valid mailto link (e.g., mailto:example@domain.com).",
      "questions",
    ],
    [
      { questions: [{ ...question, validation: [{ type: "min_length", value: 0 }] }] },
      "Validation rule value for min_length must be a positive integer",
      "questions",
    ],
    [
      {
        questions: [
          {
            ...question,
            validation: [
              { type: "min_length", value: 3 },
              { type: "max_length", value: 2 },
            ],
          },
        ],
      },
      "Minimum length cannot be greater than maximum length",
      "questions",
    ],
    [{ appearance: [] }, "Appearance must be an object", "appearance"],
    [
      { appearance: { surveyPopupDelaySeconds: -1 } },
      "Survey popup delay seconds must be a positive integer",
      "appearance",
    ],
    [{ conditions: "x" }, "Conditions must be an object", "conditions"],
    [{ linked_flag_id: 2 }, "Feature Flag with this ID does not exist", null],
    [{ targeting_flag_id: 9 }, "Targeting Feature Flag with this ID does not exist", null],
    [{ linked_insight_id: 9 }, "Insight with this ID does not exist", null],
    [
      { linked_flag_id: 1, conditions: { linkedFlagVariant: "c" } },
      "Feature flag variant 'c' does not exist. Available variants: a, b",
      null,
    ],
    [
      { conditions: { linkedFlagVariant: "a" } },
      "linkedFlagVariant can only be used when a linked_flag_id is specified",
      null,
    ],
    [
      { targeting_flag_filters: { groups: [{ properties: [], rollout_percentage: 100 }] } },
      "Invalid operation: User targeting rolls out to everyone. If you want to roll out to everyone, delete this targeting",
      null,
    ],
    [
      { response_sampling_start_date: "2026-03-03T00:00:00Z" },
      "Response sampling start date must be today or a future date in UTC.",
      "response_sampling_start_date",
    ],
    [
      { appearance: { shuffleQuestions: true }, questions: [{ ...question, branching: { type: "end" } }] },
      "Question shuffling and question branching cannot be used together. Please disable one of these features.",
      null,
    ],
    [
      { type: "external_survey", conditions: { url: "x", events: { values: [{ name: "a" }] } } },
      "The following condition fields are not allowed for external surveys: url, events",
      "conditions",
    ],
    [{ iteration_count: 501 }, "Ensure this value is less than or equal to 500.", "iteration_count"],
  ])("%j", async (body, detail, attr) => {
    expect((await ask(body)).json).toMatchObject({ detail, attr });
  });

  test("a name that another survey has", async () => {
    const it = sim();
    await it.post(root, survey);
    const { json } = await it.post(root, { name: "B", type: "api" });
    const twice = await it.post(root, survey);
    expect(twice.json).toMatchObject({ code: "unique", detail: "There is already a survey with this name." });
    const renamed = await it.patch(`${root}/${json.id}`, { name: "NPS" });
    expect(renamed.json.detail).toBe("There is already another survey with this name.");
  });

  test("to start what is archived or over", async () => {
    const it = sim();
    const { json } = await it.post(root, { ...survey, end_date: "2026-01-01T00:00:00Z" });
    const launch = async () => (await it.post(`${root}/${json.id}/launch`)).json.detail;
    expect(await launch()).toBe("Cannot launch a survey with end_date in the past. Extend the end_date first.");
    await it.patch(`${root}/${json.id}`, { archived: true });
    expect(await launch()).toBe("Cannot launch an archived survey. Unarchive it first.");
    expect((await it.post(`${root}/nothing/launch`)).status).toBe(404);
  });
});
