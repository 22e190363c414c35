import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../src/index.ts";
import type { JsonSchema } from "../../src/kernel/http/endpoint.ts";

/** Names that every object has, and objects that no text can be made of. */
const words = ["constructor", "__proto__"];
const objects = ['{"toString": 1}', '[{"toString": 1}]'];

let sim: Sim;
const crashes: string[] = [];
beforeAll(async () => {
  const world: SimOptions["scenario"] = {
    version: 1,
    personal_api_keys: [{ key: "phx_of_mine", scopes: ["*"] }],
    organizations: [
      {
        name: "Org",
        projects: [
          {
            id: 1,
            name: "Web",
            api_key: "phc_web",
            flags: { beta: { rollout: 50 } },
            cohorts: [{ id: 1, name: "All", filters: { properties: { type: "OR", values: [] } } }],
            insights: [{ id: 1, name: "Signups", query: { kind: "InsightVizNode" } }],
            dashboards: [{ id: 1, name: "Board", tiles: [{ insight: "Signups" }] }],
            persons: [{ distinct_ids: ["u"], properties: { plan: "pro" } }],
          },
        ],
      },
    ],
  };
  sim = await startSim({ scenario: world, onNotice: (it) => crashes.push(it) });
});
afterAll(() => sim.close());

const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null;

/** Paths of the fields that a schema names, down to `depth`; an entry of a list is `0`. */
function fieldsOf(schema: unknown, depth = 2): string[][] {
  if (!isSchema(schema) || depth === 0) return [];
  const inner = Object.entries(isSchema(schema.properties) ? schema.properties : {}).flatMap(([name, it]) => [
    [name],
    ...fieldsOf(it, depth - 1).map((path) => [name, ...path]),
  ]);
  const entries = fieldsOf(schema.items, depth - 1).map((path) => ["0", ...path]);
  const forms = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((it) => (Array.isArray(it) ? it : []));
  return [...inner, ...entries, ...forms.flatMap((it) => fieldsOf(it, depth))];
}

/** `["tiles", "0", "type"]` and a value become `{"tiles": [{"type": value}]}`. */
const bodyWith = (path: readonly string[], value: string): string =>
  path.reduceRight((inner, step) => (step === "0" ? `[${inner}]` : `{${JSON.stringify(step)}: ${inner}}`), value);

const targetOf = (path: string): string => path.replace(/:organization_id/g, "@current").replace(/:(\w+)/g, "1");

/** Queries first: they read the journal, which bodies fill. */
async function* requests(): AsyncGenerator<[method: string, target: string, body?: string]> {
  // Some rows end the state that the others need, or wait; /api/environments has the handlers of /api/projects.
  const rows = (await sim.endpoints()).filter(
    ({ path }) => !/^\/api\/environments\/|\/(reset|restore|state|stream|settle|wait|scenario)\b|:name/.test(path),
  );
  for (const { path, docs } of rows.filter(({ methods }) => methods.includes("GET")))
    for (const { name } of docs?.().query ?? [])
      for (const value of words) yield ["GET", `${targetOf(path)}?${name}=${value}`];
  for (const { methods, path, docs } of rows)
    for (const method of methods.filter((it) => /POST|PUT|PATCH/.test(it)))
      for (const field of fieldsOf(docs?.().body?.schema))
        for (const value of [...objects, ...words.map((it) => JSON.stringify(it))])
          yield [method, targetOf(path), bodyWith(field, value)];
}

test("no endpoint fails on them, wherever a body or a query has a name", async () => {
  const headers = { authorization: `Bearer ${sim.personalApiKey}`, "content-type": "application/json" };
  const failed: string[] = [];
  let count = 0;
  for await (const [method, target, body] of requests()) {
    count++;
    const request = new Request(`http://sim${target}`, { method, headers, ...(body && { body }) });
    if ((await sim.handle(request)).status === 500) failed.push(`${method} ${target} ${body ?? ""}`);
  }
  expect(count).toBeGreaterThan(1_000);
  expect({ failed, crashes }).toEqual({ failed: [], crashes: [] });
});

test("a method of such a name", async () => {
  const headers = { authorization: "Bearer phx_of_mine" };
  const target = "http://sim/api/projects/1/dashboards/";
  const { status } = await sim.handle(new Request(target, { method: "constructor", headers }));
  expect([status, crashes]).toEqual([403, []]);
});

test("a flag with a hostile holdout is decided and explained", async () => {
  const headers = { authorization: "Bearer phx_of_mine", "content-type": "application/json" };
  const ask = (target: string, body?: string) =>
    sim.handle(new Request(`http://sim${target}`, { method: body ? "POST" : "GET", headers, ...(body && { body }) }));
  const holdout = '{"id": {"toString": 1}, "exclusion_percentage": 100}';
  const filters = `{"groups": [{"rollout_percentage": 100}], "holdout": ${holdout}}`;
  await ask("/api/projects/1/feature_flags/", `{"key": "held", "filters": ${filters}}`);
  const statuses = [
    await ask("/flags/?v=2", '{"api_key": "phc_web", "distinct_id": "u"}'),
    await ask("/__sim/flags"),
    await ask("/__sim/flags/held/explain?distinct_id=u"),
  ].map(({ status }) => status);
  expect(statuses).not.toContain(500);
  expect(crashes).toEqual([]);
});
