import { describe, expect, test } from "vitest";
import { blankFeatureFlag } from "../../../src/state/documents/blank.ts";
import { resourceOf } from "../../../src/state/documents/resources.ts";
import { manage } from "./manage.ts";
import { startedAt, twoOrganizations } from "./world.ts";

const root = "/api/projects/1/early_access_feature";
const flags = "/api/projects/1/feature_flags";
const now = "2026-03-04T05:06:07.089000Z";

const variants = ["a", "b"].map((key) => ({ key, rollout_percentage: 50 }));

/** Flag 1 is a plain one, flag 2 has variants, flag 3 is about groups, flag 4 is another project's. */
function sim() {
  const world = twoOrganizations();
  const flag = (id: number, key: string, filters: object = {}, project = 1) =>
    blankFeatureFlag({ id, project, key, filters: { groups: [], ...filters } }, startedAt);
  world.feature_flags = [
    flag(1, "linked", { super_groups: [{ properties: [], rollout_percentage: 100 }] }),
    flag(2, "multi", { multivariate: { variants } }),
    flag(3, "grouped", { aggregation_group_type_index: 0 }),
    flag(4, "foreign", {}, 2),
  ];
  const [key] = world.personal_api_keys;
  if (key) {
    world.personal_api_keys.push({ ...key, id: "f", key: "phx_features", scopes: ["early_access_feature:write"] });
  }
  return manage({ world });
}

const enrolment = async (it: ReturnType<typeof sim>, id: number) =>
  (await it.get(`${flags}/${id}/`)).json.filters.feature_enrollment;

test("the vendor's Terraform provider creates, changes and deletes a feature; the flag stays", async () => {
  const it = sim();
  const made = await it.post(`${root}/`, { name: "Dark Mode & more!", stage: "draft", payload: { order: 1 } });
  expect(made.status).toBe(201);
  expect(made.json).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: "Dark Mode & more!",
    description: "",
    stage: "draft",
    documentation_url: "",
    payload: { order: 1 },
    created_at: now,
    created_by: expect.objectContaining({ id: 1 }),
    feature_flag: expect.objectContaining({
      id: 5,
      key: "dark-mode-more",
      name: "Feature Flag for Early Access Feature Dark Mode & more!",
      active: true,
      filters: { groups: [{ properties: [], rollout_percentage: 0, variant: null }] },
    }),
    user_access_level: "editor",
  });
  const { id } = made.json;
  expect((await it.get(`${root}/${id}/`)).json).toEqual(made.json);
  const changed = await it.patch(`${root}/${id}/`, {
    name: "Dark Mode",
    stage: "beta",
    description: "For eyes",
    documentation_url: "https://docs.test/dark",
    feature_flag_id: 1,
  });
  expect(changed.json).toMatchObject({
    name: "Dark Mode",
    stage: "beta",
    payload: { order: 1 },
    documentation_url: "https://docs.test/dark",
    feature_flag: { id: 5, key: "dark-mode-more", filters: { feature_enrollment: true } },
  });
  expect((await it.get(`${flags}/5/`)).json.features).toMatchObject([
    { id, stage: "beta", flagKey: "dark-mode-more", documentationUrl: "https://docs.test/dark" },
  ]);
  expect((await it.get(`${root}/`)).json).toMatchObject({ count: 1, results: [{ id }] });
  expect((await it.delete(`${root}/${id}/`)).status).toBe(204);
  expect((await it.get(`${root}/${id}/`)).status).toBe(404);
  expect(await enrolment(it, 5)).toBeNull();
  expect(it.worlds.get("feature_flags", 5)?.deleted).toBe(false);
});

describe("the flag", () => {
  test("may be an existing one; active stages let in who opted in, in the present form only", async () => {
    const it = sim();
    const { json } = await it.post(root, { name: "Linked", stage: "alpha", feature_flag_id: 1 });
    expect(json.feature_flag).toMatchObject({ id: 1, filters: { groups: [], feature_enrollment: true } });
    expect(json.feature_flag.filters).not.toHaveProperty("super_groups");
    await it.patch(`${root}/${json.id}`, { stage: "archived" });
    expect(await enrolment(it, 1)).toBeNull();
    await it.patch(`${root}/${json.id}`, { stage: "general-availability" });
    expect(await enrolment(it, 1)).toBe(true);
    await it.patch(`${root}/${json.id}`, { stage: "concept" });
    expect(await enrolment(it, 1)).toBeNull();
  });

  test("is open to all when a feature is released to all", async () => {
    const it = sim();
    const { json } = await it.post(root, { name: "Linked", stage: "beta", feature_flag_id: 1 });
    const body = { stage: "general-availability", rollout_to_all: true };
    const changed = await it.patch(`${root}/${json.id}`, body);
    expect(changed.json.feature_flag.filters).toEqual({
      groups: [{ properties: [], rollout_percentage: 100 }],
      feature_enrollment: null,
    });
    expect(changed.json).not.toHaveProperty("rollout_to_all");
  });

  test("cannot be deleted before the feature", async () => {
    const it = sim();
    const { json } = await it.post(root, { name: "Linked", stage: "draft", feature_flag_id: 1 });
    const refused = await it.patch(`${flags}/1`, { deleted: true });
    expect([refused.status, refused.json.detail]).toEqual([
      400,
      "Cannot delete a feature flag that is in use with early access features. Please delete the early access feature before deleting the flag.",
    ]);
    await it.delete(`${root}/${json.id}`);
    expect((await it.patch(`${flags}/1`, { deleted: true })).status).toBe(200);
  });

  test("is written with the scope of flags only", async () => {
    const it = sim();
    const asked = { key: "phx_features" };
    const refused = await it.post(root, { name: "New", stage: "draft" }, asked);
    expect([refused.status, refused.json.detail]).toEqual([403, "API key missing required scope 'feature_flag:write'"]);
    const linked = await it.post(root, { name: "Old", stage: "draft", feature_flag_id: 1 }, asked);
    expect(linked.status).toBe(201);
    expect((await it.patch(`${root}/${linked.json.id}`, { stage: "beta" }, asked)).status).toBe(403);
    expect((await it.patch(`${root}/${linked.json.id}`, { name: "Older" }, asked)).status).toBe(200);
    expect((await it.delete(`${root}/${linked.json.id}`, asked)).status).toBe(403);
  });
});

test.each<[string, object, string | null, string]>([
  ["no name", { stage: "beta" }, "name", "This field is required."],
  ["no stage", { name: "x" }, "stage", "This field is required."],
  ["another stage", { name: "x", stage: "gamma" }, "stage", '"gamma" is not a valid choice.'],
  [
    "a long name",
    { name: "x".repeat(201), stage: "beta" },
    "name",
    "Ensure this field has no more than 200 characters.",
  ],
  [
    "an address that is none",
    { name: "x", stage: "beta", documentation_url: "docs" },
    "documentation_url",
    "Enter a valid URL.",
  ],
  ["a payload of null", { name: "x", stage: "beta", payload: null }, "payload", "This field may not be null."],
  ["a name without letters", { name: "!!!", stage: "beta" }, "key", "This field may not be blank."],
  [
    "a flag's key that is taken",
    { name: "Linked", stage: "beta" },
    "key",
    "There is already a feature flag with this key.",
  ],
  [
    "an unknown flag",
    { name: "x", stage: "beta", feature_flag_id: 99 },
    null,
    "Feature Flag with this ID does not exist",
  ],
  [
    "another project's flag",
    { name: "x", stage: "beta", feature_flag_id: 4 },
    null,
    "Feature Flag with this ID does not exist",
  ],
  [
    "a flag with variants",
    { name: "x", stage: "beta", feature_flag_id: 2 },
    null,
    "Multivariate feature flags are not supported for Early Access Features.",
  ],
  [
    "a flag about groups",
    { name: "x", stage: "beta", feature_flag_id: 3 },
    null,
    "Group-based feature flags are not supported for Early Access Features.",
  ],
])("refused: %s", async (_, body, attr, detail) => {
  const it = sim();
  const { status, json } = await it.post(root, body);
  expect([status, json.type, json.attr, json.detail]).toEqual([400, "validation_error", attr, detail]);
  expect(it.worlds.current.resources).toHaveLength(0);
  expect(it.worlds.current.feature_flags).toHaveLength(4);
});

test("refused: a flag that has a feature", async () => {
  const it = sim();
  await it.post(root, { name: "One", stage: "beta", feature_flag_id: 1 });
  const { status, json } = await it.post(root, { name: "Two", stage: "beta", feature_flag_id: 1 });
  expect([status, json.detail]).toEqual([400, "Linked feature flag linked already has a feature attached to it."]);
});

test("a document in the form of SDKs, of an older data folder, can be read and changed", async () => {
  const world = twoOrganizations();
  const id = "0190f1f8-aaaa-7bbb-8ccc-123456789012";
  world.feature_flags = [blankFeatureFlag({ id: 1, project: 1, key: "linked" }, startedAt)];
  world.resources.push(
    resourceOf("early_access_features", 1, id, { name: "Old", flagKey: "linked", documentationUrl: "https://d.test/" }),
  );
  const it = manage({ world });
  expect((await it.get(`${root}/${id}`)).json).toMatchObject({
    stage: "beta",
    documentation_url: "https://d.test/",
    feature_flag: { id: 1, key: "linked" },
  });
  const { json } = await it.patch(`${root}/${id}`, { documentation_url: "", stage: "archived" });
  expect(json).toMatchObject({ documentation_url: "", feature_flag: { id: 1 } });
});
