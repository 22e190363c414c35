import { describe, expect, test } from "vitest";
import { createRulesets } from "../../../../src/service/flags/rulesets.ts";
import { blankFeatureFlag } from "../../../../src/state/documents/blank.ts";
import { WorldSchema } from "../../../../src/state/documents/world.schema.ts";
import type { Cohort, FeatureFlag, World } from "../../../../src/state/documents/world.ts";
import { manage } from "../../management/manage.ts";
import { startedAt, twoOrganizations } from "../../management/world.ts";

const root = "/api/projects/1/feature_flags";

const flag = (id: number, given: Partial<FeatureFlag> = {}): FeatureFlag =>
  blankFeatureFlag({ id, project: 1, key: `flag-${id}`, ...given }, startedAt);

const condition = (filter: object) => ({ type: "AND", values: [filter] });
const cohort = (id: number, filter: object, given: Partial<Cohort> = {}): Cohort => ({
  id,
  project: 1,
  name: `Cohort ${id}`,
  filters: { properties: { type: "OR", values: [condition(filter)] } } as Cohort["filters"],
  ...given,
});

const plan = { type: "person", key: "plan", value: "pro", operator: "exact" };
const didSomething = { type: "behavioral", key: "$pageview", value: "performed_event", event_type: "events" };

/** Flags 1–3 in project 1, 4 in project 2, 5 in the other organization's; cohorts beside them. */
function flagWorld(): World {
  const world = twoOrganizations();
  world.feature_flags = [
    flag(1, { key: "first", name: "The first", tags: ["beta"], created_by: 1 }),
    flag(2, {
      key: "second",
      active: false,
      created_at: "2026-02-01T00:00:00Z",
      evaluation_runtime: "server",
      is_remote_configuration: true,
      filters: {
        groups: [{ properties: [{ ...plan }], rollout_percentage: 30 }],
        multivariate: {
          variants: [
            { key: "a", rollout_percentage: 50 },
            { key: "b", rollout_percentage: 50 },
          ],
        },
      },
    }),
    flag(3, { key: "gone", deleted: true }),
    flag(4, { project: 2, key: "elsewhere" }),
    flag(5, { project: 3, key: "foreign" }),
  ];
  world.cohorts = [
    cohort(1, plan),
    cohort(2, didSomething, { name: "Visitors" }),
    cohort(3, { type: "cohort", key: "id", value: 2 }),
    cohort(4, plan, { project: 3 }),
    cohort(5, didSomething, { is_static: true }),
  ];
  return world;
}

const start = () => manage({ world: flagWorld() });
const error = (detail: string, attr: string | null, code = "invalid_input") => ({
  type: "validation_error",
  code,
  detail,
  attr,
});
const wire = "2026-03-04T05:06:07.089000Z";

test("a new flag is for everyone, and is shown whole", async () => {
  const { post, get, worlds } = start();
  const made = await post(`${root}/`, { key: "new-flag" });
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({ created_by: { id: 1 }, last_modified_by: { id: 1 } });
  expect({ ...made.json, created_by: 0, last_modified_by: 0 }).toEqual({
    id: 6,
    name: "",
    key: "new-flag",
    filters: { groups: [{ properties: [], rollout_percentage: null }] },
    deleted: false,
    active: true,
    archived: false,
    created_by: 0,
    created_at: wire,
    updated_at: wire,
    version: 1,
    last_modified_by: 0,
    is_simple_flag: true,
    rollout_percentage: null,
    ensure_experience_continuity: false,
    experiment_set: [],
    surveys: [],
    features: [],
    rollback_conditions: [],
    performed_rollback: false,
    can_edit: true,
    tags: [],
    evaluation_tags: [],
    usage_dashboard: null,
    analytics_dashboards: [],
    has_enriched_analytics: false,
    user_access_level: "editor",
    is_remote_configuration: false,
    has_encrypted_payloads: false,
    status: "ACTIVE",
    evaluation_runtime: "all",
    bucketing_identifier: null,
    last_called_at: null,
  });
  expect((await get(`${root}/6/`)).json).toEqual(made.json);
  expect(WorldSchema.safeParse({ ...worlds.current }).success).toBe(true);
});

test("every writable field is kept; read-only and unknown ones are not", async () => {
  const { post } = start();
  const written = {
    name: "Named",
    key: "k_1",
    active: "no",
    created_at: "2025-01-01T00:00:00+01:00",
    ensure_experience_continuity: true,
    is_remote_configuration: true,
    has_encrypted_payloads: "true",
    evaluation_runtime: "client",
    bucketing_identifier: "device_id",
    tags: [" B ", "a", "b"],
  };
  const { json } = await post(`${root}/`, { ...written, id: 99, version: 12, status: "STALE", nonsense: 1 });
  expect(json).toMatchObject({
    ...written,
    id: 6,
    version: 1,
    status: "ACTIVE",
    active: false,
    created_at: "2024-12-31T23:00:00Z",
    has_encrypted_payloads: true,
    tags: ["a", "b"],
  });
  expect(json).not.toHaveProperty("nonsense");
});

const group = (...properties: object[]) => ({ groups: [{ properties, rollout_percentage: 50 }] });
const variants = (...shares: number[]) => ({
  variants: shares.map((rollout_percentage, i) => ({ key: `v${i}`, rollout_percentage })),
});

test.each([
  ["a person filter", group(plan)],
  ["a cohort", group({ type: "cohort", key: "id", value: 1 })],
  ["a static cohort that keeps behaviour", group({ type: "cohort", key: "id", value: "5" })],
  ["a flag", group({ type: "flag", key: "1", value: true, operator: "flag_evaluates_to" })],
  ["dates", group({ ...plan, operator: "is_date_after", value: "-7d" })],
  ["a date with time", group({ ...plan, operator: "is_date_before", value: "2026-01-02T03:04:05Z" })],
  ["text comparisons", group({ ...plan, operator: "gte", value: "5" })],
  ["several parts", group({ ...plan, operator: "icontains_multi", value: ["a"] })],
  [
    "a group flag",
    {
      aggregation_group_type_index: 0,
      ...group({ type: "group", key: "size", value: 5, operator: "exact", group_type_index: 0 }),
    },
  ],
  ["a set about a group", { groups: [{ aggregation_group_type_index: 1, properties: [], rollout_percentage: 100 }] }],
  ["variants with payloads", { ...group(), multivariate: variants(40, 60), payloads: { v0: "1", v1: { a: 1 } } }],
  ["a forced variant", { groups: [{ properties: [], variant: "v1" }], multivariate: variants(100, 0) }],
  ["a payload", { ...group(), payloads: { true: '{"a":1}' } }],
  ["null for no variants", { ...group(), multivariate: null }],
  ["what the sim does not know", { ...group(), holdout: { id: 1 }, early_exit: true }],
])("filters with %s are taken as they are", async (_, filters) => {
  const { post, get, worlds } = start();
  const made = await post(`${root}/`, { key: "ok", filters });
  expect(made.json).toMatchObject({ filters });
  expect(made.status).toBe(201);
  expect((await get(`${root}/${made.json.id}/`)).json.filters).toMatchObject(filters);
  expect(WorldSchema.safeParse({ ...worlds.current }).success).toBe(true);
});

type Refused = [body: object, detail: string, attr: string, code?: string];

async function refuses(body: object, expected: object): Promise<void> {
  const { post, worlds } = start();
  const { status, json } = await post(`${root}/`, body);
  expect(json).toEqual(expected);
  expect(status).toBe(400);
  expect(worlds.current.feature_flags).toHaveLength(5);
}

test.each<Refused>([
  [{}, "This field is required.", "key", "required"],
  [{ key: null }, "This field may not be null.", "key", "null"],
  [{ key: " " }, "This field may not be blank.", "key", "blank"],
  [{ key: true }, "Not a valid string.", "key"],
  [{ key: "x".repeat(401) }, "Ensure this field has no more than 400 characters.", "key", "max_length"],
  [{ key: "a b" }, "Only letters, numbers, hyphens (-) & underscores (_) are allowed.", "key", "invalid_key"],
  [{ key: "first" }, "There is already a feature flag with this key.", "key", "unique"],
  [{ key: "k", name: [] }, "Not a valid string.", "name"],
  [{ key: "k", name: null }, "This field may not be null.", "name", "null"],
  [{ key: "k", active: "maybe" }, "Must be a valid boolean.", "active"],
  [{ key: "k", deleted: null }, "This field may not be null.", "deleted", "null"],
  [{ key: "k", version: "x" }, "A valid integer is required.", "version"],
  [{ key: "k", tags: "a" }, 'Expected a list of items but got type "str".', "tags", "not_a_list"],
  [{ key: "k", tags: [[]] }, "Not a valid string.", "tags__0"],
  [{ key: "k", creation_context: "x" }, '"x" is not a valid choice.', "creation_context", "invalid_choice"],
  [{ key: "k", evaluation_runtime: "edge" }, '"edge" is not a valid choice.', "evaluation_runtime", "invalid_choice"],
  [{ key: "k", bucketing_identifier: "x" }, '"x" is not a valid choice.', "bucketing_identifier", "invalid_choice"],
  [{ key: "k", filters: [] }, 'Expected a dictionary of items but got type "list".', "filters", "not_a_dict"],
])("%j is refused", (body, detail, attr, code) => refuses(body, error(detail, attr, code)));

const onFlag = (key: string, operator = "flag_evaluates_to") => group({ type: "flag", key, value: true, operator });
const inCohort = (value: unknown) => group({ type: "cohort", key: "id", value });
const invalidValue = (operator: string, value: unknown, shown: string): [object, string, string] => [
  group({ ...plan, operator, value }),
  `Invalid value for operator ${operator}: ${shown}`,
  "invalid_value",
];

test.each<[filters: object, detail: string, code?: string]>([
  [{ groups: 1 }, 'Filters are not valid (groups: Expected a list of items but got type "int".)'],
  [
    { groups: [{ properties: [{ type: "person" }] }] },
    "Filters are not valid (groups.0.properties.0.key: This field is required.)",
  ],
  [
    { groups: [{ properties: [], rollout_percentage: 101 }] },
    "Filters are not valid (rollout percentages must be between 0 and 100)",
  ],
  [
    { groups: [], multivariate: variants(-1, 101) },
    "Filters are not valid (rollout percentages must be between 0 and 100)",
  ],
  [group({ key: "plan", value: 1 }), "Filters are not valid (can only use person, cohort, and flag properties)"],
  [{ aggregation_group_type_index: 0, ...group(plan) }, "Filters are not valid (can only use group properties)"],
  [onFlag("1", "exact"), "Flag properties must use the 'flag_evaluates_to' operator"],
  [onFlag("first"), "Flag dependencies must reference flag IDs (integers), not flag keys. Invalid reference: 'first'"],
  ...["3", "4", "77"].map((key): [object, string] => [
    onFlag(key),
    `Flag dependency references non-existent flag with ID ${key}`,
  ]),
  [
    { ...group(), multivariate: variants(50, 40) },
    "Invalid variant definitions: Variant rollout percentages must sum to 100.",
  ],
  [
    { groups: [{ properties: [], variant: "v9" }], multivariate: variants(100) },
    "Filters are not valid (variant override does not exist)",
  ],
  ...[4, 99, "x", null].map((value): [object, string, string] => [
    inCohort(value),
    `Cohort with id ${value ?? "None"} does not exist`,
    "cohort_does_not_exist",
  ]),
  ...[2, 3].map((value): [object, string, string] => [
    inCohort(value),
    "Cohort 'Visitors' with filters on events cannot be used in feature flags.",
    "behavioral_cohort_found",
  ]),
  [group({ ...plan, operator: "is_date_after", value: "soon" }), "Invalid date value: soon", "invalid_date"],
  invalidValue("gt", 5, "5"),
  invalidValue("regex", true, "True"),
  invalidValue("icontains", ["a"], '["a"]'),
  [
    group({ ...plan, operator: "icontains_multi" }),
    "icontains_multi operator requires a list of values",
    "invalid_value",
  ],
  ...[[], null, "x"].map((payloads): [object, string] => [
    { ...group(), payloads },
    "Payloads must be passed as a dictionary",
  ]),
  [{ ...group(), payloads: { true: "{" } }, "Payload value is not valid JSON"],
  [{ ...group(), payloads: { on: "1" } }, "Payload keys must be 'true' for boolean flags"],
  [
    { ...group(), multivariate: variants(100), payloads: { true: "1" } },
    "Payload keys must match a variant key for multivariate flags",
  ],
])("filters %j are refused", (filters, detail, code) => refuses({ key: "k", filters }, error(detail, "filters", code)));

describe("rules of a version that is not evaluated", () => {
  const versions: [version: unknown, shown: string][] = [
    [3, "3"],
    ["1", "1"],
    ["2", "2"],
    [null, "None"],
  ];
  const refused = (shown: string) =>
    error(
      `Filters are not valid (rules of version ${shown} are not supported by phx-sim; use version 1 or 2)`,
      "filters",
      "unsupported_config_version",
    );
  const bodies = (version: unknown): object[] => [
    { ...group(), version },
    { version, return_type: "boolean", default_value: false, rules: [] },
  ];

  test.each(versions)("%j is refused", async (version, shown) => {
    const { ask, worlds } = start();
    const before = worlds.current.feature_flags;
    for (const filters of bodies(version)) {
      for (const [method, path] of [
        ["POST", "/"],
        ["PATCH", "/1/"],
        ["PUT", "/1/"],
      ] as const) {
        const { status, json } = await ask(method, root + path, { body: { key: "next", filters } });
        expect([status, json]).toEqual([400, refused(shown)]);
      }
    }
    expect(worlds.current.feature_flags).toEqual(before);
  });

  test("version 1 is taken", async () => {
    const { post } = start();
    const { status, json } = await post(root, { key: "k", filters: { ...group(), version: 1 } });
    expect([status, json]).toMatchObject([201, { filters: { version: 1 } }]);
  });
});

test("a filter lists at most 1000 values", async () => {
  const { post } = start();
  const listing = (length: number) => ({
    key: "k",
    filters: group({ ...plan, value: Array.from({ length }, String) }),
  });
  expect((await post(root, listing(1001))).json).toEqual(
    error("Property group expressions of type plan cannot contain more than 1000 values.", "filters"),
  );
  expect((await post(root, listing(1000))).status).toBe(201);
});

test.each([
  ["", ["second", "first"]],
  ["active=true", ["first"]],
  ["active=false", ["second"]],
  ["active=STALE", ["first"]],
  ["search=SECO", ["second"]],
  ["search=the+first", ["first"]],
  ["type=boolean", ["first"]],
  ["type=multivariant", ["second"]],
  ["type=experiment", []],
  ["type=remote_config", ["second"]],
  ["type=toString", ["second", "first"]],
  ["created_by_id=1", ["first"]],
  ["created_by_id=2", []],
  ["evaluation_runtime=server", ["second"]],
  ["tags=beta", ["first"]],
  ["tags=%5B%22BETA%22%2C+%22x%22%5D", ["first"]],
  ["limit=1&offset=1", ["first"]],
])("the list with ?%s has %j", async (query, keys) => {
  const { get } = start();
  const { json } = await get(`${root}/?${query}`);
  expect(json.results.map((it: { key: string }) => it.key)).toEqual(keys);
});

test("the list follows what is created, renamed and deleted", async () => {
  const { get, post, patch } = start();
  const keys = async () => (await get(root)).json.results.map((it: { key: string }) => it.key);
  await post(root, { key: "new" });
  await patch(`${root}/1`, { key: "renamed" });
  await patch(`${root}/2`, { deleted: true });
  expect(await keys()).toEqual(["new", "renamed"]);
});

describe("changing a flag", () => {
  test.each([
    ["nothing", {}, {}],
    ["a name", { name: "N" }, { name: "N" }],
    ["a key", { key: "other" }, { key: "other" }],
    ["its own key", { key: "second" }, { key: "second" }],
    ["a deleted flag's key", { key: "gone" }, { key: "gone" }],
    ["null for a switch", { ensure_experience_continuity: null }, { ensure_experience_continuity: false }],
    ["filters without sets", { filters: { payloads: {} } }, {}],
    ["null for the runtime", { evaluation_runtime: null }, { evaluation_runtime: null }],
    ["tags", { tags: ["z", "y"] }, { tags: ["y", "z"] }],
  ])("PATCH with %s", async (_, body, changed) => {
    const { get, patch } = start();
    const before = (await get(`${root}/2/`)).json;
    const { status, json } = await patch(`${root}/2/`, body, { key: "phx_ben" });
    expect(status).toBe(200);
    expect(json.last_modified_by.id).toBe(2);
    expect(json).toEqual({
      ...before,
      ...changed,
      version: 2,
      updated_at: wire,
      last_modified_by: json.last_modified_by,
    });
  });

  test("PUT needs the key, and opens filters without sets for everyone", async () => {
    const { put } = start();
    expect((await put(`${root}/2/`, { name: "N" })).json).toEqual(error("This field is required.", "key", "required"));
    const { json } = await put(`${root}/2/`, { key: "second", filters: {} });
    expect(json).toMatchObject({ active: false, filters: { groups: [{ rollout_percentage: null }] } });
  });

  test("the old form of enrolment follows the key", async () => {
    const { patch } = start();
    const enrolment = (key: string) => ({
      ...group(),
      super_groups: [
        { properties: [{ key: `$feature_enrollment/${key}`, type: "person", operator: "exact", value: ["true"] }] },
      ],
    });
    await patch(`${root}/1/`, { filters: enrolment("first") });
    const { json } = await patch(`${root}/1/`, { key: "renamed" });
    expect(json.filters).toEqual(enrolment("renamed"));
  });

  test.each([
    [{ key: "second" }, error("There is already a feature flag with this key.", "key", "unique")],
    [{ filters: "x" }, error('Expected a dictionary of items but got type "str".', "filters", "not_a_dict")],
    [{ filters: { groups: [], payloads: 1 } }, error("Payloads must be passed as a dictionary", "filters")],
    [{ filters: onFlag("1") }, error("Feature flag 'first' cannot depend on itself", "filters")],
  ])("PATCH with %j is refused", async (body, expected) => {
    const { patch, worlds } = start();
    const { status, json } = await patch(`${root}/1/`, body);
    expect(json).toEqual(expected);
    expect(status).toBe(400);
    expect(worlds.get("feature_flags", 1)?.version).toBe(1);
  });

  test("flags that depend on each other may not form a circle, nor lose one of them", async () => {
    const { patch } = start();
    expect((await patch(`${root}/2/`, { filters: onFlag("1") })).status).toBe(200);
    expect((await patch(`${root}/1/`, { filters: onFlag("2") })).json).toEqual(
      error("Circular dependency detected: first → second → first", "filters"),
    );
    expect((await patch(`${root}/1/`, { deleted: true })).json).toEqual(
      error(
        "Cannot delete this feature flag because other flags depend on it: second (ID: 2). Please update or delete the dependent flags first.",
        null,
      ),
    );
  });

  test.each([
    ["no original", { version: 0, name: "C" }, 200],
    ["the current version", { version: 2, name: "C", original_flag: { name: "The first" } }, 200],
    ["a field that no one else changed", { version: 1, key: "k", original_flag: { key: "first" } }, 200],
    ["the same value", { version: 1, name: "B", original_flag: { name: "The first" } }, 200],
    ["a field that another user changed", { version: 1, name: "C", original_flag: { name: "The first" } }, 409],
  ])("an old version and %s", async (_, body, expected) => {
    const { patch } = start();
    await patch(`${root}/1/`, { name: "B" }, { key: "phx_ben" });
    const { status, json } = await patch(`${root}/1/`, body);
    expect(status).toBe(expected);
    if (expected === 409) {
      expect(json).toEqual({
        type: "server_error",
        code: "conflict",
        detail:
          "The feature flag was updated by ben@example.test since you started editing it. Please refresh and try again.",
        attr: null,
      });
    }
  });
});

test("a flag is deleted and restored with PATCH; its key is free meanwhile", async () => {
  const { get, patch, post } = start();
  expect((await patch(`${root}/1/`, { deleted: true })).json).toMatchObject({ deleted: true, version: 2 });
  expect((await get(`${root}/1/`)).json.deleted).toBe(true);
  expect((await patch(`${root}/1/`, { deleted: false })).json.deleted).toBe(false);
  await patch(`${root}/1/`, { deleted: true });
  expect((await post(root, { key: "first" })).json.id).toBe(6);
  // The new flag has taken the place of the deleted one.
  expect((await get(`${root}/1/`)).status).toBe(404);
});

test("a deleted flag is not restored beside another with its key", async () => {
  const { patch } = start();
  await patch(`${root}/2/`, { key: "gone" });
  expect((await patch(`${root}/3/`, { deleted: false })).json).toEqual(
    error("There is already a feature flag with this key.", "key", "unique"),
  );
});

test("cohorts in filters are shown with their names, and kept without", async () => {
  const { post, worlds } = start();
  const filters = group({ type: "cohort", key: "id", value: 1 });
  const { json } = await post(root, { key: "k", filters });
  expect(json.filters.groups[0].properties).toEqual([{ type: "cohort", key: "id", value: 1, cohort_name: "Cohort 1" }]);
  expect(worlds.get("feature_flags", json.id)?.filters).toEqual(filters);
});

test.each([
  [{ groups: [{ properties: [], rollout_percentage: 25 }] }, true, 25],
  [{ groups: [{ properties: [plan], rollout_percentage: 25 }] }, false, null],
  [{ groups: [{ properties: [] }, { properties: [] }] }, false, null],
  [{ groups: [] }, false, null],
  [{ aggregation_group_type_index: 0, groups: [{ properties: [] }] }, false, null],
])("%j is simple: %s", async (filters, simple, percentage) => {
  const { post } = start();
  const { json } = await post(root, { key: "k", filters });
  expect(json).toMatchObject({ is_simple_flag: simple, rollout_percentage: percentage });
});

test("what is written here is decided at once", async () => {
  const { desk, post, patch } = start();
  const rulesets = createRulesets(desk);
  const project = () => desk.worlds.projectById(1) ?? expect.unreachable();
  const keys = () => rulesets.rulesetOf(project()).flags.map((it) => it.flag.key);
  expect(keys()).toEqual(["first"]);
  await post(root, { key: "new" });
  await patch(`${root}/1`, { active: false });
  expect(keys()).toEqual(["new"]);
});

test("keys named like the prototype's are inert", async () => {
  const { post } = start();
  const { status, json } = await post(
    root,
    '{"key":"k","__proto__":{"active":false},"filters":{"groups":[],"__proto__":{"groups":1},"constructor":1}}',
  );
  expect(status).toBe(201);
  expect(json.active).toBe(true);
  expect(json.filters).toEqual({ groups: [], constructor: 1 });
});

test.each(["", "/"])("DELETE …/1%s is a 405 without a body, and deletes nothing", async (slash) => {
  const { delete: remove, worlds } = start();
  const answer = await remove(`${root}/1${slash}`);
  expect(answer).toMatchObject({ status: 405, text: "" });
  expect(answer.header("content-type")).toBeUndefined();
  expect(answer.header("allow")).toBe("GET, PUT, PATCH, DELETE, HEAD, OPTIONS");
  expect(worlds.get("feature_flags", 1)?.deleted).toBe(false);
});

test.each(["4", "5", "77", "first", "1e0", "99999999999999999999"])(
  "flag %s does not exist for project 1, whatever is done with it",
  async (id) => {
    const { get, patch, put } = start();
    const gone = { type: "invalid_request", code: "not_found", detail: "Not found.", attr: null };
    for (const answer of [
      await get(`${root}/${id}/`),
      await patch(`${root}/${id}/`, { key: "bad key" }),
      await put(`${root}/${id}/`, {}),
    ]) {
      expect(answer).toMatchObject({ status: 404, json: gone });
    }
  },
);

test.each([
  ["GET", "/", "feature_flag:read"],
  ["POST", "/", "feature_flag:write"],
  ["GET", "/1/", "feature_flag:read"],
  ["PATCH", "/1/", "feature_flag:write"],
  ["PUT", "/1/", "feature_flag:write"],
  ["DELETE", "/1/", "feature_flag:write"],
])("%s %s needs %s", async (method, path, scope) => {
  const { ask } = start();
  const { status, json } = await ask(method, root + path, { key: "phx_reader", body: {} });
  expect(json.detail).toBe(`API key missing required scope '${scope}'`);
  expect(status).toBe(403);
});

test("both addresses and members without a role work", async () => {
  const { get, patch } = start();
  expect((await patch("/api/environments/1/feature_flags/1", { name: "M" }, { key: "phx_cleo" })).status).toBe(200);
  expect((await get(`${root}/1`)).json.name).toBe("M");
  expect((await get("/api/projects/@current/feature_flags/4/", { key: "phx_dan" })).json.key).toBe("elsewhere");
});
