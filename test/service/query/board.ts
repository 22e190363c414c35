import { type Sim, startSim } from "../../../src/index.ts";

const events = (...names: string[]) => names.map((event) => ({ kind: "EventsNode", event }));
const viz = (source: object) => ({ kind: "InsightVizNode", source });

/** A project with insights of several kinds, and a shared dashboard with filters that shows them. */
const insightScenario = {
  users: [{ email: "dev@phx-sim.test" }],
  organizations: [
    {
      name: "Shop",
      members: { "dev@phx-sim.test": "owner" as const },
      projects: [
        {
          name: "Shop",
          api_key: "phc_shop",
          insights: [
            {
              name: "Basket to order",
              id: 11,
              query: viz({ kind: "FunnelsQuery", series: events("basket", "checkout", "order") }),
            },
            {
              name: "Orders by plan",
              id: 12,
              query: viz({
                kind: "TrendsQuery",
                series: events("order"),
                breakdownFilter: { breakdown: "plan", breakdown_type: "event" },
              }),
            },
            {
              name: "Orders",
              id: 13,
              query: viz({ kind: "TrendsQuery", series: events("order"), trendsFilter: { display: "BoldNumber" } }),
            },
            {
              name: "Plans",
              id: 14,
              query: {
                kind: "DataVisualizationNode",
                source: {
                  kind: "HogQLQuery",
                  query:
                    "SELECT properties.plan AS plan, count() AS n FROM events WHERE event = {variables.name} AND {filters} GROUP BY plan ORDER BY plan DESC",
                  variables: { v1: { code_name: "name", variableId: "v1", value: "order" } },
                },
              },
            },
            { name: "Broken", id: 15, query: { kind: "HogQLQuery", query: "SELECT nope FROM events" } },
            { name: "Paths", id: 16, query: viz({ kind: "PathsQuery" }) },
            { name: "Old", id: 17, filters: { insight: "TRENDS" } },
          ],
          dashboards: [
            {
              name: "Sales",
              id: 21,
              filters: { properties: [{ key: "plan", value: ["pro"], operator: "exact", type: "event" }] },
              sharing: { enabled: true, access_token: "sales" },
              tiles: [{ insight: "Orders" }, { insight: "Plans" }, { insight: "Broken" }, { text: "Notes" }],
            },
          ],
        },
      ],
    },
  ],
  personal_api_keys: [{ key: "phx_dev", user: "dev@phx-sim.test", scopes: ["*"] }],
};

/** u1 orders, u2 reaches the checkout, u3 has a basket. */
export const visits = [
  ...["basket", "checkout", "order"].map((event) => ({ event, distinct_id: "u1", properties: { plan: "pro" } })),
  ...["basket", "checkout", "error_shown"].map((event) => ({ event, distinct_id: "u2" })),
  { event: "basket", distinct_id: "u3" },
  { event: "order", distinct_id: "u4", properties: { plan: "free" } },
];

/** The sim of a file of tests, its calls with a personal key, and its events. */
export async function startBoard(): Promise<Sim> {
  const sim = await startSim({ scenario: insightScenario, clock: { now: "2026-03-04T12:00:00Z", frozen: true } });
  await capture(sim, visits);
  return sim;
}

export const capture = (sim: Sim, batch: readonly object[], key = sim.apiKey) =>
  sim.handle(new Request(`${sim.url}/batch/`, { method: "POST", body: JSON.stringify({ api_key: key, batch }) }));

/** A call with the personal key of the sim; tests narrow the body by what they expect. */
export async function ask(sim: Sim, method: string, path: string, body?: unknown) {
  const response = await sim.handle(
    new Request(sim.url + path, {
      method,
      headers: { authorization: `Bearer ${sim.personalApiKey}`, "content-type": "application/json" },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by hand
  return { status: response.status, text, json: (isJson ? JSON.parse(text) : undefined) as any };
}
