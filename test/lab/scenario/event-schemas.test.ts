import { expect, test } from "vitest";
import { loadScenario } from "../../../src/lab/scenario/load.ts";
import { type Scenario, worldOf } from "../../../src/lab/scenario/scenario.ts";
import { manage } from "../../service/management/manage.ts";

const api = "/api/projects/1";

function shop(event_schemas: object[]): Scenario {
  const groups = [{ name: "Order", properties: [{ name: "total", property_type: "Numeric" }] }];
  const own = { event_definitions: [{ name: "paid" }], schema_property_groups: groups, event_schemas };
  return {
    version: 1,
    users: [{ email: "ada@example.test" }],
    organizations: [{ name: "Acme", projects: [{ name: "Shop", api_key: "phc_shop", ...own }] }],
    personal_api_keys: [{ key: "phx_ada", scopes: ["*"] }],
  } as Scenario;
}

test("event schemas name their event and their group", async () => {
  const it = manage({ world: worldOf(shop([{ event_definition: "paid", property_group_id: "Order" }])) });
  const [definition] = (await it.get(`${api}/event_definitions?search=paid`)).json.results;
  const [schema] = (await it.get(`${api}/event_schemas`)).json.results;
  expect(schema).toMatchObject({
    event_definition: definition.id,
    property_group: { name: "Order", description: "", events: [{ id: definition.id, name: "paid" }] },
  });
  const time = schema.created_at;
  const usual = { is_required: false, is_optional_in_types: false, validation_rules: null, description: "" };
  expect(schema.property_group.properties).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "total",
      property_type: "Numeric",
      ...usual,
      created_at: time,
      updated_at: time,
    },
  ]);
  const again = (await it.get(`${api}/event_schemas`)).json.results[0];
  expect(again).toEqual(schema);
});

const place = "/organizations/0/projects/0/event_schemas";

test.each([
  [
    [{ event_definition: "sent", property_group_id: "Order" }],
    `${place}/0/event_definition: "sent" is none of the project's event_definitions; add it to \`event_definitions\``,
  ],
  [
    [{ event_definition: "paid", property_group_id: "Other" }],
    `${place}/0/property_group_id: "Other" is none of the project's schema_property_groups; add it to \`schema_property_groups\``,
  ],
  [
    [
      { event_definition: "paid", property_group_id: "Order" },
      { event_definition: "paid", property_group_id: "Order" },
    ],
    `${place}/1: the same event and group as event_schemas/0`,
  ],
])("%j are refused", async (schemas, line) => {
  const error: unknown = await loadScenario(shop(schemas)).catch((it: unknown) => it);
  expect(String(error)).toContain(line);
});
