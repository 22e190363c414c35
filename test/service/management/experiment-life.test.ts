import { describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import { newFolder } from "../../support/folder.ts";
import { ask, capture } from "../query/board.ts";
import { ExperimentOfClients, ExposuresOfClients } from "./experiment-schemas.ts";

const featureId = "0190f1f8-aaaa-7bbb-8ccc-123456789012";

/** A running experiment and two features: one in the form of the management API, one in that of SDKs. */
const scenario = {
  flags: { checkout: { variants: { control: 50, test: 50 } }, dark: false, fast: false },
  experiments: [
    {
      id: 1,
      name: "Checkout",
      feature_flag_key: "checkout",
      start_date: "2026-03-02T00:00:00Z",
      exposure_criteria: { filterTestAccounts: false },
      metrics: [{ kind: "ExperimentMetric", metric_type: "mean", source: { kind: "EventsNode", event: "paid" } }],
    },
  ],
  web_experiments: [{ id: 2, name: "Button", feature_flag_key: "checkout", variants: {} }],
  early_access_features: [
    { id: featureId, name: "Dark mode", stage: "beta" as const, feature_flag_id: "dark" },
    { name: "Fast", stage: "beta" as const, flagKey: "fast", documentationUrl: "https://docs.test/fast" },
  ],
};

const clock = { now: "2026-03-04T12:00:00Z", frozen: true };
const start = (more: object = {}) => startSim({ scenario, clock, ...more });
const get = async (sim: Sim, path: string) => (await ask(sim, "GET", path)).json;
const experiments = "/api/projects/1/experiments/";
const features = "/api/projects/1/early_access_feature/";

const calls = (...all: [id: string, variant: string, at: string][]) =>
  all.map(([distinct_id, variant, timestamp]) => ({
    event: "$feature_flag_called",
    distinct_id,
    timestamp,
    properties: { $feature_flag: "checkout", $feature_flag_response: variant },
  }));

test("a scenario has experiments and early access features, in one place for both APIs", async () => {
  await using sim = await start();
  const { results } = await get(sim, experiments);
  expect(results).toMatchObject([
    { id: 2, name: "Button", type: "web", feature_flag_key: "checkout", status: "draft" },
    { id: 1, name: "Checkout", type: "product", feature_flag_key: "checkout", status: "running" },
  ]);
  expect(results.map((it: unknown) => ExperimentOfClients.parse(it).id)).toEqual([2, 1]);
  const listed = (await get(sim, features)).results;
  expect(listed).toMatchObject([
    { name: "Dark mode", feature_flag: { key: "dark" } },
    { name: "Fast", documentation_url: "https://docs.test/fast", feature_flag: { key: "fast" } },
  ]);
  const flag = await get(sim, `/api/projects/1/feature_flags/${listed[1].feature_flag.id}/`);
  expect(flag.features).toMatchObject([{ name: "Fast" }]);
  const ofSdks = async () => (await get(sim, `/api/early_access_features/?token=${sim.apiKey}`)).earlyAccessFeatures;
  expect(await ofSdks()).toEqual([
    { id: featureId, name: "Dark mode", stage: "beta", flagKey: "dark" },
    { id: listed[1].id, name: "Fast", stage: "beta", documentationUrl: "https://docs.test/fast", flagKey: "fast" },
  ]);
  await ask(sim, "PATCH", `${features}${featureId}/`, { stage: "archived" });
  const made = await ask(sim, "POST", features, { name: "New nav", stage: "beta", payload: { order: 1 } });
  expect(await ofSdks()).toEqual([
    expect.objectContaining({ name: "Fast" }),
    {
      id: made.json.id,
      name: "New nav",
      description: "",
      stage: "beta",
      payload: { order: 1 },
      documentationUrl: "",
      flagKey: "new-nav",
    },
  ]);
  const web = await get(sim, `/api/web_experiments/?token=${sim.apiKey}`);
  expect(web.experiments).toMatchObject([{ id: 2, name: "Button", feature_flag_key: "checkout", variants: {} }]);
});

test("who opts in gets the flag of a feature that was created", async () => {
  await using sim = await start();
  await ask(sim, "POST", features, { name: "New nav", stage: "beta" });
  const decide = async (id: string) => {
    const body = JSON.stringify({ api_key: sim.apiKey, distinct_id: id });
    const response = await sim.handle(new Request(`${sim.url}/flags/?v=2`, { method: "POST", body }));
    return ((await response.json()) as { flags: Record<string, { enabled: boolean }> }).flags["new-nav"]?.enabled;
  };
  expect(await decide("ada")).toBe(false);
  await capture(sim, [
    { event: "$set", distinct_id: "ada", properties: { $set: { "$feature_enrollment/new-nav": true } } },
  ]);
  expect([await decide("ada"), await decide("bob")]).toEqual([true, false]);
});

test("a launched experiment decides, a paused one does not", async () => {
  await using sim = await start();
  await ask(sim, "POST", experiments, { name: "Price", feature_flag_key: "price" });
  const decide = async () => {
    const body = JSON.stringify({ api_key: sim.apiKey, distinct_id: "ada" });
    const response = await sim.handle(new Request(`${sim.url}/flags/?v=2`, { method: "POST", body }));
    const { flags } = (await response.json()) as { flags: Record<string, { variant?: string }> };
    return flags.price?.variant;
  };
  expect(await decide()).toBeUndefined();
  await ask(sim, "POST", `${experiments}3/launch/`, {});
  expect(await decide()).toMatch(/^(?:control|test)$/);
  await ask(sim, "POST", `${experiments}3/pause/`, {});
  expect(await decide()).toBeUndefined();
});

describe("the vendor's MCP client", () => {
  /** Its request for the exposures of an experiment that it has read. */
  async function exposures(sim: Sim, id: number, refresh = "blocking") {
    const it = ExperimentOfClients.parse(await get(sim, `${experiments}${id}/`));
    return ask(sim, "POST", "/api/projects/1/query/", {
      query: {
        kind: "ExperimentExposureQuery",
        experiment_id: id,
        experiment_name: it.name,
        exposure_criteria: it.exposure_criteria,
        feature_flag: it.feature_flag,
        start_date: it.start_date,
        end_date: it.end_date,
      },
      refresh,
    });
  }

  test("gets the exposures of an experiment", async () => {
    await using sim = await start();
    await capture(
      sim,
      calls(
        ["ada", "test", "2026-03-02T10:00:00Z"],
        ["bob", "control", "2026-03-03T10:00:00Z"],
        ["ada", "test", "2026-03-04T10:00:00Z"],
        ["eve", "control", "2026-03-04T10:00:00Z"],
        ["eve", "test", "2026-03-04T11:00:00Z"],
        ["old", "test", "2026-03-01T10:00:00Z"],
      ),
    );
    const { status, json } = await exposures(sim, 1);
    expect(status).toBe(200);
    const days = ["2026-03-02", "2026-03-03", "2026-03-04"];
    expect(ExposuresOfClients.parse(json)).toEqual({
      kind: "ExperimentExposureQuery",
      timeseries: [
        { variant: "control", days, exposure_counts: [0, 1, 1] },
        { variant: "test", days, exposure_counts: [1, 1, 1] },
        { variant: "$multiple", days, exposure_counts: [0, 0, 1] },
      ],
      total_exposures: { control: 1, test: 1, $multiple: 1 },
      date_range: { date_from: "2026-03-02T00:00:00+00:00", date_to: null },
    });
    expect((await exposures(sim, 1)).json.is_cached).toBe(true);
  });

  test("a result is computed again once the flag has another key", async () => {
    await using sim = await start();
    const [{ feature_flag: flag }] = (await get(sim, experiments)).results;
    await capture(sim, calls(["ada", "test", "2026-03-02T10:00:00Z"]));
    const query = {
      kind: "ExperimentExposureQuery",
      experiment_id: 1,
      experiment_name: "Checkout",
      feature_flag: flag,
      start_date: "2026-03-02T00:00:00Z",
    };
    const totals = async () =>
      (await ask(sim, "POST", "/api/projects/1/query/", { query, refresh: "blocking" })).json.total_exposures;
    expect(await totals()).toEqual({ control: 0, test: 1 });
    await ask(sim, "PATCH", `/api/projects/1/feature_flags/${flag.id}/`, { key: "renamed" });
    expect(await totals()).toEqual({ control: 0, test: 0 });
  });

  test("gets an error for statistics and for an unknown experiment", async () => {
    await using sim = await start();
    const answer = async (query: object) => {
      const { status, json } = await ask(sim, "POST", "/api/projects/1/query/", { query });
      return [status, json.type, json.detail];
    };
    expect(await answer({ kind: "ExperimentQuery", experiment_id: 1, metric: {} })).toEqual([
      400,
      "validation_error",
      expect.stringContaining("Unsupported query kind: ExperimentQuery"),
    ]);
    const query = {
      kind: "ExperimentExposureQuery",
      experiment_id: 9,
      experiment_name: "x",
      feature_flag: { key: "k" },
    };
    expect(await answer(query)).toEqual([400, "validation_error", "Experiment 9 does not exist."]);
  });

  test("and the TypeScript client get the series as results", async () => {
    await using sim = await start();
    const [{ feature_flag }] = (await get(sim, experiments)).results;
    const { results } = await sim.query({
      kind: "ExperimentExposureQuery",
      experiment_id: 1,
      experiment_name: "Checkout",
      feature_flag,
      start_date: "2026-03-03T00:00:00Z",
    });
    const days = ["2026-03-03", "2026-03-04"];
    expect(results).toEqual([
      { variant: "control", days, exposure_counts: [0, 0] },
      { variant: "test", days, exposure_counts: [0, 0] },
    ]);
  });
});

test("experiments and features are there after a restart", async () => {
  const data = newFolder();
  const first = await start({ data });
  await ask(first, "POST", experiments, { name: "Price", feature_flag_key: "price" });
  await ask(first, "POST", `${experiments}3/launch/`);
  await ask(first, "POST", features, { name: "New nav", stage: "beta" });
  const before = [await get(first, experiments), await get(first, features)];
  await first.close();
  await using second = await startSim({ data, clock });
  const after = [await get(second, experiments), await get(second, features)];
  expect(after).toEqual(before);
  expect(after.map(({ count }) => count)).toEqual([3, 3]);
});

test("a deleted project has none, a project of a test has its own", async () => {
  await using sim = await start();
  await using own = await sim.project();
  const roots = (id: number) => [`/api/projects/${id}/experiments/`, `/api/projects/${id}/early_access_feature/`];
  for (const path of roots(own.projectId)) expect((await get(sim, path)).count).toBe(2);
  const [copy] = (await get(sim, roots(own.projectId)[0] ?? "")).results;
  const [original] = (await get(sim, experiments)).results;
  expect(copy.feature_flag.key).toBe("checkout");
  expect(copy.feature_flag.id).not.toBe(original.feature_flag.id);
  const made = await ask(sim, "POST", "/api/projects/", { name: "Other" });
  const [path = ""] = roots(made.json.id);
  expect((await ask(sim, "POST", path, { name: "Other", feature_flag_key: "other" })).status).toBe(201);
  expect((await ask(sim, "DELETE", `/api/projects/${made.json.id}/`)).status).toBe(204);
  expect((await ask(sim, "GET", path)).status).toBe(404);
  expect((await get(sim, experiments)).count).toBe(2);
});

describe("mistakes in a scenario", () => {
  const problems = async (more: object) => {
    const failure = await startSim({ scenario: { ...scenario, ...more } as typeof scenario }).then(
      (sim) => sim.close().then(() => ""),
      (error: Error) => error.message,
    );
    return failure;
  };
  test.each([
    ["an experiment without a flag", { experiments: [{ name: "x" }] }, "feature_flag_key"],
    [
      "an unknown field of an experiment",
      { experiments: [{ name: "x", feature_flag_key: "y", metric: [] }] },
      "metric",
    ],
    ["another stage of a feature", { early_access_features: [{ name: "x", stage: "gamma" }] }, "stage"],
    ["an unknown flag's id", { early_access_features: [{ name: "x", feature_flag_id: "nope" }] }, "nope"],
  ])("%s", async (_, more, words) => {
    expect(await problems(more)).toContain(words);
  });
});
