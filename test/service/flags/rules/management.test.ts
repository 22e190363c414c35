import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { manage } from "../../management/manage.ts";
import { twoOrganizations } from "../../management/world.ts";
import { document, experiment, percentage, targeted } from "./documents.ts";

const root = "/api/projects/1/feature_flags";

/** A rule as a client sends a new one: the service makes its id and its seed. */
const fresh = ({ id: _id, seed: _seed, ...rule }: JsonObject): JsonObject => rule;
const body = (...rules: JsonObject[]) => ({ key: "next", filters: document(rules) });
const rulesIn = (json: unknown) => (json as { filters: { rules: JsonObject[] } }).filters.rules;

const start = () => manage({ world: twoOrganizations() });
const uuid = /^[0-9a-f-]{36}$/;

test("new rules get ids and seeds, which later requests send back", async () => {
  const { post, ask } = start();
  const holdout = { id: null, exclusion_percentage: 1 };
  const made = await post(`${root}/`, body(...[targeted(), percentage(), experiment({ holdout })].map(fresh)));
  expect(made.status).toBe(201);
  const rules = rulesIn(made.json);
  expect(rules).toMatchObject([
    { id: expect.stringMatching(uuid) },
    { id: expect.stringMatching(uuid), seed: expect.stringMatching(uuid) },
    { id: expect.stringMatching(uuid), holdout: { seed: expect.stringMatching(uuid) } },
  ]);
  expect(rules[0]).not.toHaveProperty("seed");
  const path = `${root}/${(made.json as { id: number }).id}/`;

  const [first = {}, second = {}, third = {}] = rules;
  const { seed: _seed, ...withoutSeed } = second;
  const changed = { ...withoutSeed, rollout_percentage: 60 };
  const next = await ask("PATCH", path, { body: { filters: document([third, changed, fresh(first)]) } });
  expect(next.status).toBe(200);
  expect(rulesIn(next.json)).toMatchObject([third, { id: second.id, seed: second.seed, rollout_percentage: 60 }, {}]);
  expect(rulesIn(next.json)[2]?.id).not.toBe(first.id);

  const other = await ask("PATCH", path, { body: { filters: document([{ ...second, seed: "mine" }]) } });
  expect([other.status, other.json]).toEqual([
    400,
    {
      type: "validation_error",
      code: "invalid",
      detail: "Cannot be changed; resetting assignment is a separate operation.",
      attr: "filters.rules[0].seed",
    },
  ]);
  const twice = await ask("PATCH", path, { body: { filters: document([second, second]) } });
  expect([twice.status, twice.json]).toMatchObject([400, { code: "not_unique", attr: "filters.rules[1].id" }]);
});

test.each([
  ["an id of one's own", targeted(), "invalid", "filters.rules[0].id"],
  ["a seed of one's own", { ...fresh(percentage()), seed: "mine" }, "invalid", "filters.rules[0].seed"],
  [
    "a missing key",
    fresh({ ...percentage(), on_rollout_miss: undefined as never }),
    "required",
    "filters.rules[0].on_rollout_miss",
  ],
  ["an unknown key", fresh({ ...targeted(), groups: [] }), "unknown_field", "filters.rules[0].groups"],
  ["a linked experiment", fresh(experiment({ experiment_id: 1 })), "unsupported", "filters.rules[0].experiment_id"],
  [
    "too many properties",
    fresh(targeted(true, Array(101).fill({}))),
    "limit_exceeded",
    "filters.rules[0].targeting.properties",
  ],
] as [string, JsonObject, string, string][])("%s is refused", async (_name, rule, code, attr) => {
  const { post, worlds } = start();
  const before = worlds.current.feature_flags;
  const { status, json } = await post(`${root}/`, body(rule));
  expect([status, json]).toEqual([400, { type: "validation_error", code, detail: expect.any(String), attr }]);
  expect(worlds.current.feature_flags).toEqual(before);
});

test("a flag changes from condition sets to rules and back", async () => {
  const { post, ask } = start();
  const made = await post(`${root}/`, { key: "k", filters: { groups: [{ properties: [] }] } });
  const path = `${root}/${(made.json as { id: number }).id}/`;
  const rules = await ask("PATCH", path, { body: { filters: document([fresh(targeted())]) } });
  expect(rules.json).toMatchObject({ filters: { version: 2 } });
  // an id of another flag is none of its own
  const foreign = await ask("PUT", path, { body: { key: "k", filters: document([targeted(true, [], 9)]) } });
  expect([foreign.status, foreign.json]).toMatchObject([400, { attr: "filters.rules[0].id" }]);
  const sets = await ask("PATCH", path, { body: { filters: { groups: [{ properties: [] }] } } });
  expect(sets.json).toMatchObject({ filters: { groups: [{ properties: [] }] } });
  expect((sets.json as { filters: object }).filters).not.toHaveProperty("rules");
});
