import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Scenario, startSim } from "../../../src/index.ts";
import { key, newFolder, phxSim } from "./command-line.ts";

const series = (...nodes: object[]) => ({ kind: "InsightVizNode", source: { kind: "TrendsQuery", series: nodes } });
const event = (name: string, more: object = {}) => ({ kind: "EventsNode", event: name, ...more });
const hogql = (query: string) => ({ kind: "DataVisualizationNode", source: { kind: "HogQLQuery", query } });

const scenario = {
  version: 1,
  organizations: [
    {
      name: "Live",
      projects: [
        {
          id: 7,
          name: "Shop",
          api_key: "phc_live",
          group_types: ["company"],
          actions: [
            { id: 51, name: "Bought", steps: [{ event: "order_completed" }] },
            { id: 52, name: "Signed up", steps: [{ event: "signed_up" }] },
          ],
          cohorts: [
            {
              id: 31,
              name: "Buyers",
              filters: {
                properties: {
                  type: "AND",
                  values: [
                    {
                      type: "behavioral",
                      key: "order_completed",
                      value: "performed_event",
                      event_type: "events",
                      time_value: 30,
                      time_interval: "day",
                    },
                  ],
                },
              },
            },
            {
              id: 32,
              name: "Old",
              filters: {
                properties: {
                  type: "AND",
                  values: [{ key: "plan", type: "person", operator: "exact", value: ["old"] }],
                },
              },
            },
          ],
          flags: {
            "for-buyers": {
              filters: { groups: [{ properties: [{ key: "id", type: "cohort", operator: "in", value: 31 }] }] },
            },
            "for-big": {
              filters: {
                aggregation_group_type_index: 0,
                groups: [
                  { properties: [{ key: "size", type: "group", group_type_index: 0, operator: "gt", value: 10 }] },
                ],
              },
            },
          },
          surveys: [
            {
              id: "0195a000-7000-7000-8000-0000000000a1",
              name: "After the order",
              type: "popover",
              questions: [],
              conditions: { events: { values: [{ name: "order_completed" }] } },
            },
          ],
          insights: [
            { id: 61, name: "Orders", query: series(event("order_completed")) },
            {
              id: 62,
              name: "Revenue",
              query: hogql("select sum(properties.amount) from events where event = 'order_completed'"),
            },
            { id: 63, name: "By action", query: series({ kind: "ActionsNode", id: 51 }) },
            { id: 64, name: "Signups", query: series(event("signed_up")) },
            { id: 65, name: "Carts", query: series(event("cart_filled", { math: "sum", math_property: "items" })) },
            {
              id: 66,
              name: "By items",
              query: {
                kind: "InsightVizNode",
                source: {
                  kind: "TrendsQuery",
                  series: [event("signed_up")],
                  breakdownFilter: { breakdown: "items", breakdown_type: "event" },
                },
              },
            },
            {
              id: 67,
              name: "Retention",
              query: {
                kind: "InsightVizNode",
                source: {
                  kind: "RetentionQuery",
                  retentionFilter: {
                    targetEntity: { id: "signed_up", type: "events" },
                    returningEntity: { id: "order_completed", type: "events" },
                  },
                },
              },
            },
            {
              id: 68,
              name: "Unrelated",
              query: hogql("select properties.amounts from events where event = 'order_completed_2'"),
            },
          ],
        },
      ],
    },
  ],
  personal_api_keys: [{ key, scopes: ["*"] }],
} as unknown as Scenario;

const baseline = (lines: readonly object[]): string =>
  [{ phx_sim_baseline: 1 }, ...lines].map((it) => `${JSON.stringify(it)}\n`).join("");

const line = (name: string, properties: Record<string, string> = {}) => ({
  test: "a test",
  event: name,
  count: 1,
  ...(Object.keys(properties).length > 0 && { properties }),
});

const before = baseline([
  line("order_completed", { amount: "number" }),
  line("signed_up"),
  line("cart_filled", { items: "number", "$set.plan": "string" }),
  { test: "a test", identity: "group company", count: 1, properties: { size: "number" } },
]);

async function folderWith(after: string): Promise<{ cwd: string; url: string }> {
  const sim = await startSim({ scenario, port: 0 });
  onTestFinished(() => sim.close());
  const cwd = newFolder();
  writeFileSync(join(cwd, "main.ndjson"), before);
  writeFileSync(join(cwd, "analytics.baseline.ndjson"), after);
  return { cwd, url: sim.url };
}

const withoutOrders = baseline([
  line("signed_up"),
  line("cart_filled", { items: "number", "$set.plan": "string" }),
  { test: "a test", identity: "group company", count: 1, properties: { size: "number" } },
]);

const ofOrders = [
  "event order_completed: used 8×",
  '  action 51 "Bought": steps[0].event',
  '  cohort 31 "Buyers": filters.properties.values[0].key',
  '  survey 0195a000-7000-7000-8000-0000000000a1 "After the order": conditions.events.values[0].name',
  '  insight 61 "Orders": query.source.series[0].event',
  '  insight 62 "Revenue": query.source.query (mentioned in HogQL)',
  '  insight 63 "By action": query.source.series[0].id (action 51)',
  '  insight 67 "Retention": query.source.retentionFilter.returningEntity.id',
  "  flag for-buyers: filters.groups[0].properties[0].value (cohort 31)",
];

describe("phx-sim impact", () => {
  test("an event that is not sent any more: in known places, in HogQL, through actions and cohorts", async () => {
    const { cwd, url } = await folderWith(withoutOrders);
    const args = ["impact", "main.ndjson", "--upstream", url, "--project", "7"];
    const { code, stdout, stderr } = await phxSim(args, cwd);
    expect(stderr).toBe("");
    expect(stdout.trimEnd().split("\n").sort()).toEqual([...ofOrders].sort());
    expect(code).toBe(1);
  });

  test("the same against a pulled file, without a request", async () => {
    const { cwd, url } = await folderWith(withoutOrders);
    await phxSim(["pull", "--upstream", url, "--project", "7"], cwd);
    const { code, stdout } = await phxSim(["impact", "main.ndjson"], cwd, {});
    expect(stdout.trimEnd().split("\n").sort()).toEqual([...ofOrders].sort());
    expect(code).toBe(1);
  });

  test("properties of events, persons and groups", async () => {
    const { cwd, url } = await folderWith(
      baseline([line("order_completed", { amount: "number" }), line("signed_up"), line("cart_filled")]),
    );
    const args = ["impact", "main.ndjson", "--upstream", url, "--project", "7", "--json"];
    const { code, stdout } = await phxSim(args, cwd);
    const { removed, affected } = JSON.parse(stdout);
    expect(removed).toEqual([
      { what: "property", name: "items", of: "cart_filled" },
      { what: "person property", name: "plan", of: null },
      { what: "group property", name: "size", of: "company" },
    ]);
    // 66 breaks another event down by a property of this name
    expect(affected.map((it: { kind: string; id: string; path: string }) => [it.kind, it.id, it.path])).toEqual([
      ["insight", "65", "query.source.series[0].math_property"],
      ["cohort", "32", "filters.properties.values[0].key"],
      ["flag", "for-big", "filters.groups[0].properties[0].key"],
    ]);
    expect(code).toBe(1);
  });

  test("a property that only HogQL names is a mention; one with a longer name is none", async () => {
    const { cwd, url } = await folderWith(
      baseline([
        line("order_completed"),
        line("signed_up"),
        line("cart_filled", { items: "number", "$set.plan": "string" }),
        { test: "a test", identity: "group company", count: 1, properties: { size: "number" } },
      ]),
    );
    const { stdout } = await phxSim(["impact", "main.ndjson", "--upstream", url, "--project", "7"], cwd);
    expect(stdout).toBe(
      'property amount of order_completed: used 1×\n  insight 62 "Revenue": query.source.query (mentioned in HogQL)\n',
    );
  });

  test("nothing is removed: exit code 0; a test that did not run removes nothing, unless the run is complete", async () => {
    const { cwd, url } = await folderWith(baseline([{ test: "another test" }]));
    const args = ["impact", "main.ndjson", "--upstream", url, "--project", "7"];
    const { code, stdout } = await phxSim(args, cwd);
    expect(stdout).toBe("no event and no property is removed\n");
    expect(code).toBe(0);
    expect((await phxSim([...args, "--complete"], cwd)).code).toBe(1);
  });

  test("a file that is missing", async () => {
    const { cwd } = await folderWith(withoutOrders);
    const noFile = await phxSim(["impact", "main.ndjson"], cwd);
    expect(noFile.stderr).toBe("phx-sim: there is no twin.json; `phx-sim pull` writes it\n");
    expect(noFile.code).toBe(2);
    const noBaseline = await phxSim(["impact", "gone.ndjson"], cwd);
    expect(noBaseline.stderr).toContain("there is no baseline gone.ndjson");
    expect(noBaseline.code).toBe(2);
  });
});
