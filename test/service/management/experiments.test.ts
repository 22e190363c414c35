import { expect, test } from "vitest";
import { blankFeatureFlag } from "../../../src/state/documents/blank.ts";
import { resourceOf } from "../../../src/state/documents/resources.ts";
import { ExperimentOfClients } from "./experiment-schemas.ts";
import { manage } from "./manage.ts";
import { startedAt, twoOrganizations } from "./world.ts";

const root = "/api/projects/1/experiments";
const now = "2026-03-04T05:06:07.089000Z";

const multivariate = (...keys: string[]) => ({
  groups: [{ properties: [], rollout_percentage: 100 }],
  multivariate: { variants: keys.map((key, i) => ({ key, rollout_percentage: i === 0 ? 100 : 0 })) },
});

/** Flag 1 has control and test, flag 2 has no variants, flag 3 no control, flag 4 is another project's. */
function sim() {
  const world = twoOrganizations();
  world.feature_flags = [
    blankFeatureFlag({ id: 1, project: 1, key: "linked", filters: multivariate("control", "test") }, startedAt),
    blankFeatureFlag({ id: 2, project: 1, key: "plain" }, startedAt),
    blankFeatureFlag({ id: 3, project: 1, key: "ab", filters: multivariate("a", "b") }, startedAt),
    blankFeatureFlag({ id: 4, project: 2, key: "foreign", filters: multivariate("control", "test") }, startedAt),
  ];
  return manage({ world });
}

test("an experiment makes its flag, which is off until the experiment starts", async () => {
  const it = sim();
  const { status, json } = await it.post(`${root}/`, { name: "Checkout", feature_flag_key: "checkout" });
  expect(status).toBe(201);
  expect(json).toMatchObject({
    ...{ id: 1, name: "Checkout", status: "draft", feature_flag_key: "checkout" },
    feature_flag: {
      ...{ id: 5, key: "checkout", name: "Feature Flag for Experiment Checkout", active: false },
      filters: {
        groups: [{ properties: [], rollout_percentage: 100 }],
        multivariate: { variants: [{ key: "control" }, { key: "test" }] },
      },
    },
    ...{ start_date: null, end_date: null, deleted: false, created_by: { id: 1 }, created_at: now, updated_at: now },
  });
  expect((await it.get("/api/projects/1/feature_flags/5/")).json.experiment_set).toEqual([1]);
  const started = await it.patch(`${root}/1/`, { start_date: "2026-03-01T00:00:00Z", feature_flag_key: "checkout" });
  expect(started.json).toMatchObject({ status: "running", feature_flag: { active: true } });
  await it.patch("/api/projects/1/feature_flags/5/", { active: false });
  expect((await it.get(`${root}/1/`)).json.status).toBe("paused");
  expect((await it.patch(`${root}/1/`, { end_date: now })).json.status).toBe("stopped");
});

test("what a client sends is kept, and the vendor's MCP client can read it", async () => {
  const it = sim();
  const variants = ["control", "red"].map((key) => ({ key, rollout_percentage: 50 }));
  const body = {
    ...{ name: "Pricing", feature_flag_key: "pricing", archived: false, description: "One page or three" },
    metrics: [{ kind: "ExperimentMetric", metric_type: "mean", source: { kind: "EventsNode", event: "paid" } }],
    parameters: { feature_flag_variants: variants, minimum_detectable_effect: 20 },
    exposure_criteria: { filterTestAccounts: true },
  };
  const { json } = await it.post(`${root}/`, body);
  expect(json).toMatchObject({ ...body, feature_flag: { filters: { multivariate: { variants } } } });
  expect((await it.get(`${root}/`)).json.results.map((one: unknown) => ExperimentOfClients.parse(one).id)).toEqual([1]);
  const again = await it.patch(`${root}/1`, { ...json, name: "Prices" });
  expect(again.json).toEqual({ ...json, name: "Prices" });
});

test("an existing flag is used, and stays when the experiment is deleted", async () => {
  const it = sim();
  await it.post(root, { name: "Checkout", feature_flag_key: "linked" });
  expect((await it.delete(`${root}/1/`)).status).toBe(405);
  expect((await it.patch(`${root}/1/`, { deleted: true })).status).toBe(200);
  expect((await it.get(`${root}/1/`)).status).toBe(404);
  expect(it.worlds.get("feature_flags", 1)?.deleted).toBe(false);
  expect((await it.patch(`${root}/1/`, { deleted: false })).status).toBe(200);
});

test("an experiment of a scenario may have no flag: clients take no null", async () => {
  const world = twoOrganizations();
  world.resources.push(resourceOf("experiments", 1, 9, { name: "Authored", created_at: startedAt }));
  const it = manage({ world });
  const { json } = await it.get(`${root}/9/`);
  expect(json).not.toHaveProperty("feature_flag");
  expect(ExperimentOfClients.parse(json)).toMatchObject({ feature_flag_key: "", saved_metrics_ids: null });
  expect((await it.patch(`${root}/9/`, { name: "Changed" })).json).toMatchObject({ name: "Changed", status: "draft" });
});

const tooFew = "Feature flag must have at least 2 variants (control and at least one test variant)";
const sums = "Invalid variant definitions: Variant rollout percentages must sum to 100.";
const variants = (...all: object[]) => ({ feature_flag_key: "new", parameters: { feature_flag_variants: all } });
test.each<[string, object, string | null, string]>([
  ["no key", {}, "feature_flag_key", "This field is required."],
  ["a flag without variants", { feature_flag_key: "plain" }, null, tooFew],
  ["a flag without control", { feature_flag_key: "ab" }, null, tooFew],
  ["one variant", variants({ key: "control", rollout_percentage: 100 }), null, tooFew],
  [
    "a sum that is not 100",
    variants({ key: "control", rollout_percentage: 50 }, { key: "b", rollout_percentage: 10 }),
    "filters",
    sums,
  ],
])("%s is refused", async (_, body, attr, detail) => {
  const it = sim();
  const { status, json } = await it.post(root, { name: "Checkout", ...body });
  expect([status, json.attr, json.detail]).toEqual([400, attr, detail]);
  expect(it.worlds.current.resources).toEqual([]);
});

test("the key of an experiment's flag does not change", async () => {
  const it = sim();
  await it.post(root, { name: "Checkout", feature_flag_key: "linked" });
  const { json } = await it.patch(`${root}/1`, { feature_flag_key: "other" });
  expect(json.detail).toBe("Can't update keys: get_feature_flag_key on Experiment");
});
