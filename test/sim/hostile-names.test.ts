import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonSchema } from "../../src/http/endpoint.ts";
import { type Sim, type SimOptions, startSim } from "../../src/index.ts";

/** Names that every object has, and objects that no text can be made of. */
const hostile = [
  '{"toString": 1}',
  '[{"toString": 1}]',
  '{"__proto__": {"x": 1}, "constructor": 1}',
  '"constructor"',
  '"__proto__"',
  '"hasOwnProperty"',
];

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
  path.reduceRight(
    (inner, step) => (step === "0" ? `[${inner}]` : `{${JSON.stringify(step)}: ${inner}}`),
    value,
  );

const targetOf = (path: string): string =>
  path.replace(/:organization_id/g, "@current").replace(/:(\w+)/g, "1");

test("no endpoint fails on them, wherever a body or a query has a name", async () => {
  const headers = { authorization: `Bearer ${sim.personalApiKey}`, "content-type": "application/json" };
  const send = (method: string, target: string, body?: string) =>
    sim.handle(new Request(`http://sim${target}`, { method, headers, ...(body !== undefined && { body }) }));
  const ended: string[] = [];
  let count = 0;
  for (const { methods, path, docs } of await sim.endpoints()) {
    // These end the state that the others need, or wait; /api/environments has the handlers of /api/projects.
    if (/^\/api\/environments\/|\/(reset|restore|state|stream|settle|wait|scenario)\b|:name/.test(path))
      continue;
    const target = targetOf(path);
    const { body, query = [] } = docs?.() ?? {};
    for (const method of methods) {
      const bodies = method === "GET" || method === "DELETE" ? [] : fieldsOf(body?.schema);
      const asked = hostile.flatMap((value) => [
        ...bodies.map((it): [string, string] => [target, bodyWith(it, value)]),
        ...query.map(({ name }): [string, undefined] => [
          `${target}?${name}=${encodeURIComponent(value.replaceAll('"', ""))}`,
          undefined,
        ]),
      ]);
      for (const [to, text] of asked) {
        count++;
        const { status } = await send(method, to, text);
        if (status === 500) ended.push(`${method} ${to} ${text ?? ""}`);
      }
    }
  }
  expect(count).toBeGreaterThan(1_000);
  expect({ ended, crashes }).toEqual({ ended: [], crashes: [] });
});

test("a flag with a hostile holdout is decided and explained", async () => {
  const headers = { authorization: "Bearer phx_of_mine", "content-type": "application/json" };
  const ask = (target: string, body?: string) =>
    sim.handle(
      new Request(`http://sim${target}`, { method: body ? "POST" : "GET", headers, ...(body && { body }) }),
    );
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
