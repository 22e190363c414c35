import { describe, expect, test } from "vitest";
import { resourceOf } from "../../../src/state/documents/resources.ts";
import type { StoredEvent } from "../../../src/state/journal/event.ts";
import { manage } from "./manage.ts";
import { twoOrganizations } from "./world.ts";

const events = "/api/projects/1/event_definitions";
const properties = "/api/projects/1/property_definitions";

const received = "2026-03-04T05:06:07.089Z";

const eventOf = (seq: number, event: string, own: StoredEvent["properties"] = {}, at = received): StoredEvent => ({
  seq,
  outcome: "kept",
  reason: null,
  detail: null,
  warnings: [],
  project: 1,
  uuid: null,
  event,
  distinct_id: "d",
  timestamp: at,
  received_at: at,
  person_id: null,
  person_mode: "full",
  properties: own,
  request: seq,
});

/** Events of the sim grow when the test adds some. */
function sim() {
  const world = twoOrganizations();
  world.resources.push(
    resourceOf("event_definitions", 1, "11111111-1111-4111-8111-111111111111", {
      name: "planned",
      description: "Not captured yet",
      tags: ["plan"],
    }),
    resourceOf("property_definitions", 1, "22222222-2222-4222-8222-222222222222", {
      name: "plan",
      property_type: "String",
      description: "The plan",
    }),
    resourceOf("event_definitions", 2, "33333333-3333-4333-8333-333333333333", { name: "foreign" }),
  );
  const captured = [
    eventOf(1, "$pageview", { $current_url: "/", price: 3 }, "2026-01-04T05:06:07.089Z"),
    eventOf(2, "order paid", { price: 3, plan: "pro", at: "2026-01-01", $set: { vip: true }, $feature_x: 1 }),
    eventOf(3, "order paid", { price: "free", created_at: 1_900_000_000, "$feature/beta": true }),
    eventOf(4, "$groupidentify", { $group_type: "company", $group_set: { seats: 4 } }),
  ];
  const it = manage({ world, events: captured });
  it.people.addGroupType(1, "company");
  return { ...it, captured };
}

const names = (answer: { json: { results: { name: string }[] } }): string[] => answer.json.results.map((it) => it.name);

test("captured events and defined ones are listed, the last seen first", async () => {
  const it = sim();
  const { status, json } = await it.get(events);
  expect(status).toBe(200);
  expect(json).toMatchObject({ count: 4, next: null });
  expect(json.results[0]).toMatchObject({ name: "$groupidentify" });
  expect(json.results[1]).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: "order paid",
    description: null,
    tags: [],
    owner: null,
    created_at: "2026-03-04T05:06:07.089000Z",
    last_seen_at: "2026-03-04T05:06:07.089000Z",
    updated_at: null,
    updated_by: null,
    verified: false,
    verified_at: null,
    verified_by: null,
    hidden: null,
    enforcement_mode: "allow",
    primary_property: null,
    default_columns: [],
    is_action: false,
    post_to_slack: false,
    media_preview_urls: [],
  });
  expect(json.results.at(-1)).toMatchObject({
    name: "planned",
    description: "Not captured yet",
    created_at: null,
    last_seen_at: null,
  });
});

test.each([
  ["search=ORDER%20pa", ["order paid"]],
  ['tags=["plan"]', ["planned"]],
  ["limit=1", ["$groupidentify"]],
])("the list of events: %s", async (query, expected) => {
  expect(names(await sim().get(`${events}?${query}`))).toEqual(expected);
});

const orderPaid = async (it: ReturnType<typeof sim>) => (await it.get(`${events}?search=order%20paid`)).json.results[0];

test("edits of a captured event are stored, and stay when it is captured again", async () => {
  const it = sim();
  const found = await orderPaid(it);
  const body = { description: "An order", tags: ["Sales", "core"], verified: true, owner: 1, name: "other" };
  const changed = await it.patch(`${events}/${found.id}/`, body);
  expect(changed.json).toMatchObject({
    id: found.id,
    name: "order paid",
    description: "An order",
    tags: ["core", "sales"],
    verified: true,
    verified_by: { id: 1 },
    owner: { id: 1 },
    updated_by: { id: 1 },
    last_seen_at: "2026-03-04T05:06:07.089000Z",
  });
  it.captured.push(eventOf(5, "order paid", {}, "2026-03-05T00:00:00.000Z"));
  const { json } = await it.get(`${events}/${found.id}`);
  expect(json).toMatchObject({ description: "An order", last_seen_at: "2026-03-05T00:00:00Z" });
  const hidden = await it.patch(`${events}/${found.id}`, { hidden: true });
  expect(hidden.json).toMatchObject({ hidden: true, verified: false, verified_at: null, verified_by: null });
  expect(names(await it.get(`${events}?exclude_hidden=true`))).not.toContain("order paid");
});

test("a deleted definition exists again once its event is captured again", async () => {
  const it = sim();
  const found = await orderPaid(it);
  await it.patch(`${events}/${found.id}`, { description: "An order" });
  expect((await it.delete(`${events}/${found.id}`)).status).toBe(204);
  expect((await it.get(`${events}/${found.id}`)).status).toBe(404);
  expect(names(await it.get(events))).not.toContain("order paid");
  it.captured.push(eventOf(5, "order paid"));
  expect(await orderPaid(it)).toMatchObject({ description: null });
});

test("an event is defined before it is captured", async () => {
  const it = sim();
  const { status, json } = await it.post(`${events}/`, { name: "signed up", description: "New user" });
  expect(status).toBe(201);
  expect(json).toMatchObject({ name: "signed up", created_at: null, last_seen_at: null, updated_by: { id: 1 } });
  it.captured.push(eventOf(5, "signed up"));
  const { json: after } = await it.get(`${events}/${json.id}`);
  expect(after).toMatchObject({ id: json.id, description: "New user", last_seen_at: "2026-03-04T05:06:07.089000Z" });
  expect((await it.delete(`${events}/${json.id}`)).status).toBe(204);
});

test.each([
  [{}, "name", "This field is required."],
  [{ name: "planned" }, "name", "Event definition with name 'planned' already exists"],
  [{ name: "$pageview" }, "name", "Event definition with name '$pageview' already exists"],
  [{ name: "x".repeat(401) }, "name", "Ensure this field has no more than 400 characters."],
  [{ name: "n", owner: 99 }, "owner", 'Invalid pk "99" - object does not exist.'],
  [{ name: "n", hidden: true, verified: true }, null, "An event cannot be both hidden and verified"],
  [
    { name: "n", enforcement_mode: "reject" },
    null,
    'Setting schema enforcement mode to "reject" requires the schema-enforcement-reject feature flag',
  ],
])("the definition %j of an event is refused", async (body, attr, detail) => {
  const { status, json } = await sim().post(events, body);
  expect([status, json.attr, json.detail]).toEqual([400, attr, detail]);
});

test("properties have the type that their first value shows", async () => {
  const it = sim();
  const { json } = await it.get(properties);
  const rows = json.results.map((one: Record<string, unknown>) => [one.name, one.property_type, one.is_numerical]);
  expect(rows).toEqual([
    ["$current_url", "String", false],
    ["$feature/beta", "String", false],
    ["$feature_x", "Numeric", true],
    ["at", "DateTime", false],
    ["created_at", "DateTime", false],
    ["plan", "String", false],
    ["price", "Numeric", true],
  ]);
  expect(json.results[5]).toEqual({
    id: "22222222-2222-4222-8222-222222222222",
    name: "plan",
    description: "The plan",
    tags: [],
    property_type: "String",
    is_numerical: false,
    is_seen_on_filtered_events: null,
    updated_at: null,
    updated_by: null,
    verified: false,
    verified_at: null,
    verified_by: null,
    hidden: null,
  });
});

describe("the list of properties", () => {
  test.each([
    ["type=person", ["vip"]],
    ["type=group&group_type_index=0", ["seats"]],
    ["type=group&group_type_index=1", []],
    ["type=session", []],
    ["search=RI", ["price"]],
  ])("%s", async (query, expected) => {
    expect(names(await sim().get(`${properties}?${query}`))).toEqual(expected);
  });

  test.each([
    ["type=cohort", "type", '"cohort" is not a valid choice.'],
    ["type=group", null, "`group_type_index` must be set for `group` type"],
  ])("refuses %s", async (query, attr, detail) => {
    const { status, json } = await sim().get(`${properties}?${query}`);
    expect([status, json.attr, json.detail]).toEqual([400, attr, detail]);
  });
});

test("a property is changed and deleted, and not created", async () => {
  const it = sim();
  const { json } = await it.get(`${properties}?search=price`);
  const path = `${properties}/${json.results[0].id}/`;
  const changed = await it.patch(path, { property_type: "String", tags: ["Money"], verified: true });
  expect(changed.json).toMatchObject({
    property_type: "String",
    is_numerical: false,
    tags: ["money"],
    verified: true,
    verified_by: { id: 1 },
  });
  expect(names(await it.get(properties))[0]).toBe("price");
  const both = await it.patch(path, { hidden: true, verified: true });
  expect([both.status, both.json.detail]).toEqual([400, "A property cannot be both hidden and verified"]);
  expect((await it.delete(path)).status).toBe(204);
  expect(names(await it.get(properties))).not.toContain("price");
  it.captured.push(eventOf(6, "x", { price: 1 }));
  expect(names(await it.get(properties))).toContain("price");
  expect((await it.post(properties, { name: "new" })).status).toBe(403);
});

test("definitions of another project are not found", async () => {
  const { status } = await sim().get(`${events}/33333333-3333-4333-8333-333333333333`);
  expect(status).toBe(404);
});
