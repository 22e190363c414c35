import { describe, expect, test } from "vitest";
import { manage } from "./manage.ts";
import { twoOrganizations, uuidOf } from "./world.ts";

const root = "/api/projects/1/persons";

/** In order of their making; Eva belongs to project 2, Fox to the other organization's. */
const people = [
  { name: "ann", project: 1, ids: ["ann", "0190f1f8-aaaa-7bbb-8ccc-123456789012"], email: "ann@example.test" },
  { name: "bob", project: 1, ids: ["0190f1f8-aaaa-7bbb-8ccc-000000000000", "bob-1"], plan: "pro" },
  { name: "cat", project: 1, ids: ["cat"], email: "cat@example.test", plan: "Free" },
  { name: "eva", project: 2, ids: ["eva"], email: "ann@example.test" },
  { name: "fox", project: 3, ids: ["fox"] },
];

const allPersons = people.length;

function start(options: Parameters<typeof manage>[0] = {}) {
  const sim = manage(options);
  people.forEach(({ name, project, ids, email, plan }, i) => {
    const properties = { ...(email && { email }), ...(plan && { plan }), n: i };
    sim.people.create(
      { project, uuid: uuidOf(name), created_at: i * 1000, is_identified: i > 0, version: 0, properties },
      ids,
    );
  });
  const propertiesOf = (name: string, project = 1) => sim.people.person(project, uuidOf(name))?.properties;
  return { ...sim, propertiesOf };
}

const error = (detail: string, attr: string | null = null, code = "invalid_input") => ({
  type: "validation_error",
  code,
  detail,
  attr,
});
const gone = { type: "invalid_request", code: "not_found", detail: "Not found.", attr: null };
const names = (json: { results: { uuid: string }[] }) =>
  json.results.map(({ uuid }) => people.find((it) => uuidOf(it.name) === uuid)?.name);

test("a person is shown whole, chosen ids first", async () => {
  const { get } = start();
  expect((await get(`${root}/${uuidOf("ann")}/`)).json).toEqual({
    id: uuidOf("ann"),
    name: "ann@example.test",
    distinct_ids: ["ann", "0190f1f8-aaaa-7bbb-8ccc-123456789012"],
    properties: { email: "ann@example.test", n: 0 },
    created_at: "1970-01-01T00:00:00Z",
    uuid: uuidOf("ann"),
  });
  expect((await get(`${root}/${uuidOf("bob").toUpperCase()}`)).json).toMatchObject({
    name: "bob-1",
    distinct_ids: ["bob-1", "0190f1f8-aaaa-7bbb-8ccc-000000000000"],
  });
});

test.each([
  [{ name: "N", email: "E" }, "E"],
  [{ username: "U", Name: "N" }, "N"],
  [{ email: "", name: 5 }, "5"],
  [{}, "id"],
])("with the properties %j the name is %s", async (properties, name) => {
  const { get, people } = start();
  const uuid = uuidOf("named");
  people.create({ project: 1, uuid, created_at: 0, is_identified: true, version: 0, properties }, ["id"]);
  expect((await get(`${root}/${uuid}`)).json.name).toBe(name);
});

const json = (filters: unknown) => `properties=${encodeURIComponent(JSON.stringify(filters))}`;
const filter = (operator: string | undefined, value: unknown, key = "plan") => [
  { key, type: "person", ...(operator && { operator }), value },
];

test.each([
  ["", ["cat", "bob", "ann"]],
  ["distinct_id=bob-1", ["bob"]],
  ["distinct_id=eva", []],
  ["distinct_id=nobody", []],
  ["email=ann@example.test", ["ann"]],
  ["email=ann@example", []],
  ["search=EXAMPLE", ["cat", "ann"]],
  ["search=bob", ["bob"]],
  ["search=example&email=cat@example.test", ["cat"]],
  ["limit=2", ["cat", "bob"]],
  ["limit=2&offset=2", ["ann"]],
  ["limit=-1&offset=x", ["cat", "bob", "ann"]],
  [json(filter("exact", "pro")), ["bob"]],
  [json(filter(undefined, ["pro", "x"])), ["bob"]],
  [json(filter("exact", 2, "n")), ["cat"]],
  [json(filter("is_not", "pro")), ["cat", "ann"]],
  [json(filter("icontains", "FR")), ["cat"]],
  [json(filter("not_icontains", "fr")), ["bob", "ann"]],
  [json(filter("is_set", "is_set")), ["cat", "bob"]],
  [json(filter("is_not_set", "x")), ["ann"]],
  [json(filter("is_set", "x", "constructor")), []],
  [json({ plan: "Free" }), ["cat"]],
  [json({ type: "OR", values: [...filter("exact", "pro"), ...filter("exact", "Free")] }), ["cat", "bob"]],
  [json({ type: "AND", values: [...filter("exact", "pro"), ...filter("exact", 1, "n")] }), ["bob"]],
  [json([]), ["cat", "bob", "ann"]],
  ["properties=", ["cat", "bob", "ann"]],
])("the list with ?%s has %j", async (query, expected) => {
  const { get } = start();
  const answer = await get(`${root}/?${query}`);
  expect(names(answer.json)).toEqual(expected);
  expect(Object.keys(answer.json)).toEqual(["next", "previous", "results"]);
});

const unsupported = (what: string) => error(`${what} in property filters is not supported by phx-sim.`);

test.each([
  ["properties=[", error("Properties are unparsable!")],
  [json([1]), error("Properties are unparsable!")],
  [json([{ key: 5 }]), error("Properties are unparsable!")],
  [json(filter("gt", 5)), unsupported("The operator 'gt'")],
  [json([{ key: "a", operator: 5 }]), unsupported("The operator '5'")],
  [json([{ key: "a", type: "event", value: 1 }]), unsupported("The type 'event'")],
])("the list with ?%s is refused", async (query, expected) => {
  const { get } = start();
  expect(await get(`${root}/?${query}`)).toMatchObject({ status: 400, json: expected });
});

test.each([
  ["", null, null],
  ["limit=2", `${root}/?limit=2&offset=2`, null],
  ["limit=2&offset=2", null, `${root}/?limit=2`],
  ["limit=1&offset=2&search=", `${root}/?limit=1&offset=3&search=`, `${root}/?limit=1&offset=1&search=`],
  ["limit=3", `${root}/?limit=3&offset=3`, null],
  ["limit=3&offset=1", null, null],
])("a page has no count, and a next one whenever it is full: ?%s", async (query, next, previous) => {
  const { get } = start();
  const full = (path: string | null) => path && `http://sim.test${path}`;
  const answer = await get(`${root}/?${query}`);
  expect(answer.json).toMatchObject({ next: full(next), previous: full(previous) });
});

test("include_total counts all that fit", async () => {
  const { get } = start();
  expect((await get(`${root}/?include_total=1&limit=1`)).json).toMatchObject({ count: 3 });
});

describe("properties", () => {
  test.each([
    ["POST", "/update_property", { key: "plan", value: { a: [1] } }, 202, { plan: { a: [1] } }],
    ["POST", "/update_property/", { key: "__proto__", value: 1 }, 202, { ["__proto__"]: 1, plan: "pro" }],
    ["PATCH", "/", { properties: { x: 1, plan: false } }, 202, { x: 1, plan: false }],
    ["PUT", "", { properties: {} }, 202, { plan: "pro" }],
  ])("%s %s with %j", async (method, path, body, status, expected) => {
    const { ask, propertiesOf } = start();
    const answer = await ask(method, `${root}/${uuidOf("bob")}${path}`, { body: JSON.stringify(body) });
    expect(answer).toMatchObject({ status, text: "" });
    expect({ ...propertiesOf("bob") }).toMatchObject(expected);
    expect(propertiesOf("bob")).toHaveProperty("n", 1);
  });

  test("delete_property removes one", async () => {
    const { post, propertiesOf } = start();
    const answer = await post(`${root}/${uuidOf("bob")}/delete_property`, { $unset: "plan" });
    expect(answer).toMatchObject({ status: 201, json: { success: true } });
    expect(propertiesOf("bob")).toEqual({ n: 1 });
  });

  test.each([
    ["/update_property", {}, error("This field is required.", "value", "required")],
    ["/update_property", { key: "k", value: null }, error("This field is required.", "value", "required")],
    ["/update_property", { value: 1 }, error("This field is required.", "key", "required")],
    ["/update_property", { value: 1, key: [] }, error("Not a valid string.", "key")],
    ["/delete_property", {}, error("This field is required.", "$unset", "required")],
  ])("POST %s with %j is refused", async (path, body, expected) => {
    const { post, propertiesOf } = start();
    const answer = await post(`${root}/${uuidOf("bob")}${path}`, body);
    expect(answer).toMatchObject({ status: 400, json: expected });
    expect(propertiesOf("bob")).toEqual({ plan: "pro", n: 1 });
  });

  test.each([
    [{}, error("This field is required.", "properties", "required")],
    [{ properties: null }, error("This field is required.", "properties", "required")],
    [{ properties: [] }, error('Expected a dictionary of items but got type "list".', "properties", "not_a_dict")],
  ])("PATCH with %j is refused", async (body, expected) => {
    const { patch } = start();
    expect(await patch(`${root}/${uuidOf("bob")}/`, body)).toMatchObject({ status: 400, json: expected });
  });
});

describe("removing persons", () => {
  test.each(["", "/", "?delete_events=true", "/?delete_events=true"])("DELETE …%s", async (tail) => {
    const { delete: remove, get } = start();
    expect(await remove(`${root}/${uuidOf("bob")}${tail}`)).toMatchObject({ status: 202, text: "" });
    expect(names((await get(root)).json)).toEqual(["cat", "ann"]);
    expect((await get(`${root}/${uuidOf("bob")}/`)).status).toBe(404);
    expect(names((await get(`${root}/?distinct_id=bob-1`)).json)).toEqual([]);
  });

  test.each([
    [{ ids: [uuidOf("ann").toUpperCase(), uuidOf("cat"), uuidOf("eva"), "x"] }, ["bob"]],
    [{ distinct_ids: ["ann", "0190f1f8-aaaa-7bbb-8ccc-123456789012", "eva", "x"] }, ["cat", "bob"]],
    [{ distinct_ids: ["cat"], ids: [uuidOf("ann")] }, ["bob", "ann"]],
  ])("bulk_delete with %j leaves %j", async (body, left) => {
    const { get, post, people } = start();
    expect(await post(`${root}/bulk_delete/`, body)).toMatchObject({ status: 202, text: "" });
    expect(names((await get(root)).json)).toEqual(left);
    expect(people.counts(2).persons).toBe(1);
  });

  const many = Array.from({ length: 1001 }, String);
  test.each([
    ["nothing", {}, error("You need to specify either distinct_ids or ids")],
    ["empty lists", { ids: [], distinct_ids: [] }, error("You need to specify either distinct_ids or ids")],
    ["too many distinct_ids", { distinct_ids: many }, error("You can only pass 1000 distinct_ids in one call")],
    ["too many ids", { ids: many }, error("You can only pass 1000 ids in one call")],
    ["a text", { ids: "x" }, error('Expected a list of items but got type "str".', "ids", "not_a_list")],
  ])("bulk_delete with %s is refused", async (_, body, expected) => {
    const { post } = start();
    expect(await post(`${root}/bulk_delete`, body)).toMatchObject({ status: 400, json: expected });
  });

  test("takes them out of the static cohorts that list them", async () => {
    const world = twoOrganizations();
    const persons = [uuidOf("ann"), uuidOf("bob")];
    world.cohorts = [
      { id: 1, project: 1, is_static: true, persons },
      { id: 2, project: 2, is_static: true, persons },
    ];
    const { delete: remove, worlds } = start({ world });
    await remove(`${root}/${uuidOf("bob")}`);
    expect(worlds.get("cohorts", 1)?.persons).toEqual([uuidOf("ann")]);
    expect(worlds.get("cohorts", 2)?.persons).toEqual(persons);
  });
});

test("persons are not made here", async () => {
  const { post } = start();
  expect(await post(`${root}/`, {})).toMatchObject({
    status: 405,
    json: {
      type: "invalid_request",
      code: "method_not_allowed",
      detail:
        "Creating persons via this API is not allowed. Please create persons by sending an $identify event. See https://posthog.com/docs/product-analytics/identify for details.",
      attr: null,
    },
  });
});

test("what is no person's id is reported so", async () => {
  const { get } = start();
  expect(await get(`${root}/bob-1/`)).toMatchObject({
    status: 400,
    json: error(
      "The ID provided does not look like a personID. If you are using a distinctId, please use /persons?distinct_id=bob-1 instead.",
    ),
  });
});

test.each([uuidOf("eva"), uuidOf("fox"), uuidOf("nobody"), "17"])(
  "person %s does not exist for project 1",
  async (id) => {
    const { get, patch, post, delete: remove, people } = start();
    for (const answer of [
      await get(`${root}/${id}/`),
      await patch(`${root}/${id}/`, { properties: {} }),
      await post(`${root}/${id}/update_property`, { key: "a", value: 1 }),
      await post(`${root}/${id}/delete_property`, {}),
      await remove(`${root}/${id}/`),
    ]) {
      expect(answer).toMatchObject({ status: 404, json: gone });
    }
    expect(people.counts().persons).toBe(allPersons);
  },
);

describe("the address from before projects had URLs", () => {
  test.each([
    ["the current project", "/api/person/", "phx_ada", ["cat", "bob", "ann"]],
    ["another user's current project", "/api/person", "phx_dan", ["eva"]],
    ["the project of a token", "/api/person/?token=phc_project_2", "phx_ada", ["eva"]],
  ])("is about %s", async (_, path, key, expected) => {
    const { get } = start();
    expect(names((await get(path, { key })).json)).toEqual(expected);
  });

  test.each([
    ["an unknown token", "?token=phc_x", 404, "Project not found."],
    ["a foreign token", "?token=phc_project_3", 403, "You don't have access to the project."],
  ])("refuses %s", async (_, query, status, detail) => {
    const { get } = start();
    expect(await get(`/api/person/${query}`)).toMatchObject({ status, json: { detail } });
  });

  test("has the other rows, too", async () => {
    const { get, delete: remove } = start();
    const path = `/api/person/${uuidOf("bob")}/`;
    expect((await get(path)).json.name).toBe("bob-1");
    expect((await remove(path)).status).toBe(202);
    expect((await get(path)).status).toBe(404);
  });
});

test.each([
  ["GET", "/", "person:read"],
  ["POST", "/", "person:write"],
  ["POST", "/bulk_delete/", "person:write"],
  ["GET", "/x/", "person:read"],
  ["PATCH", "/x/", "person:write"],
  ["PUT", "/x/", "person:write"],
  ["DELETE", "/x/", "person:write"],
  ["POST", "/x/update_property/", "person:write"],
  ["POST", "/x/delete_property/", "person:write"],
])("%s %s needs %s", async (method, path, scope) => {
  const { ask } = start();
  const { status, json } = await ask(method, root + path, { key: "phx_reader", body: {} });
  expect(json.detail).toBe(`API key missing required scope '${scope}'`);
  expect(status).toBe(403);
});
