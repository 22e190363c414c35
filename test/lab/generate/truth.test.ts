import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim, type TrafficFigures } from "../../../src/index.ts";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { personas } from "../../../src/lab/generate/personas.ts";
import type { Persona } from "../../../src/lab/generate/shapes.ts";

/** The queries of a generated world come to the figures of its generator, which knows nothing of queries. */

const clock = "2025-04-16T15:20:00Z";
/** Clocks go forward in Berlin on 30 March, in New York on 9 March. */
const worlds: readonly { persona: Persona; timezone: string; week_start_day: 0 | 1 }[] = [
  { persona: personas.shopper, timezone: "Europe/Berlin", week_start_day: 1 },
  { persona: { ...personas.saas, person_profiles: "always" }, timezone: "America/New_York", week_start_day: 0 },
  { persona: { ...personas.reader, person_profiles: "always" }, timezone: "UTC", week_start_day: 0 },
];

let sim: Sim;
const figures: TrafficFigures[] = [];

beforeAll(async () => {
  const projects = worlds.map(({ persona, timezone, week_start_day }) => ({
    name: persona.name,
    api_key: `phc_${persona.name}`,
    timezone,
    settings: { week_start_day },
  }));
  sim = await startSim({
    scenario: { clock: { now: clock, frozen: true }, organizations: [{ name: "Org", projects }] },
  });
  for (const [i, { persona }] of worlds.entries())
    figures.push(await sim.generate({ persona, users: 250, days: 60, seed: 7, project: i + 1 }));
}, 60_000);
afterAll(() => sim.close());

interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: each kind of query has results of its own
  results: any;
}

/** Runs a query as a client of the service does. */
async function run(project: number, query: JsonObject): Promise<Answer> {
  const response = await sim.handle(
    new Request(`${sim.url}/api/projects/${project}/query/`, {
      method: "POST",
      headers: { authorization: `Bearer ${sim.personalApiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ query }),
    }),
  );
  const text = await response.text();
  expect([response.status, text.slice(0, 300)]).toEqual([200, text.slice(0, 300)]);
  return JSON.parse(text);
}

const hogql = async (project: number, query: string): Promise<unknown[][]> =>
  (await run(project, { kind: "HogQLQuery", query })).results;

describe.each(worlds.map(({ persona }, i) => [persona.name, i + 1] as const))("%s", (_, project) => {
  const truth = (): TrafficFigures => {
    const its = figures[project - 1];
    if (!its) throw new Error("nothing was generated");
    return its;
  };
  const dateRange = () => ({ date_from: truth().days[0] ?? "", date_to: truth().days.at(-1) ?? "" });
  const nodeOf = (event: string | null, more: JsonObject = {}) => ({ kind: "EventsNode", event, ...more });
  const trends = async (interval: string, ...series: JsonObject[]): Promise<number[][]> => {
    const { results } = await run(project, { kind: "TrendsQuery", interval, dateRange: dateRange(), series });
    return results.map((it: { data: number[] }) => it.data);
  };

  test("trends: events by day", async () => {
    const { by_event, events } = truth();
    const series = [nodeOf(null), ...Object.keys(by_event).map((it) => nodeOf(it))];
    const expected = [events, ...Object.values(by_event)].map((it) => it.by_day);
    expect(await trends("day", ...series)).toEqual(expected);
  });

  test("trends: unique users by day and by week", async () => {
    const { by_event, events } = truth();
    const all = [events, ...Object.values(by_event)];
    const users = [null, ...Object.keys(by_event)].map((it) => nodeOf(it, { math: "dau" }));
    expect(await trends("day", ...users)).toEqual(all.map((it) => it.users_by_day));
    expect(await trends("week", ...users)).toEqual(all.map((it) => it.users_by_week));
  });

  const { revenue: summed, person_profiles: profiles } = worlds[project - 1]?.persona ?? {};

  test.runIf(summed)("trends: the sum of revenue", async () => {
    const { revenue } = truth();
    if (!revenue) throw new Error("there is no revenue");
    const node = nodeOf(revenue.event, { math: "sum", math_property: revenue.property });
    const [data = []] = await trends("day", node);
    expect(data.map((it) => Math.round(it * 100) / 100)).toEqual(revenue.by_day);
  });

  test("funnel", async () => {
    const { funnel } = truth();
    const { results } = await run(project, {
      kind: "FunnelsQuery",
      dateRange: dateRange(),
      series: funnel.steps.map((it) => nodeOf(it)),
      funnelsFilter: { funnelWindowInterval: funnel.window_ms / 3_600_000, funnelWindowIntervalUnit: "hour" },
    });
    expect(results.map((it: { count: number }) => it.count)).toEqual(funnel.counts);
  });

  test.each(["first_time", "recurring"] as const)("retention, %s", async (type) => {
    const { retention, weeks } = truth();
    const entity = { id: retention.event, type: "events" };
    const { results } = await run(project, {
      kind: "RetentionQuery",
      dateRange: dateRange(),
      retentionFilter: {
        retentionType: `retention_${type}`,
        period: "Week",
        totalIntervals: weeks.length,
        targetEntity: entity,
        returningEntity: entity,
      },
    });
    const rows = results.map(({ date, values }: { date: string; values: { count: number }[] }, i: number) => ({
      week: date.slice(0, 10),
      counts: values.slice(0, weeks.length - i).map((it) => it.count),
    }));
    expect(rows).toEqual(retention[type]);
  });

  // The service leaves out events without a person.
  test.runIf(profiles === "always").each(["day", "week"] as const)("lifecycle by %s", async (interval) => {
    const { lifecycle } = truth();
    const { results } = await run(project, {
      kind: "LifecycleQuery",
      interval,
      dateRange: dateRange(),
      series: [nodeOf(lifecycle.event)],
    });
    const { new: fresh, returning, resurrecting, dormant } = lifecycle[`by_${interval}`];
    const data = (status: string): number[] =>
      results.find((it: { status: string }) => it.status === status).data.map((it: number) => Math.abs(it));
    expect([data("new"), data("returning"), data("resurrecting"), data("dormant")]).toEqual([
      fresh,
      returning,
      resurrecting,
      dormant,
    ]);
  });

  test("HogQL: events and users by name, users by day, revenue", async () => {
    const { by_event, events, days, revenue } = truth();
    const rows = await hogql(
      project,
      "SELECT event, count(), count(DISTINCT person_id) FROM events GROUP BY event ORDER BY event LIMIT 100",
    );
    const expected = Object.entries(by_event).map(([event, { total, users }]) => [event, total, users]);
    expect(rows).toEqual(expected.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
    const byDay = await hogql(
      project,
      "SELECT toString(toDate(timestamp)) AS day, uniq(person_id) FROM events GROUP BY day ORDER BY day LIMIT 1000",
    );
    const found = new Map(byDay.map(([day, users]) => [day, users]));
    expect(days.map((day) => found.get(day) ?? 0)).toEqual(events.users_by_day);
    if (!revenue) return;
    const [[sum] = []] = await hogql(
      project,
      `SELECT sum(toFloat(properties.${revenue.property})) FROM events WHERE event = '${revenue.event}'`,
    );
    expect(Math.round(Number(sum) * 100) / 100).toBe(revenue.total);
  });
});
