import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import { exposuresKind } from "../../../../src/service/query/insights/experiment-exposures.ts";
import { csvLines, resultTable } from "../../../../src/service/query/tabular.ts";
import type { TableEvent } from "../table-of.ts";
import { runKind, type Stage } from "./stage.ts";

const variants = ["control", "test"].map((key) => ({ key, rollout_percentage: 50 }));
const feature_flag = { id: 1, key: "checkout", name: "", active: true, filters: { multivariate: { variants } } };
const query = {
  experiment_id: 7,
  experiment_name: "Checkout",
  feature_flag,
  exposure_criteria: { filterTestAccounts: false },
  start_date: "2020-01-10T12:00:00Z",
  end_date: "2020-01-13T12:00:00Z",
};

const called = (id: string, variant: unknown, at: string, more: Partial<TableEvent> = {}): TableEvent => ({
  event: "$feature_flag_called",
  id,
  at,
  properties: { $feature_flag: "checkout", $feature_flag_response: variant as string },
  ...more,
});

const experiment = (id: number) => (id === 7 ? { flag: "checkout", excluded: [] } : undefined);

interface Answer {
  kind: string;
  timeseries: { variant: string; days: string[]; exposure_counts: number[] }[];
  total_exposures: Record<string, number>;
  date_range: unknown;
}

const run = async (more: JsonObject, events: readonly TableEvent[], stage: Partial<Stage> = {}) =>
  (await runKind(exposuresKind, { ...query, ...more } as JsonObject, {
    events,
    experiment,
    ...stage,
  })) as unknown as Answer;

const counts = ({ timeseries }: Answer) => Object.fromEntries(timeseries.map((it) => [it.variant, it.exposure_counts]));

test("the first exposures of persons by day, summed up, in the order of the flag's variants", async () => {
  const answer = await run({}, [
    called("t1", "test", "2020-01-10T13:00:00Z"),
    called("t1", "test", "2020-01-12T13:00:00Z"),
    called("c1", "control", "2020-01-12T10:00:00Z"),
    called("c2", "control", "2020-01-12T11:00:00Z"),
  ]);
  const days = ["2020-01-10", "2020-01-11", "2020-01-12", "2020-01-13"];
  expect(answer).toEqual({
    kind: "ExperimentExposureQuery",
    timeseries: [
      { variant: "control", days, exposure_counts: [0, 0, 2, 2] },
      { variant: "test", days, exposure_counts: [1, 1, 1, 1] },
    ],
    total_exposures: { control: 2, test: 1 },
    date_range: { date_from: "2020-01-10T12:00:00+00:00", date_to: "2020-01-13T12:00:00+00:00", explicitDate: true },
  });
});

test("only calls of the flag within the dates that answered one of its variants", async () => {
  const answer = await run({}, [
    called("early", "test", "2020-01-10T11:59:59Z"),
    called("at start", "test", "2020-01-10T12:00:00Z"),
    called("at end", "test", "2020-01-13T12:00:00Z"),
    called("late", "test", "2020-01-13T12:00:01Z"),
    called("off", false, "2020-01-11T00:00:00Z"),
    called("holdout", "holdout-1", "2020-01-11T00:00:00Z"),
    { ...called("other", "test", "2020-01-11T00:00:00Z"), event: "other" },
    called("other flag", "test", "2020-01-11T00:00:00Z", {
      properties: { $feature_flag: "else", $feature_flag_response: "test" },
    }),
  ]);
  expect(counts(answer)).toEqual({ control: [0, 0, 0, 0], test: [1, 1, 1, 2] });
});

const both = [
  called("p", "test", "2020-01-12T00:00:00Z"),
  called("p", "control", "2020-01-11T00:00:00Z"),
  called("p", "test", "2020-01-13T00:00:00Z"),
  called("q", "test", "2020-01-13T00:00:00Z"),
];

test("who had several variants is $multiple from the first exposure on, or has the first one", async () => {
  const excluded = await run({}, both);
  expect(excluded.total_exposures).toEqual({ control: 0, test: 1, $multiple: 1 });
  expect(excluded.timeseries.map((it) => it.variant)).toEqual(["control", "test", "$multiple"]);
  expect(counts(excluded).$multiple).toEqual([0, 1, 1, 1]);
  const criteria = { filterTestAccounts: false, multiple_variant_handling: "first_seen" };
  const first = await run({ exposure_criteria: criteria }, both);
  expect(counts(first)).toEqual({ control: [0, 1, 1, 1], test: [0, 0, 0, 1] });
});

test("distinct ids of one person count once", async () => {
  const events = [called("a", "test", "2020-01-11T00:00:00Z"), called("b", "test", "2020-01-12T00:00:00Z")];
  const answer = await run({}, events, { table: { persons: { a: "ada", b: "ada" } } });
  expect(answer.total_exposures).toEqual({ control: 0, test: 1 });
});

test("days are those of the project's time zone, also while its clocks change", async () => {
  const answer = await run(
    { start_date: "2020-03-27T23:30:00Z", end_date: "2020-03-29T22:30:00Z" },
    [called("a", "test", "2020-03-28T22:30:00Z"), called("b", "test", "2020-03-28T23:30:00Z")],
    { timeZone: "Europe/Berlin", now: Date.parse("2020-04-02T00:00:00Z") },
  );
  expect(answer.timeseries[1]).toEqual({
    variant: "test",
    days: ["2020-03-28", "2020-03-29", "2020-03-30"],
    exposure_counts: [1, 2, 2],
  });
  expect(answer.date_range).toMatchObject({
    date_from: "2020-03-28T00:30:00+01:00",
    date_to: "2020-03-30T00:30:00+02:00",
  });
});

test("an experiment that is running is counted until now, a draft has no exposures", async () => {
  const events = [called("a", "test", "2020-01-19T14:00:00Z"), called("b", "test", "2020-01-19T15:30:00Z")];
  const running = await run({ start_date: "2020-01-18T00:00:00Z", end_date: null }, events);
  expect(counts(running)).toEqual({ control: [0, 0], test: [0, 1] });
  expect(running.date_range).toMatchObject({ date_to: null });
  const draft = await run({ start_date: null, end_date: null }, events);
  expect(draft).toMatchObject({ timeseries: [], total_exposures: {}, date_range: { date_from: null } });
  const planned = await run({ start_date: "2020-02-01T00:00:00Z", end_date: null }, events);
  expect(planned).toMatchObject({ timeseries: [], total_exposures: {} });
});

describe("exposure criteria", () => {
  const at = "2020-01-11T00:00:00Z";

  test("test accounts are left out unless the criteria say otherwise", async () => {
    const events = [called("dev", "test", at), called("user", "test", at)];
    const stage = {
      testAccountFilters: [{ key: "staff", type: "person", operator: "is_not_set", value: "is_not_set" }],
      table: { personProperties: { dev: { staff: true } } },
    };
    const total = async (exposure_criteria: JsonObject | null) =>
      (await run({ exposure_criteria }, events, stage)).total_exposures.test;
    expect(await total(null)).toBe(1);
    expect(await total({})).toBe(1);
    expect(await total({ filterTestAccounts: true })).toBe(1);
    expect(await total({ filterTestAccounts: false })).toBe(2);
  });

  const seen = (id: string, variant: string, path: string): TableEvent => ({
    event: "seen",
    id,
    at,
    properties: { "$feature/checkout": variant, path },
  });
  const views = [seen("a", "test", "/pay"), seen("b", "control", "/home"), called("c", "test", at)];

  test("another event with properties", async () => {
    const config = { kind: "ExperimentEventExposureConfig", event: "seen", properties: [] };
    const filter = { key: "path", value: ["/pay"], operator: "exact", type: "event" };
    const totals = async (exposure_config: JsonObject) =>
      (await run({ exposure_criteria: { filterTestAccounts: false, exposure_config } }, views)).total_exposures;
    expect(await totals(config)).toEqual({ control: 1, test: 1 });
    expect(await totals({ event: "seen", properties: [filter] })).toEqual({ control: 0, test: 1 });
  });

  test("an action", async () => {
    const exposure_config = { kind: "ActionsNode", id: 3 };
    const action = (id: number) => (id === 3 ? { name: "Seen", steps: [{ event: "seen" }] } : undefined);
    const more = { exposure_criteria: { filterTestAccounts: false, exposure_config } };
    expect((await run(more, views, { action })).total_exposures).toEqual({ control: 1, test: 1 });
    await expect(run(more, views)).rejects.toThrow("Action ID 3 does not exist!");
  });

  test("groups, where the flag is about groups", async () => {
    const flag = { ...feature_flag, filters: { ...feature_flag.filters, aggregation_group_type_index: 0 } };
    const events = ["a", "b"].map((id) => called(id, "test", at, { groups: { 0: "acme" } }));
    expect((await run({ feature_flag: flag }, events)).total_exposures).toEqual({ control: 0, test: 1 });
  });
});

test("variants that the experiment excludes are left out", async () => {
  const excluding = () => ({ flag: "checkout", excluded: ["test"] });
  const answer = await run({}, both, { experiment: excluding });
  expect(answer.total_exposures).toEqual({ control: 1 });
});

test.each<[string, JsonObject, string]>([
  ["no experiment", { experiment_id: null }, "experiment_id is required"],
  ["an experiment that does not exist", { experiment_id: 8 }, "Experiment 8 does not exist."],
  ["a flag without a key", { feature_flag: { filters: {} } }, "feature_flag key is required"],
  ["a date that is none", { start_date: "soon" }, "Invalid isoformat string: 'soon'"],
  [
    "activation",
    { exposure_criteria: { activation_config: { kind: "ActionsNode", id: 1 } } },
    "The activation_config of exposure criteria is not supported.",
  ],
])("refused: %s", async (_, more, message) => {
  await expect(run(more, [])).rejects.toThrow(message);
});

test.each<[string, JsonObject]>([
  ["an unknown field", { metric: {} }],
  ["another handling of several variants", { exposure_criteria: { multiple_variant_handling: "last_seen" } }],
  ["an exposure of another kind", { exposure_criteria: { exposure_config: { kind: "TrendsQuery" } } }],
  ["a flag that is text", { feature_flag: "checkout" }],
  ["no name", { experiment_name: null }],
])("refused by the shape: %s", (_, more) => {
  expect(exposuresKind.shape.safeParse({ kind: exposuresKind.kind, ...query, ...more }).success).toBe(false);
});

test("as a table: a row for each day, a column for each variant", async () => {
  const { timeseries } = await run({}, [called("t1", "test", "2020-01-12T13:00:00Z")]);
  const table = resultTable({ query: { kind: exposuresKind.kind }, results: timeseries as unknown as Json });
  expect(csvLines(table)).toEqual([
    "date,control,test",
    "2020-01-10,0,0",
    "2020-01-11,0,0",
    "2020-01-12,0,1",
    "2020-01-13,0,1",
  ]);
});
