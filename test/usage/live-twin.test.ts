import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startSim } from "../../src/index.ts";
import { endAll, newFolder, runHere } from "../support/phx-sim.ts";

afterEach(endAll);

const output = (name: string): string => readFileSync(join(import.meta.dirname, "output", name), "utf8");

const filtersOf = (key: string, value: string, share = 50) => ({
  groups: [
    {
      properties: [{ key, type: "person", operator: "exact", value: [value] }],
      rollout_percentage: share,
    },
  ],
});

/** A sim stands for the live project. */
const live = () =>
  startSim({
    scenario: {
      version: 1,
      organizations: [
        {
          name: "Acme",
          projects: [
            {
              id: 12345,
              name: "Shop",
              api_key: "phc_shop",
              persons: [{ distinct_ids: ["anna"] }],
              flags: {
                "new-checkout": { id: 1, filters: filtersOf("plan", "pro") },
                preview: { id: 2, filters: filtersOf("email", "anna@example.com") },
              },
              cohorts: [{ id: 9, name: "Friends", is_static: true, persons: ["anna"] }],
              actions: [{ id: 5, name: "Paid", steps: [{ event: "order_completed" }] }],
              insights: [
                {
                  id: 31,
                  name: "Orders by week",
                  query: {
                    kind: "InsightVizNode",
                    source: {
                      kind: "TrendsQuery",
                      series: [{ kind: "EventsNode", event: "order_completed" }],
                    },
                  },
                },
                {
                  id: 32,
                  name: "Revenue",
                  query: {
                    kind: "DataVisualizationNode",
                    source: {
                      kind: "HogQLQuery",
                      query: "SELECT sum(properties.amount) FROM events WHERE event = 'order_completed'",
                    },
                  },
                },
                {
                  id: 33,
                  name: "Paying",
                  query: {
                    kind: "InsightVizNode",
                    source: { kind: "TrendsQuery", series: [{ kind: "ActionsNode", id: 5 }] },
                  },
                },
              ],
            },
          ],
        },
      ],
      personal_api_keys: [{ key: "phx_live", scopes: ["*"] }],
    },
  });

test("pull, check, impact", async () => {
  await using service = await live();
  const cwd = newFolder();
  const run = (...args: string[]) =>
    runHere(args, { isOwn: true, cwd, env: { POSTHOG_PERSONAL_API_KEY: "phx_live" } });
  const upstream = ["--upstream", service.url, "--project", "12345"];

  const pulled = await run("pull", ...upstream);
  const said = (pulled.stderr + pulled.stdout).replace(/^not offered by this upstream: .*\n/m, "");
  expect(said).toBe(output("pull.txt"));

  const changed = await fetch(`${service.url}/api/projects/12345/feature_flags/1/`, {
    method: "PATCH",
    headers: { authorization: "Bearer phx_live", "content-type": "application/json" },
    body: JSON.stringify({ filters: filtersOf("plan", "pro", 80) }),
  });
  expect(changed.status).toBe(200);
  const checked = await run("pull", ...upstream, "--check");
  expect(checked.stdout).toBe(output("pull-check.txt"));
  expect(checked.code).toBe(1);

  const head = '{"phx_sim_baseline":1}\n';
  const order = '{"test":"an order","event":"order_completed","count":1,"properties":{"amount":"number"}}\n';
  writeFileSync(join(cwd, "main.ndjson"), head + order);
  writeFileSync(join(cwd, "analytics.baseline.ndjson"), `${head}{"test":"an order"}\n`);
  const found = await run("impact", "main.ndjson");
  expect(found.stdout).toBe(output("impact.txt"));
  expect(found.code).toBe(1);
});
