import { describe, expect, test } from "vitest";
import { blankFeatureFlag } from "../../../src/state/documents/blank.ts";
import { WorldSchema } from "../../../src/state/documents/world.schema.ts";
import type { Cohort, World } from "../../../src/state/documents/world.ts";
import { manage } from "./manage.ts";
import { startedAt, twoOrganizations, uuidOf } from "./world.ts";

const root = "/api/projects/1/cohorts";

const plan = { type: "person", key: "plan", value: ["pro"], operator: "exact" };
const did = { type: "behavioral", key: "$pageview", value: "performed_event", event_type: "events" };
const refers = (value: number) => ({ type: "cohort", key: "id", value });
const tree = (...values: object[]) => ({ properties: { type: "OR", values: [{ type: "AND", values }] } });

const cohort = (id: number, given: object = {}): Cohort => ({
  id,
  project: 1,
  name: `Cohort ${id}`,
  filters: tree(plan) as Cohort["filters"],
  is_static: false,
  deleted: false,
  created_at: `2026-01-0${id}T00:00:00Z`,
  created_by: 1,
  ...given,
});

/** Cohort 1 is used by a flag, 2 refers to events, 3 is static, 4 is deleted; 5 and 6 are elsewhere. */
function cohortWorld(): World {
  const world = twoOrganizations();
  world.cohorts = [
    cohort(1),
    cohort(2, { name: "Visitors", filters: tree(did), created_by: 2 }),
    cohort(3, { is_static: true, filters: null, persons: [uuidOf("p1"), uuidOf("p2"), uuidOf("gone")] }),
    cohort(4, { deleted: true }),
    cohort(5, { project: 2 }),
    cohort(6, { project: 3 }),
  ];
  const filters = { groups: [{ properties: [{ type: "cohort", key: "id", value: 1 }] }] };
  world.feature_flags = [blankFeatureFlag({ id: 1, project: 1, key: "uses-1", filters }, startedAt)];
  return world;
}

function start() {
  const sim = manage({ world: cohortWorld() });
  for (const name of ["p1", "p2"]) {
    const properties = { email: `${name}@example.test` };
    sim.people.create({ project: 1, uuid: uuidOf(name), created_at: 0, is_identified: true, version: 0, properties }, [
      name,
    ]);
  }
  return sim;
}

const error = (detail: string, attr: string | null = null, code = "invalid_input") => ({
  type: "validation_error",
  code,
  detail,
  attr,
});
const ids = (json: { results: { id: number }[] }) => json.results.map((it) => it.id);

test("a new cohort is shown whole", async () => {
  const { post, get, worlds } = start();
  const made = await post(`${root}/`, { name: "Pro", description: "Who pays", filters: tree(plan) });
  expect(made.status).toBe(201);
  expect({ ...made.json, created_by: made.json.created_by.id }).toEqual({
    id: 7,
    name: "Pro",
    description: "Who pays",
    groups: [],
    deleted: false,
    filters: tree(plan),
    query: null,
    is_calculating: false,
    created_by: 1,
    created_at: "2026-03-04T05:06:07.089000Z",
    last_calculation: null,
    errors_calculating: 0,
    count: null,
    is_static: false,
    cohort_type: null,
    experiment_set: [],
  });
  expect((await get(`${root}/7`)).json).toEqual(made.json);
  expect(WorldSchema.safeParse({ ...worlds.current }).success).toBe(true);
});

test.each([
  ["nothing", {}, { name: null, filters: { properties: {} } }],
  [
    "old groups",
    { groups: [{ properties: { team: 5 } }, { properties: [plan] }, 1] },
    {
      filters: {
        properties: {
          type: "OR",
          values: [
            { type: "AND", values: [{ key: "team", value: 5, operator: "exact", type: "person" }] },
            { type: "AND", values: [plan] },
            { type: "AND", values: [] },
          ],
        },
      },
    },
  ],
  ["groups that are none", { groups: "x" }, { groups: [] }],
  [
    "persons, each once and only known ones",
    { is_static: true, _create_static_person_ids: [uuidOf("p1").toUpperCase(), uuidOf("p1"), uuidOf("x"), "x"] },
    { is_static: true, count: 1 },
  ],
  ["a query", { is_static: true, query: { kind: "HogQLQuery", query: "select 1" } }, { count: 0 }],
  ["no query", { query: null }, { query: null }],
  ["anything, being static", { is_static: "true", filters: [1] }, { filters: [1] }],
  ["a presence", { filters: tree({ type: "person", key: "k", operator: "is_set" }) }, {}],
  ["nested groups", { filters: tree({ type: "OR", values: [did, refers(1)] }) }, {}],
])("a cohort with %s", async (_, body, shown) => {
  const { post } = start();
  const { status, json } = await post(root, body);
  expect(json).toMatchObject(shown);
  expect(status).toBe(201);
});

const structure = (problem: string) => error(`Filters are not valid (${problem})`, "filters");
const missing = (kind: string, keys: string) => error(`Missing required keys for ${kind} filter: ${keys}`, "filters");

test.each([
  [{ name: [] }, error("Not a valid string.", "name")],
  [{ name: "x".repeat(401) }, error("Ensure this field has no more than 400 characters.", "name", "max_length")],
  [
    { description: "x".repeat(1001) },
    error("Ensure this field has no more than 1000 characters.", "description", "max_length"),
  ],
  [{ description: null }, error("This field may not be null.", "description", "null")],
  [{ deleted: "x" }, error("Must be a valid boolean.", "deleted")],
  [{ is_static: null }, error("This field may not be null.", "is_static", "null")],
  [
    { _create_static_person_ids: "x" },
    error('Expected a list of items but got type "str".', "_create_static_person_ids", "not_a_list"),
  ],
  ...[null, "[x]", {}, [], 5].map((filters) => [
    { filters },
    error("Must contain a 'properties' key with type and values", "filters__detail"),
  ]),
  [{ filters: { properties: [] } }, structure("each condition is an object with a type")],
  ...[plan, {}].map((properties) => [{ filters: { properties } }, structure("the type is AND or OR")]),
  [{ filters: { properties: { type: "OR" } } }, structure("the values of OR are a list")],
  [{ filters: tree(1 as never) }, structure("each condition is an object with a type")],
  [
    { filters: tree({ type: "event", key: "k" }) },
    structure("the type is one of AND, OR, behavioral, cohort, person, not event"),
  ],
  [{ filters: tree({ type: "person", key: "k" }) }, missing("person", "value, operator")],
  [{ filters: tree({ type: "person", operator: "is_set" }) }, missing("person", "key")],
  [{ filters: tree({ type: "cohort", key: "id" }) }, missing("cohort", "value")],
  [{ filters: tree({ type: "behavioral", key: "a" }) }, missing("behavioral", "value, event_type")],
  [{ query: [1] }, error("Query must be a dictionary.", "query")],
  [{ query: { kind: "X" } }, error("Query must be an ActorsQuery or HogQLQuery. Got: X", "query")],
  [{ query: {} }, error("Query must be an ActorsQuery or HogQLQuery. Got: None", "query")],
  [{ query: { kind: "ActorsQuery" } }, error("Cannot create a dynamic cohort with a query. Set is_static to true.")],
  [
    { query: { kind: "ActorsQuery" }, filters: tree(plan), is_static: true },
    error("Cannot set both query and filters at the same time."),
  ],
] as [object, object][])("%j is refused", async (body, expected) => {
  const { post, worlds } = start();
  const { status, json } = await post(root, body);
  expect(json).toEqual(expected);
  expect(status).toBe(400);
  expect(worlds.current.cohorts).toHaveLength(6);
});

test.each([
  ["", [3, 2, 1]],
  ["type=static", [3]],
  ["type=dynamic", [2, 1]],
  ["type=other", [3, 2, 1]],
  ["search=VISIT", [2]],
  ["created_by_id=2", [2]],
  ["hide_behavioral_cohorts=true", [3, 1]],
  ["hide_behavioral_cohorts=false", [3, 2, 1]],
  ["limit=1&offset=1", [2]],
])("the list with ?%s has %j", async (query, expected) => {
  const { get } = start();
  expect(ids((await get(`${root}/?${query}`)).json)).toEqual(expected);
});

describe("changing a cohort", () => {
  test.each([
    ["PATCH", 2, { name: "N" }, { name: "N", filters: tree(did) }],
    ["PUT", 2, { description: "D" }, { name: "Visitors", description: "D" }],
    ["PATCH", 2, { name: null }, { name: null }],
    ["PATCH", 1, { filters: tree(plan, plan) }, { filters: tree(plan, plan) }],
    ["PATCH", 1, { filters: tree(refers(3)) }, { filters: tree(refers(3)) }],
    ["PATCH", 3, { filters: null }, { count: 3 }],
    ["PATCH", 2, { deleted: true }, { deleted: true }],
    ["PATCH", 4, { deleted: false }, { deleted: false }],
  ])("%s of cohort %i with %j", async (method, id, body, shown) => {
    const { ask, get } = start();
    const { status, json } = await ask(method, `${root}/${id}/`, { body });
    expect(json).toMatchObject({ id, ...shown });
    expect(status).toBe(200);
    expect((await get(`${root}/${id}/`)).json).toEqual(json);
  });

  test.each([
    [1, { filters: {} }, error("Must contain a 'properties' key with type and values", "filters__detail")],
    [
      1,
      { filters: tree(did) },
      error(
        "Behavioral filters cannot be added to cohorts used in feature flags.",
        "filters",
        "behavioral_cohort_found",
      ),
    ],
    [
      1,
      { filters: tree(refers(2)) },
      error(
        "A cohort dependency (Visitors) has filters based on events. These cohorts can't be used in feature flags.",
        "filters",
        "behavioral_cohort_found",
      ),
    ],
    [
      1,
      { deleted: true },
      error(
        "This cohort is used in 1 active feature flag(s): uses-1. Please remove the cohort from these feature flags before deleting it.",
      ),
    ],
    [2, { filters: tree(refers(2)) }, error("Cohorts cannot reference other cohorts in a loop.")],
  ])("PATCH of cohort %i with %j is refused", async (id, body, expected) => {
    const { patch } = start();
    const { status, json } = await patch(`${root}/${id}/`, body);
    expect(json).toEqual(expected);
    expect(status).toBe(400);
  });

  test("a loop over several cohorts is refused", async () => {
    const { patch, post } = start();
    const { json } = await post(root, { filters: tree(refers(2)) });
    const answer = await patch(`${root}/2/`, { filters: tree(refers(json.id)) });
    expect(answer.json.detail).toBe("Cohorts cannot reference other cohorts in a loop.");
  });

  test("a cohort that no active flag uses any more can be deleted", async () => {
    const { patch } = start();
    await patch("/api/projects/1/feature_flags/1", { active: false });
    expect((await patch(`${root}/1/`, { deleted: true })).status).toBe(200);
  });
});

describe("the persons of a cohort", () => {
  test("are those of a static one that are still there", async () => {
    const { get } = start();
    const all = (await get(`${root}/3/persons/`)).json;
    expect(all.results.map((it: { name: string }) => it.name)).toEqual(["p1@example.test", "p2@example.test"]);
    expect(all).toMatchObject({ next: null, previous: null });
    const second = (await get(`${root}/3/persons/?limit=1&offset=1`)).json;
    expect(second).toMatchObject({
      results: [{ uuid: uuidOf("p2") }],
      next: `http://sim.test${root}/3/persons/?limit=1&offset=2`,
      previous: `http://sim.test${root}/3/persons/?limit=1`,
    });
  });

  test("are not known of a dynamic one", async () => {
    const { get } = start();
    const answer = await get(`${root}/1/persons`);
    expect(answer).toMatchObject({ status: 400, json: error("phx-sim does not compute who is in a dynamic cohort.") });
  });

  test("need the scope of persons, too", async () => {
    const world = cohortWorld();
    const [ada] = world.personal_api_keys;
    if (ada) world.personal_api_keys.push({ ...ada, id: "c", key: "phx_cohorts", scopes: ["cohort:read"] });
    const { get } = manage({ world });
    const { status, json } = await get(`${root}/3/persons`, { key: "phx_cohorts" });
    expect(json.detail).toBe("API key missing required scope 'person:read'");
    expect(status).toBe(403);
    expect((await get(`${root}/3`, { key: "phx_cohorts" })).status).toBe(200);
  });
});

test.each(["5", "6", "77", "x"])("cohort %s does not exist for project 1", async (id) => {
  const { get, patch, put } = start();
  const gone = { type: "invalid_request", code: "not_found", detail: "Not found.", attr: null };
  for (const answer of [
    await get(`${root}/${id}/`),
    await get(`${root}/${id}/persons/`),
    await patch(`${root}/${id}/`, { name: [] }),
    await put(`${root}/${id}/`, {}),
  ]) {
    expect(answer).toMatchObject({ status: 404, json: gone });
  }
});

test("DELETE is a 405 without a body", async () => {
  const { delete: remove, worlds } = start();
  const answer = await remove(`${root}/2/`);
  expect(answer).toMatchObject({ status: 405, text: "" });
  expect(answer.header("content-type")).toBeUndefined();
  expect(worlds.get("cohorts", 2)?.deleted).toBe(false);
});

test.each([
  ["GET", "/", "cohort:read"],
  ["POST", "/", "cohort:write"],
  ["GET", "/1/", "cohort:read"],
  ["PATCH", "/1/", "cohort:write"],
  ["PUT", "/1/", "cohort:write"],
  ["DELETE", "/1/", "cohort:write"],
  ["GET", "/1/persons/", "cohort:read"],
])("%s %s needs %s", async (method, path, scope) => {
  const { ask } = start();
  const { status, json } = await ask(method, root + path, { key: "phx_reader", body: {} });
  expect(json.detail).toBe(`API key missing required scope '${scope}'`);
  expect(status).toBe(403);
});
