import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import type { Project } from "../../../src/sim/client/api.ts";
import "../../../src/testing/vitest-matchers.ts";
import type { FunnelStep, TrendSeries } from "../../../src/service/query/client.ts";
import { capture, startBoard, visits } from "./board.ts";

let sim: Sim;
let project: Project;
beforeAll(async () => {
  sim = await startBoard();
  project = await sim.project({ name: "its own" });
  await capture(sim, visits, project.apiKey);
});
afterAll(() => sim.close());

const funnel = {
  kind: "FunnelsQuery",
  series: ["basket", "checkout", "order"].map((event) => ({ kind: "EventsNode", event })),
} as const;

describe("the client", () => {
  test("runs HogQL and queries with a kind", async () => {
    const { results, columns } = await sim.query("SELECT count() AS n FROM events");
    expect({ results, columns }).toEqual({ results: [[8]], columns: ["n"] });
    const { results: steps, query } = await project.query({ kind: "InsightVizNode", source: funnel });
    expectTypeOf(steps).toEqualTypeOf<FunnelStep[]>();
    expect(steps.map((it) => it.count)).toEqual([3, 2, 1]);
    expect(query).toEqual(funnel);
  });

  test("insights by name, also those of the project that a test's project was made like", async () => {
    const { results, insight } = await project.insight<TrendSeries[]>("Orders");
    expect(results[0]?.aggregated_value).toBe(2);
    expect(insight).toMatchObject({ id: 13, name: "Orders" });
    expect((await project.insight(11)).insight?.name).toBe("Basket to order");
  });

  test("a project sees its own events only", async () => {
    await using other = await sim.project();
    expect((await other.query("SELECT count() FROM events")).results).toEqual([[0]]);
    expect((await sim.query("SELECT count() FROM events", { project: other.id })).results).toEqual([[0]]);
  });

  test("who left a funnel at which step", async () => {
    const steps = await project.dropOffs("Basket to order");
    expect(steps).toMatchObject([
      { name: "basket", count: 3, left: 1, persons: [{ distinct_ids: ["u3"], last_events: [{ event: "basket" }] }] },
      { name: "checkout", count: 2, left: 1, persons: [{ distinct_ids: ["u2"] }] },
      { name: "order", count: 1, left: 0, persons: [] },
    ]);
    expect(steps[1]?.persons[0]?.last_events.map((it) => it.event)).toEqual(["basket", "checkout", "error_shown"]);
    await expect(project.dropOffs("Orders")).rejects.toThrow("Unsupported query kind: TrendsQuery");
  });

  test.each<[string, () => Promise<unknown>, object]>([
    [
      "an unknown insight",
      () => project.insight("Basket to odrer"),
      { body: { hint: 'did you mean "Basket to order"?' } },
    ],
    [
      "an insight without a query",
      () => sim.query({ kind: "TrendsQuery", serise: [] }),
      { body: { pointer: "/query/serise" } },
    ],
    [
      "wrong HogQL",
      () => sim.query("SELECT nope FROM events"),
      { message: expect.stringMatching(/nope.*line 1, column 8/) },
    ],
    ["an unknown project", () => sim.query("SELECT 1", { project: 77 }), { code: "not_found" }],
    // @ts-expect-error an unknown option
    ["an unknown option", () => sim.query("SELECT 1", { projekt: 1 }), { message: /did you mean "project"/ }],
  ])("refuses %s", async (_, run, error) => {
    const thrown: unknown = await run().catch((it: unknown) => it);
    if ("message" in error && error.message instanceof RegExp) expect(String(thrown)).toMatch(error.message);
    else expect(thrown).toMatchObject(error);
  });
});

describe("toHaveInsight", () => {
  const failure = async (assertion: Promise<void>): Promise<string> =>
    assertion.then(
      () => "it did not fail",
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
  const now = { timeoutMs: 0 };

  test("by name and as a query", async () => {
    await expect(project).toHaveInsight("Basket to order", { steps: [3, 2, 1] });
    await expect(project).toHaveInsight(funnel, { steps: [3, { "@gte": 1 }, 1] });
    await expect(project).toHaveInsight("Orders by plan", { total: { pro: 1, free: 1 } });
    await expect(project).toHaveInsight("Plans", {
      rows: [
        ["pro", 1],
        ["free", 1],
      ],
    });
    await expect(project).not.toHaveInsight("Orders", { value: 3 });
  });

  test("a failure names what differs, and who left at which step", async () => {
    const says = await failure(expect(project).toHaveInsight("Basket to order", { steps: [3, 2, 2] }, now));
    expect(says.replace(/#\d+/g, "#n")).toBe(
      [
        'toHaveInsight("Basket to order", {steps: [3, 2, 2]}, {timeoutMs: 0})',
        "",
        "steps: expected [3, 2, 2], got [3, 2, 1]",
        "it shows:",
        "  step 1 basket: 3",
        "  step 2 checkout: 2",
        "  step 3 order: 1",
        "1 left after basket:",
        '  "u3": last events #n basket',
        "1 left after checkout:",
        '  "u2": last events #n basket, #n checkout, #n error_shown',
      ].join("\n"),
    );
  });

  test("not: what it shows", async () => {
    const says = await failure(expect(project).not.toHaveInsight("Basket to order", { steps: [3, 2, 1] }));
    expect(says).toContain("it shows:\n  step 1 basket: 3");
  });

  test("waits until the events make it true", async () => {
    await using other = await sim.project();
    const waiting = expect(other).toHaveInsight("Basket to order", { steps: [3, 2, 1] });
    await capture(sim, visits.slice(0, 4), other.apiKey);
    await capture(sim, visits.slice(4), other.apiKey);
    await waiting;
  });

  test("is computed again as time passes, without an event", async () => {
    await using own = await startSim();
    const { now } = await own.clock.get();
    const timestamp = new Date(Date.parse(now) + 3_600_000).toISOString();
    await capture(own, [{ event: "later", distinct_id: "u1", timestamp }], own.apiKey);
    const trend = {
      kind: "TrendsQuery",
      series: [{ kind: "EventsNode", event: "later" }],
      trendsFilter: { display: "BoldNumber" },
    };
    const count = {
      kind: "HogQLQuery",
      query: "SELECT count() FROM events WHERE event = 'later' AND timestamp < now()",
    };
    for (const query of [trend, count]) await expect(own).toHaveInsight(query, { value: 0 });
    const waiting = [trend, count].map((query) => expect(own).toHaveInsight(query, { value: 1 }));
    await own.clock.advance("2h");
    await Promise.all(waiting);
  });

  test("a funnel that is shown as trends, or as times, has no steps", async () => {
    const shownAs = (funnelVizType: string) => ({ ...funnel, funnelsFilter: { funnelVizType } });
    const says = (type: string) => failure(expect(project).toHaveInsight(shownAs(type), { steps: [3] }));
    expect(await says("trends")).toContain("a FunnelsQuery shown as trends has no steps; it has data");
    expect(await says("time_to_convert")).toContain("shown as time_to_convert has no steps; it has nothing");
    const data = [1];
    const wrong = await failure(expect(project).toHaveInsight(shownAs("trends"), { data }, now));
    expect(wrong).toContain("it shows:\n  {count: 8, data: [");
    expect(wrong).not.toContain("NaN");
  });

  test("one that is not awaited is reported", async () => {
    const other = await sim.project();
    void expect(other).toHaveInsight("Orders", { value: 99 });
    await expect(other.dispose()).rejects.toThrow('assertion not awaited: toHaveInsight("Orders", {value: 99})');
  });

  test("mistakes are reported at once", async () => {
    // @ts-expect-error a misspelt key
    const misspelt = expect(project).toHaveInsight("Orders", { vlaue: 1 });
    expect(await failure(misspelt)).toContain('unknown key "vlaue"; did you mean "value"?');
    expect(await failure(expect(project).toHaveInsight("Orders", { steps: [1] }))).toContain(
      "a TrendsQuery has no steps",
    );
    expect(await failure(expect(project).toHaveInsight("Ordres", { value: 1 }))).toContain(
      'there is no insight "Ordres"',
    );
  });
});
