import { describe, expect, test } from "vitest";
import { blankFeatureFlag } from "../../../src/state/documents/blank.ts";
import { resourceOf } from "../../../src/state/documents/resources.ts";
import type { StoredEvent } from "../../../src/state/journal/event.ts";
import { ExperimentOfClients } from "./experiment-schemas.ts";
import { type ManageOptions, manage } from "./manage.ts";
import { startedAt, twoOrganizations } from "./world.ts";

const root = "/api/projects/1/experiments";
const flags = "/api/projects/1/feature_flags";
const now = "2026-03-04T05:06:07.089000Z";

const multivariate = (...keys: string[]) => ({
  groups: [{ properties: [], rollout_percentage: 100 }],
  multivariate: { variants: keys.map((key, i) => ({ key, rollout_percentage: i === 0 ? 100 : 0 })) },
});

/** Flag 1 has control and test, flag 2 has no variants, flag 3 no control, flag 4 is another project's. */
function sim(options: ManageOptions = {}) {
  const world = twoOrganizations();
  world.feature_flags = [
    blankFeatureFlag({ id: 1, project: 1, key: "linked", filters: multivariate("control", "test") }, startedAt),
    blankFeatureFlag({ id: 2, project: 1, key: "plain" }, startedAt),
    blankFeatureFlag({ id: 3, project: 1, key: "ab", filters: multivariate("a", "b") }, startedAt),
    blankFeatureFlag({ id: 4, project: 2, key: "foreign", filters: multivariate("control", "test") }, startedAt),
  ];
  return manage({ world, ...options });
}

const event = (name: string): StoredEvent =>
  ({
    seq: 1,
    uuid: "0190f1f8-aaaa-7bbb-8ccc-123456789012",
    event: name,
    project: 1,
    distinct_id: "ada",
    person_id: null,
    person_mode: "full",
    timestamp: startedAt,
    received_at: startedAt,
    properties: {},
  }) as unknown as StoredEvent;

const mean = { kind: "ExperimentMetric", metric_type: "mean", source: { kind: "EventsNode", event: "paid" } };

test("an experiment makes its flag, which is off until it is launched", async () => {
  const it = sim();
  const { status, json } = await it.post(`${root}/`, { name: "Checkout", feature_flag_key: "checkout" });
  expect(status).toBe(201);
  expect(json).toMatchObject({
    id: 1,
    name: "Checkout",
    description: "",
    status: "draft",
    type: "product",
    feature_flag_key: "checkout",
    feature_flag: {
      id: 5,
      key: "checkout",
      name: "Feature Flag for Experiment Checkout",
      active: false,
      filters: {
        groups: [{ properties: [], rollout_percentage: 100 }],
        multivariate: {
          variants: [
            { key: "control", name: "Control Group", rollout_percentage: 50 },
            { key: "test", name: "Test Variant", rollout_percentage: 50 },
          ],
        },
      },
    },
    parameters: { feature_flag_variants: [{ key: "control" }, { key: "test" }], rollout_percentage: 100 },
    exposure_criteria: { filterTestAccounts: true },
    stats_config: { method: "bayesian" },
    metrics: [],
    metrics_secondary: [],
    saved_metrics_ids: null,
    holdout_id: null,
    archived: false,
    deleted: false,
    start_date: null,
    end_date: null,
    created_by: { id: 1 },
    created_at: now,
    updated_at: now,
  });
  expect((await it.get(`${flags}/5/`)).json.experiment_set).toEqual([1]);
  expect(ExperimentOfClients.parse((await it.get(`${root}/1/`)).json).feature_flag_key).toBe("checkout");
  expect((await it.get(`${root}/`)).json).toMatchObject({ count: 1, results: [{ id: 1, status: "draft" }] });
});

describe("the vendor's Terraform provider", () => {
  test("creates, changes, launches, ends and deletes an experiment", async () => {
    const it = sim();
    const metrics = [{ ...mean, uuid: "5f8c3a52-0000-4000-8000-000000000001", goal: "increase" }];
    const made = await it.post(`${root}/`, {
      name: "Checkout",
      description: "One page or three",
      feature_flag_key: "linked",
      metrics,
      metrics_secondary: [],
      exposure_criteria: { filterTestAccounts: false },
      allow_unknown_events: true,
    });
    expect([made.status, made.json.status, made.json.metrics]).toEqual([201, "draft", metrics]);
    expect(made.json.exposure_criteria).toEqual({ filterTestAccounts: false });
    expect(made.json).not.toHaveProperty("allow_unknown_events");
    const changed = await it.patch(`${root}/1/`, { name: "Checkout 2", feature_flag_key: "linked" });
    expect([changed.status, changed.json.name, changed.json.metrics]).toEqual([200, "Checkout 2", metrics]);
    const steps = [
      ["launch", {}, "running"],
      ["pause", {}, "paused"],
      ["resume", {}, "running"],
      ["end", { conclusion: "won", conclusion_comment: "test was better" }, "stopped"],
    ] as const;
    for (const [action, body, status] of steps) {
      const { json } = await it.post(`${root}/1/${action}/`, body);
      expect([action, json.status]).toEqual([action, status]);
      expect((await it.get(`${root}/1/`)).json).toEqual(json);
    }
    const { json } = await it.get(`${root}/1/`);
    expect(json).toMatchObject({ start_date: now, end_date: now, conclusion: "won" });
    const deleted = await it.patch(`${root}/1/`, { deleted: true });
    expect([deleted.status, deleted.json.deleted]).toEqual([200, true]);
    expect((await it.get(`${root}/1/`)).status).toBe(404);
    expect((await it.get(`${root}/`)).json.count).toBe(0);
    expect(it.worlds.get("feature_flags", 1)?.deleted).toBe(false);
    expect((await it.patch(`${root}/1/`, { name: "x" })).status).toBe(404);
    expect((await it.patch(`${root}/1/`, { deleted: false })).status).toBe(200);
  });

  test("ships a variant of a running experiment", async () => {
    const it = sim();
    await it.post(root, { name: "Checkout", feature_flag_key: "linked" });
    await it.post(`${root}/1/launch/`, {});
    const body = { variant_key: "test", release_to_everyone: true, conclusion: "won" };
    const { json } = await it.post(`${root}/1/ship_variant/`, body);
    expect(json).toMatchObject({ status: "stopped", conclusion: "won", end_date: now });
    expect(json.feature_flag.filters).toMatchObject({
      multivariate: {
        variants: [
          { key: "control", rollout_percentage: 0 },
          { key: "test", rollout_percentage: 100 },
        ],
      },
      groups: [
        { properties: [], rollout_percentage: 100, description: expect.stringContaining("automatically") },
        { properties: [], rollout_percentage: 100 },
      ],
    });
  });

  test("a DELETE is refused, as in the service", async () => {
    const it = sim();
    await it.post(root, { name: "Checkout", feature_flag_key: "linked" });
    expect((await it.delete(`${root}/1/`)).status).toBe(405);
    expect((await it.get(`${root}/1/`)).status).toBe(200);
  });
});

test("the vendor's MCP client can read what it creates", async () => {
  const it = sim();
  const made = await it.post(`${root}/`, {
    name: "Pricing",
    feature_flag_key: "pricing",
    filters: {},
    saved_metrics_ids: [],
    saved_metrics: [],
    primary_metrics_ordered_uuids: null,
    secondary_metrics_ordered_uuids: null,
    archived: false,
    deleted: false,
    metrics: [],
    metrics_secondary: [],
    parameters: {
      feature_flag_variants: [
        { key: "control", rollout_percentage: 40 },
        { key: "red", name: "Red", rollout_percentage: 30 },
        { key: "blue", rollout_percentage: 30 },
      ],
      minimum_detectable_effect: 20,
    },
    exposure_criteria: { filterTestAccounts: true },
  });
  expect([made.status, made.json.detail]).toEqual([201, undefined]);
  const read = ExperimentOfClients.parse(made.json);
  expect(read.parameters).toMatchObject({
    feature_flag_variants: [
      { key: "control", rollout_percentage: 40 },
      { key: "red", name: "Red", rollout_percentage: 30 },
      { key: "blue", rollout_percentage: 30 },
    ],
    minimum_detectable_effect: 20,
  });
  const { json } = await it.get(`${root}/`);
  expect(json.results.map((one: unknown) => ExperimentOfClients.parse(one).id)).toEqual([1]);
  const launched = await it.patch(`${root}/1/`, { start_date: "2026-03-01T00:00:00Z" });
  expect(ExperimentOfClients.parse(launched.json)).toMatchObject({
    start_date: "2026-03-01T00:00:00Z",
    feature_flag: { active: true },
  });
});

test("an experiment without criteria of exposure has no such field: clients take no null", async () => {
  const world = twoOrganizations();
  world.resources.push(resourceOf("experiments", 1, 9, { name: "Authored", created_at: startedAt }));
  const { json } = await manage({ world }).get(`${root}/9/`);
  expect(json).not.toHaveProperty("exposure_criteria");
  expect(json).not.toHaveProperty("feature_flag");
  expect(ExperimentOfClients.parse(json)).toMatchObject({ parameters: null, saved_metrics_ids: null });
});

test("drafts change their flag with their parameters, others only if they are asked to", async () => {
  const it = sim();
  await it.post(root, { name: "Checkout", feature_flag_key: "checkout" });
  const variants = (...parts: number[]) => ({
    parameters: {
      feature_flag_variants: parts.map((part, i) => ({ key: i === 0 ? "control" : `v${i}`, split_percent: part })),
      rollout_percentage: 20,
    },
  });
  const shares = async () =>
    (await it.get(`${root}/1`)).json.feature_flag.filters.multivariate.variants.map(
      (one: { rollout_percentage: number }) => one.rollout_percentage,
    );
  await it.patch(`${root}/1`, variants(10, 20, 70));
  expect(await shares()).toEqual([10, 20, 70]);
  expect((await it.get(`${root}/1`)).json.feature_flag.filters.groups[0].rollout_percentage).toBe(20);
  await it.post(`${root}/1/launch`);
  const refusal = async (body: object) => {
    const { status, json } = await it.patch(`${root}/1`, body);
    return [status, json.attr, json.detail];
  };
  expect(await refusal(variants(30, 30, 40))).toEqual([
    400,
    "feature_flag",
    "This experiment is running. To change its flag config, send update_feature_flag_params=true (or edit the feature flag directly).",
  ]);
  const asked = { update_feature_flag_params: true };
  expect(await refusal({ ...variants(50, 50), ...asked })).toEqual([
    400,
    null,
    "Can't update feature_flag_variants on Experiment",
  ]);
  await it.patch(`${root}/1`, { ...variants(30, 30, 40), ...asked });
  expect(await shares()).toEqual([30, 30, 40]);
});

test("a running experiment that is sent back as it was read keeps its flag", async () => {
  const it = sim();
  await it.post(root, { name: "Checkout", feature_flag_key: "linked" });
  const { json } = await it.post(`${root}/1/launch`);
  const version = it.worlds.get("feature_flags", 1)?.version;
  const { parameters, feature_flag, metrics, exposure_criteria } = json;
  const body = { name: "Again", parameters, feature_flag, metrics, exposure_criteria };
  const { status, json: changed } = await it.patch(`${root}/1`, body);
  expect([status, changed.name, changed.parameters]).toEqual([200, "Again", parameters]);
  expect(it.worlds.get("feature_flags", 1)?.version).toBe(version);
});

test("the flag may be given in its own form", async () => {
  const { json } = await sim().post(root, {
    name: "Checkout",
    feature_flag_key: "checkout",
    feature_flag: {
      filters: { ...multivariate("control", "x"), groups: [{ properties: [], rollout_percentage: 5 }] },
      ensure_experience_continuity: true,
    },
  });
  expect(json.feature_flag).toMatchObject({
    ensure_experience_continuity: true,
    filters: { groups: [{ rollout_percentage: 5 }] },
  });
  expect(json.parameters).toEqual({
    feature_flag_variants: [
      { key: "control", rollout_percentage: 100, split_percent: 100 },
      { key: "x", rollout_percentage: 0, split_percent: 0 },
    ],
    rollout_percentage: 5,
    ensure_experience_continuity: true,
  });
});

test("metrics have uuids of their own, which the order names", async () => {
  const it = sim({ events: [event("paid")] });
  const uuid = "5f8c3a52-0000-4000-8000-000000000001";
  const metrics = [{ ...mean, uuid }, { ...mean, uuid }, mean];
  const { json } = await it.post(root, { name: "M", feature_flag_key: "m", metrics });
  const uuids = json.metrics.map((one: { uuid: string }) => one.uuid);
  expect(uuids[0]).toBe(uuid);
  expect(new Set(uuids).size).toBe(3);
  expect(json.primary_metrics_ordered_uuids).toEqual(uuids);
  const less = await it.patch(`${root}/1`, { metrics: json.metrics.slice(1) });
  expect(less.json.primary_metrics_ordered_uuids).toEqual(uuids.slice(1));
});

describe("refused", () => {
  const good = { name: "Checkout", feature_flag_key: "checkout" };
  const variant = (key: string) => ({ key, rollout_percentage: 50 });
  const withVariants = (...all: unknown[]) => ({ ...good, parameters: { feature_flag_variants: all } });
  const criteria = (it: unknown) => ({ ...good, exposure_criteria: it });
  const metric = (it: unknown) => ({ ...good, metrics: [it] });
  const none = null;
  test.each<[string, object, string | null, string]>([
    ["no name", { feature_flag_key: "x" }, "name", "This field is required."],
    ["no key", { name: "x" }, "feature_flag_key", "This field is required."],
    [
      "a key with blanks",
      { ...good, feature_flag_key: "a b" },
      "key",
      "Only letters, numbers, hyphens (-) & underscores (_) are allowed.",
    ],
    [
      "a flag without variants",
      { ...good, feature_flag_key: "plain" },
      none,
      "Feature flag must have at least 2 variants (control and at least one test variant)",
    ],
    [
      "a flag without control",
      { ...good, feature_flag_key: "ab" },
      none,
      "Feature flag must have a variant with key 'control'",
    ],
    [
      "one variant",
      withVariants(variant("control")),
      null,
      "Feature flag must have at least 2 variants (control and at least one test variant)",
    ],
    [
      "variants without control",
      withVariants(variant("a"), variant("b")),
      null,
      "Feature flag variants must contain a variant with key 'control' (lowercase, exactly). Got keys: ['a', 'b']. Rename the baseline variant's 'key' to 'control'.",
    ],
    ["a variant that is text", withVariants("control"), null, "Feature flag variant at index 0 must be an object"],
    [
      "a variant without a key",
      withVariants({ rollout_percentage: 1 }),
      null,
      "Feature flag variant at index 0 must have a 'key' field",
    ],
    [
      "a variant without a share",
      withVariants({ key: "control" }),
      null,
      "Each variant must include split_percent (recommended) or rollout_percentage (deprecated).",
    ],
    [
      "21 variants",
      withVariants(...Array.from({ length: 21 }, (_, i) => variant(`v${i}`))),
      null,
      "Feature flag variants must be less than 21",
    ],
    [
      "a sum that is not 100",
      withVariants(variant("control"), { key: "b", rollout_percentage: 10 }),
      "filters",
      "Invalid variant definitions: Variant rollout percentages must sum to 100.",
    ],
    [
      "parameters as a list",
      { ...good, parameters: [] },
      "parameters",
      'Expected a dictionary of items but got type "list".',
    ],
    ["a holdout: there are none", { ...good, holdout_id: 7 }, "holdout_id", 'Invalid pk "7" - object does not exist.'],
    [
      "a shared metric: there are none",
      { ...good, saved_metrics_ids: [{ id: 7 }] },
      "saved_metrics_ids",
      "Saved metric does not exist or does not belong to this project",
    ],
    [
      "shared metrics as text",
      { ...good, saved_metrics_ids: "7" },
      "saved_metrics_ids",
      "Saved metrics must be a list",
    ],
    [
      "criteria as text",
      criteria("all"),
      "exposure_criteria",
      "exposure_criteria must be an object, got str. Expected shape: {'filterTestAccounts': <bool>, 'exposure_config': <object>}.",
    ],
    [
      "test accounts as text",
      criteria({ filterTestAccounts: "yes" }),
      "exposure_criteria",
      "exposure_criteria.filterTestAccounts must be a boolean, got str: 'yes'.",
    ],
    [
      "dates in the wrong order",
      { ...good, start_date: "2026-03-02T00:00:00Z", end_date: "2026-03-01T00:00:00Z" },
      none,
      "End date must be after start date",
    ],
    [
      "a date that is none",
      { ...good, start_date: "soon" },
      "start_date",
      "Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].",
    ],
    ["metrics as an object", { ...good, metrics: {} }, "metrics", "Metrics must be a list"],
    ["a metric that is text", metric("x"), "metrics", "Invalid metric at index 0: must be a dict"],
    [
      "an older kind of metric",
      metric({ kind: "ExperimentTrendsQuery" }),
      "metrics",
      "Invalid metric at index 0: legacy metric kind 'ExperimentTrendsQuery' is no longer supported for new experiments. Use 'ExperimentMetric' instead.",
    ],
    [
      "another kind of metric",
      metric({ kind: "TrendsQuery" }),
      "metrics",
      "Invalid metric at index 0: metric kind must be 'ExperimentMetric'",
    ],
    [
      "another type of metric",
      metric({ kind: "ExperimentMetric", metric_type: "sum" }),
      "metrics",
      "Invalid metric at index 0: metric_type must be one of 'mean', 'funnel', 'ratio', 'retention', got 'sum'",
    ],
    [
      "a funnel without steps",
      metric({ kind: "ExperimentMetric", metric_type: "funnel", series: [] }),
      "metrics",
      "Invalid metric at index 0: funnel metrics require at least one step. The experiment exposure event is added as the initial step automatically.",
    ],
    [
      "a ratio without a denominator",
      metric({ kind: "ExperimentMetric", metric_type: "ratio", numerator: {} }),
      "metrics",
      "Invalid metric at index 0: [{'loc': ('ExperimentRatioMetric', 'denominator'), 'type': 'missing', 'msg': 'Field required'}].",
    ],
    [
      "an action that does not exist",
      metric({ ...mean, source: { kind: "ActionsNode", id: 9 } }),
      none,
      "Action(s) with ID 9 not found or deleted. Each ActionsNode must reference an existing action belonging to this project.",
    ],
    [
      "statistics of another method",
      { ...good, stats_config: { method: "guess" } },
      none,
      "Invalid stats method: 'guess'. Must be one of: bayesian, frequentist",
    ],
    [
      "a baseline that is no variant",
      { ...good, stats_config: { baseline_variant_key: "x" } },
      none,
      "Invalid baseline_variant_key: 'x'. Must be one of: control, test",
    ],
    [
      "excluding the baseline",
      { ...good, excluded_variants: ["control"] },
      none,
      "baseline variant cannot be excluded ('control')",
    ],
    [
      "excluding every test variant",
      { ...good, excluded_variants: ["test"] },
      none,
      "at least one test variant must remain in analysis",
    ],
    ["another type", { ...good, type: "mobile" }, "type", '"mobile" is not a valid choice.'],
  ])("%s", async (_, body, attr, detail) => {
    const it = sim();
    const answer = await it.post(root, body);
    expect([answer.status, answer.json.type, answer.json.attr, answer.json.detail]).toEqual([
      400,
      "validation_error",
      attr,
      detail,
    ]);
    expect(it.worlds.current.feature_flags).toHaveLength(4);
    expect(it.worlds.current.resources).toHaveLength(0);
  });

  test("events that were never captured, unless the client knows", async () => {
    const it = sim({ events: [event("seen")] });
    const body = { ...good, metrics: [mean] };
    const { status, json } = await it.post(root, body);
    expect([status, json.detail]).toEqual([400, expect.stringMatching(/^Event\(s\) 'paid' not found\./)]);
    expect((await it.post(root, { ...body, allow_unknown_events: true })).status).toBe(201);
    const seen = { ...mean, source: { kind: "EventsNode", event: "seen" } };
    expect((await it.patch(`${root}/1`, { metrics: [seen] })).status).toBe(200);
    expect((await it.patch(`${root}/1`, { metrics_secondary: [mean] })).status).toBe(400);
  });

  test("what an experiment's state does not allow", async () => {
    const it = sim();
    await it.post(root, good);
    const refusals = async (...actions: string[]) => {
      const details: string[] = [];
      for (const it_ of actions) details.push((await it.post(`${root}/1/${it_}`, { variant_key: "test" })).json.detail);
      return details;
    };
    const early = "Experiment has not been launched yet.";
    expect(await refusals("pause", "resume", "end", "ship_variant", "archive", "unarchive", "reset")).toEqual([
      early,
      early,
      early,
      early,
      "Experiment must be ended before it can be archived.",
      "Experiment is not archived.",
      "Experiment is already in draft state.",
    ]);
    await it.post(`${root}/1/launch`);
    expect(await refusals("launch", "resume")).toEqual([
      "Experiment has already been launched.",
      "Experiment is not paused.",
    ]);
    const absent = await it.post(`${root}/1/ship_variant`, { variant_key: "x" });
    expect(absent.json.detail).toBe("Variant 'x' not found on feature flag.");
    expect((await it.post(`${root}/1/ship_variant`, {})).json).toMatchObject({ attr: "variant_key", code: "required" });
    await it.post(`${root}/1/pause`);
    expect(await refusals("pause")).toEqual(["Experiment is already paused."]);
    await it.post(`${root}/1/end`);
    expect(await refusals("end", "pause", "resume")).toEqual(Array(3).fill("Experiment has already ended."));
    expect((await it.post(`${root}/1/archive`)).json.archived).toBe(true);
    expect(await refusals("archive")).toEqual(["Experiment is already archived."]);
    expect((await it.post(`${root}/1/reset`)).json).toMatchObject({ status: "draft", archived: false });
    expect((await it.post(`${root}/2/launch`)).status).toBe(404);
  });

  test("a key without the scope, another project's experiment, another flag in a change", async () => {
    const world = twoOrganizations();
    const [key] = world.personal_api_keys;
    if (key) world.personal_api_keys.push({ ...key, id: "r", key: "phx_reads", scopes: ["experiment:read"] });
    const it = manage({ world });
    const { status, json } = await it.post(root, good, { key: "phx_reads" });
    expect([status, json.detail]).toEqual([403, "API key missing required scope 'experiment:write'"]);
    await it.post(root, good);
    expect((await it.get(`${root}/1`, { key: "phx_reads" })).status).toBe(200);
    expect((await it.get("/api/projects/2/experiments/1")).status).toBe(404);
    const other = await it.patch(`${root}/1`, { feature_flag_key: "else" });
    expect(other.json.detail).toBe("Can't update keys: get_feature_flag_key on Experiment");
  });

  test("deleting the flag of a running experiment", async () => {
    const it = sim();
    await it.post(root, good);
    await it.post(`${root}/1/launch`);
    const { status, json } = await it.patch(`${flags}/5`, { deleted: true });
    expect([status, json.detail]).toEqual([
      400,
      'Cannot delete a feature flag that is linked to running experiment(s): "Checkout" (ID: 1). Please stop the experiment(s) before deleting the flag.',
    ]);
    await it.post(`${root}/1/reset`);
    expect((await it.patch(`${flags}/5`, { deleted: true })).status).toBe(200);
    expect((await it.post(`${root}/1/launch`)).json.detail).toBe(
      "Experiment cannot be launched because its feature flag has been deleted.",
    );
    await it.patch(`${root}/1`, { deleted: true });
    const restored = await it.patch(`${root}/1`, { deleted: false });
    expect(restored.json.detail).toMatch(/^Cannot restore experiment: the linked feature flag has been deleted\./);
  });
});

test("lists are narrowed by status, archive, flag, author and name, and ordered", async () => {
  const it = sim();
  for (const name of ["Draft", "Running", "Paused", "Stopped", "Old"]) {
    await it.post(root, { name, feature_flag_key: name });
  }
  for (const id of [2, 3, 4, 5]) await it.post(`${root}/${id}/launch`);
  await it.post(`${root}/3/pause`);
  for (const id of [4, 5]) await it.post(`${root}/${id}/end`);
  await it.post(`${root}/5/archive`);
  const names = async (query: string) =>
    (await it.get(`${root}/?${query}`)).json.results.map((one: { name: string }) => one.name);
  expect(await names("")).toEqual(["Stopped", "Paused", "Running", "Draft"]);
  expect(await names("status=draft")).toEqual(["Draft"]);
  expect(await names("status=running")).toEqual(["Running"]);
  expect(await names("status=paused")).toEqual(["Paused"]);
  expect(await names("status=complete")).toEqual(["Stopped"]);
  expect(await names("archived=true")).toEqual(["Old"]);
  expect(await names("feature_flag_id=6")).toEqual(["Running"]);
  expect(await names("created_by_id=2")).toEqual([]);
  expect(await names("search=paus")).toEqual(["Paused"]);
  expect(await names("order=name")).toEqual(["Draft", "Paused", "Running", "Stopped"]);
  expect(await names("order=-name")).toEqual(["Stopped", "Running", "Paused", "Draft"]);
});

test("a web experiment keeps the shares of its variants for browsers", async () => {
  const it = sim();
  await it.post(root, { name: "Button", feature_flag_key: "linked", type: "web" });
  const [stored] = it.worlds.current.resources;
  expect(stored?.fields).toMatchObject({
    type: "web",
    variants: { control: { rollout_percentage: 100 }, test: { rollout_percentage: 0 } },
  });
});
