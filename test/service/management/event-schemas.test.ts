import { describe, expect, test } from "vitest";
import { resourceOf } from "../../../src/state/documents/resources.ts";
import type { StoredEvent } from "../../../src/state/journal/event.ts";
import { manage, now } from "./manage.ts";
import { twoOrganizations, uuidOf } from "./world.ts";

const groups = "/api/projects/1/schema_property_groups";
const schemas = "/api/projects/1/event_schemas";
const definitions = "/api/projects/1/event_definitions";
const paid = uuidOf("paid");
const elsewhere = uuidOf("elsewhere");

const time = new Date(now).toISOString();

const captured: StoredEvent = {
  seq: 1,
  outcome: "kept",
  reason: null,
  detail: null,
  warnings: [],
  project: 1,
  uuid: null,
  event: "captured",
  distinct_id: "d",
  timestamp: time,
  received_at: time,
  person_id: null,
  person_mode: "full",
  properties: {},
  request: 1,
};

function sim() {
  const world = twoOrganizations();
  world.resources = [
    resourceOf("event_definitions", 1, paid, { name: "paid" }),
    resourceOf("event_definitions", 3, elsewhere, { name: "elsewhere" }),
    resourceOf("schema_property_groups", 3, elsewhere, { name: "Elsewhere" }),
  ];
  return manage({ world, events: [captured] });
}

const property = (name: string, more: object = {}) => ({ name, property_type: "String", ...more });
const ranged = (validation_rules: object) => ({
  name: "Order",
  properties: [{ name: "total", property_type: "Numeric", validation_rules }],
});
const texts = (validation_rules: object) => ({ name: "Order", properties: [property("plan", { validation_rules })] });

describe("groups of properties", () => {
  test("show what the service shows, properties by name", async () => {
    const it = sim();
    const body = {
      name: "Order",
      properties: [
        { name: "total", property_type: "Numeric", validation_rules: { minimum: 0, exclusiveMaximum: 10 } },
        property("plan", { is_required: true, validation_rules: { not: { enum: ["free"] } } }),
      ],
    };
    const { status, json } = await it.post(`${groups}/`, body);
    const written = { created_at: expect.any(String), updated_at: expect.any(String) };
    const usual = { id: expect.any(String), is_optional_in_types: false, description: "", ...written };
    expect([status, json]).toEqual([
      201,
      {
        id: expect.any(String),
        name: "Order",
        description: "",
        properties: [
          { ...usual, is_required: true, ...body.properties[1] },
          { ...usual, is_required: false, ...body.properties[0] },
        ],
        events: [],
        ...written,
        created_by: expect.objectContaining({ email: "ada@example.test" }),
      },
    ]);
  });

  test("properties of a change replace all; without them they stay", async () => {
    const it = sim();
    const { json } = await it.post(groups, { name: "Order", properties: [property("a"), property("b")] });
    const named = await it.patch(`${groups}/${json.id}`, { name: "Orders" });
    expect(named.json.properties).toEqual(json.properties);
    const changed = await it.patch(`${groups}/${json.id}`, { properties: [json.properties[1]] });
    expect(changed.json.properties).toMatchObject([{ name: "b" }]);
    expect(changed.json.properties[0].id).not.toBe(json.properties[1].id);
    expect((await it.patch(`${groups}/${json.id}`, { properties: [] })).json.properties).toEqual([]);
  });

  test("are listed by name", async () => {
    const it = sim();
    for (const name of ["b", "a", "c"]) await it.post(groups, { name });
    const { results } = (await it.get(groups)).json;
    expect(results.map((one: { name: string }) => one.name)).toEqual(["a", "b", "c"]);
  });

  test.each([
    [{ name: "Taken" }, "name", "A property group with this name already exists for this team"],
    [{ name: "" }, "name", "This field may not be blank."],
    [{ description: "x" }, "name", "This field is required."],
    [
      { name: "Order", properties: [property("a".repeat(201))] },
      "properties__0__name",
      "Property name must be 200 characters or less",
    ],
    [{ name: "Order", properties: [property(" ")] }, "properties__0__name", "This field may not be blank."],
    [
      { name: "Order", properties: [property("a"), property("a")] },
      null,
      "Could not create property group due to a database error.",
    ],
    [
      { name: "Order", properties: [{ name: "at", property_type: "DateTime", validation_rules: { enum: ["a"] } }] },
      "validation_rules",
      "Validation rules are not supported for DateTime properties",
    ],
    [texts({ maximum: 1 }), "validation_rules", "Unrecognized keys for String validation: maximum"],
    [
      texts({ enum: ["a"], not: { enum: ["b"] } }),
      "validation_rules",
      "Cannot specify both 'enum' and 'not' — use one or the other",
    ],
    [texts({ enum: "a" }), "validation_rules", "'enum' must be a list"],
    [texts({ enum: [] }), "validation_rules", "'enum' list must not be empty"],
    [texts({ enum: [1] }), "validation_rules", "All 'enum' values must be strings"],
    [
      texts({ enum: Array.from({ length: 1001 }, String) }),
      "validation_rules",
      "'enum' list must not exceed 1000 items",
    ],
    [texts({ not: ["a"] }), "validation_rules", "'not' must contain exactly one key: 'enum'"],
    [ranged({ enum: ["a"] }), "validation_rules", "Unrecognized keys for Numeric validation: enum"],
    [
      ranged({ minimum: 1, exclusiveMinimum: 1 }),
      "validation_rules",
      "Cannot specify both 'minimum' and 'exclusiveMinimum'",
    ],
    [ranged({ maximum: "1" }), "validation_rules", "'maximum' must be a number"],
    [
      ranged({ minimum: 2, maximum: 2 }),
      "validation_rules",
      "Lower bound (minimum=2) must be less than upper bound (maximum=2)",
    ],
  ])("%j is refused", async (body, attr, detail) => {
    const it = sim();
    await it.post(groups, { name: "Taken" });
    const { status, json } = await it.post(groups, body);
    expect([status, json.attr, json.detail]).toEqual([400, attr, detail]);
    expect((await it.get(groups)).json.count).toBe(1);
  });

  test("changes have texts of their own", async () => {
    const it = sim();
    await it.post(groups, { name: "Taken" });
    const { json } = await it.post(groups, { name: "Order" });
    const taken = await it.patch(`${groups}/${json.id}`, { name: "Taken" });
    expect([taken.status, taken.json.detail]).toEqual([400, "A property group with this name already exists"]);
    const twice = await it.patch(`${groups}/${json.id}`, { properties: [property("a"), property("a")] });
    expect([twice.json.attr, twice.json.detail]).toEqual([
      "properties",
      "A property named 'a' already exists in this group",
    ]);
    expect((await it.patch(`${groups}/${json.id}`, { name: "Order" })).status).toBe(200);
  });
});

describe("event schemas", () => {
  async function withGroups() {
    const it = sim();
    const one = (await it.post(groups, { name: "Order", properties: [property("plan")] })).json;
    const other = (await it.post(groups, { name: "Contact" })).json;
    const add = (definition: string, group: string) =>
      it.post(`${schemas}/`, { event_definition: definition, property_group_id: group });
    return { it, one, other, add };
  }

  test("show the group, which shows the events", async () => {
    const { it, one, add } = await withGroups();
    const { status, json } = await add(paid.toUpperCase(), one.id);
    const events = [{ id: paid, name: "paid" }];
    expect([status, json]).toEqual([
      201,
      {
        id: expect.any(String),
        event_definition: paid,
        property_group: { ...one, events },
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    expect((await it.get(`${groups}/${one.id}`)).json.events).toEqual(events);
    // the service has no such method
    expect((await it.get(`${schemas}/${json.id}/`)).status).toBe(403);
  });

  test("of one event are listed", async () => {
    const { it, one, other, add } = await withGroups();
    const definition = (await it.post(definitions, { name: "sent" })).json.id;
    const first = (await add(paid, one.id)).json.id;
    const second = (await add(definition, other.id)).json.id;
    const ids = async (query: string) =>
      (await it.get(`${schemas}/${query}`)).json.results.map((found: { id: string }) => found.id);
    expect((await ids("")).toSorted()).toEqual([first, second].toSorted());
    expect(await ids(`?event_definition=${paid}`)).toEqual([first]);
    expect(await ids(`?event_definition=${elsewhere}`)).toEqual([]);
  });

  test("of an event that was only captured", async () => {
    const { it, one, add } = await withGroups();
    const found = await it.get(`${definitions}/?search=captured`);
    const [{ id }] = found.json.results;
    const before = await it.get(`${definitions}/${id}`);
    expect((await add(id, one.id)).status).toBe(201);
    expect((await it.get(`${groups}/${one.id}`)).json.events).toEqual([{ id, name: "captured" }]);
    expect((await it.get(`${definitions}/${id}`)).json).toMatchObject({
      name: "captured",
      last_seen_at: before.json.last_seen_at,
    });
  });

  test("get another group", async () => {
    const { it, one, other, add } = await withGroups();
    const { json } = await add(paid, one.id);
    const changed = await it.patch(`${schemas}/${json.id}/`, { property_group_id: other.id });
    expect([changed.status, changed.json.property_group.name]).toEqual([200, "Contact"]);
    expect((await it.get(`${groups}/${one.id}`)).json.events).toEqual([]);
    const same = { event_definition: paid, property_group_id: other.id };
    expect((await it.patch(`${schemas}/${json.id}/`, same)).status).toBe(200);
  });

  test("end with their group, their definition, or alone", async () => {
    const { it, one, other, add } = await withGroups();
    const count = async () => (await it.get(schemas)).json.count;
    await add(paid, one.id);
    await add(paid, other.id);
    expect((await it.delete(`${groups}/${one.id}`)).status).toBe(204);
    expect(await count()).toBe(1);
    expect((await it.delete(`${definitions}/${paid}`)).status).toBe(204);
    expect(await count()).toBe(0);
    expect((await it.get(`${groups}/${other.id}`)).json.events).toEqual([]);
    const definition = (await it.post(definitions, { name: "sent" })).json.id;
    const { json } = await add(definition, other.id);
    expect((await it.delete(`${schemas}/${json.id}/`)).status).toBe(204);
    expect((await it.delete(`${schemas}/${json.id}/`)).status).toBe(404);
    expect((await it.get(`${definitions}/${definition}`)).status).toBe(200);
  });

  test("are refused twice, and for what is not of the project", async () => {
    const { it, one, add } = await withGroups();
    await add(paid, one.id);
    const refusals = [await add(paid, one.id), await add("paid", one.id), await add(elsewhere, one.id)];
    refusals.push(await add(paid, elsewhere), await it.post(schemas, { event_definition: paid }));
    expect(refusals.map(({ status, json }) => [status, json.attr, json.detail])).toEqual([
      [400, null, "Property group 'Order' is already added to this event schema"],
      [400, "event_definition", "“paid” is not a valid UUID."],
      [400, "event_definition", `Invalid pk "${elsewhere}" - object does not exist.`],
      [400, "property_group_id", `Invalid pk "${elsewhere}" - object does not exist.`],
      [400, "property_group_id", "This field is required."],
    ]);
    expect((await it.get(schemas)).json.count).toBe(1);
  });

  test("need the scope of event definitions", async () => {
    const { json } = await sim().get(schemas, { key: "phx_nothing" });
    expect(json.detail).toBe("API key missing required scope 'event_definition:read'");
  });
});
