import { describe, expect, test } from "vitest";
import { isUuid } from "../../../src/kernel/base/text.ts";
import { type Scenario, scenarioPersonsOf, worldOf } from "../../../src/lab/scenario/scenario.ts";
import { ScenarioSchema } from "../../../src/lab/scenario/schema.ts";
import { WorldSchema } from "../../../src/state/documents/world.schema.ts";
import { collections, type World } from "../../../src/state/documents/world.ts";
import { fc } from "../../support/chance.ts";
import { fullExample } from "./full-example.ts";

const world = worldOf(fullExample());
const [ada, bob, eve] = world.users;
const [acme, globex] = world.organizations;
const [shop, blog, reactor] = world.projects;
const beginning = "2025-01-01T00:00:00Z";

/** A scenario of one organization with one project. */
const small = (project: object = {}, rest: object = {}): Scenario =>
  ScenarioSchema.parse({
    version: 1,
    organizations: [{ name: "Org", projects: [{ name: "P", api_key: "phc_p", ...project }] }],
    personal_api_keys: [{ key: "phx_p", scopes: ["*"] }],
    ...rest,
  });

describe("the full example", () => {
  test("is a scenario, and makes a world", () => {
    expect(ScenarioSchema.parse(fullExample())).toEqual(fullExample());
    expect(WorldSchema.parse(world)).toEqual(world);
  });

  test("uses every key that a scenario has", () => {
    const unmade = Object.entries(world).filter(([, it]) => Array.isArray(it) && it.length === 0);
    // Overrides are made while the sim runs.
    expect(unmade.map(([name]) => name)).toEqual(["flag_overrides"]);
  });

  test("places are kept as they are", () => {
    expect(world.geoip).toEqual(fullExample().geoip);
  });

  test("the same scenario makes the same world, and is not changed by it", () => {
    const scenario = fullExample();
    expect(worldOf(scenario)).toEqual(world);
    expect(worldOf(JSON.parse(JSON.stringify(scenario)))).toEqual(world);
    expect(scenario).toEqual(fullExample());
  });

  test("shares no document with the next world that is made of it", () => {
    const scenario = fullExample();
    const [first, second] = [worldOf(scenario), worldOf(scenario)];
    for (const name of collections) {
      for (const [i, document] of first[name].entries()) expect(document).not.toBe(second[name][i]);
    }
  });

  test("ids are unique in each collection", () => {
    for (const name of collections) {
      const ids = world[name].map((it) => it.id);
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  test("numbers follow the document; given ones win and are not used again", () => {
    expect(world.users.map((it) => it.id)).toEqual([1, 7, 8]);
    expect(world.projects.map((it) => it.id)).toEqual([1, 3, 4]);
    expect(world.insights.map((it) => it.id)).toEqual([1, 40, 41]);
    expect(world.dashboards.map((it) => it.id)).toEqual([1, 41, 42]);
    expect(world.dashboards.flatMap((it) => it.tiles.map((tile) => tile.id))).toEqual([1, 900, 901, 902]);
    expect(world.dashboards.flatMap((it) => it.tiles.flatMap((tile) => tile.text?.id ?? []))).toEqual([1, 2]);
    expect(world.sequences).toEqual({
      users: 8,
      projects: 4,
      dashboards: 42,
      tiles: 902,
      texts: 2,
      insights: 41,
      feature_flags: 3,
      cohorts: 2,
      batch_export_logs: 3,
      "resources/experiments": 5,
    });
  });
});

describe("accounts", () => {
  test("users keep what is given", () => {
    expect(ada).toMatchObject({ email: "Ada@acme.test", first_name: "Ada", last_name: "", is_staff: true });
    expect(ada?.date_joined).toBe(beginning);
    expect(ada?.distinct_id).toBe(ada?.uuid);
    expect(bob).toMatchObject({
      uuid: "0195a000-0000-7000-8000-000000000007",
      distinct_id: "bob-1",
      is_email_verified: null,
      hedgehog_config: { color: "blue" },
      is_active: false,
      date_joined: "2024-05-06T07:08:09.123000Z",
    });
    expect(eve?.first_name).toBe("eve");
  });

  test("members have their levels", () => {
    expect(world.memberships.map((it) => [it.organization, it.user, it.level])).toEqual([
      [acme?.id, 1, 15],
      [acme?.id, 7, 1],
      [globex?.id, 8, 8],
      [globex?.id, 7, 15],
    ]);
  });

  test.each([
    ["ada", ada, acme, shop],
    ["bob, a member of both", bob, acme, shop],
    ["eve", eve, globex, reactor],
  ])("%s works where the first membership is", (_, user, organization, project) => {
    expect(user?.current_organization).toBe(organization?.id);
    expect(user?.current_project).toBe(project?.id);
  });

  test("organizations have slugs and features", () => {
    expect([acme?.slug, globex?.slug]).toEqual(["acme", "globex-inc"]);
    expect(acme?.available_product_features?.map((it) => it.key)).toEqual(["access_control"]);
    expect(globex?.available_product_features).toBeNull();
    expect(acme).toMatchObject({ plugins_access_level: 9, enforce_2fa: true });
    expect(globex?.allow_publicly_shared_resources).toBe(false);
  });

  test("projects belong to their organization", () => {
    expect([shop, blog, reactor].map((it) => it?.organization)).toEqual([acme?.id, acme?.id, globex?.id]);
    expect(shop).toMatchObject({
      secret_api_key: "phs_shop",
      timezone: "Europe/Berlin",
      settings: { session_recording_opt_in: true },
      remote_config: { heatmaps: true },
      primary_dashboard: 1,
      adopted: false,
    });
    expect(blog).toMatchObject({ secret_api_key: "phs_of_the_blog", is_demo: true, primary_dashboard: null });
  });

  test("personal keys are limited by names and ids", () => {
    const [all, limited] = world.personal_api_keys;
    expect(all).toMatchObject({ user: 1, label: "phx_ada", scoped_teams: [], scoped_organizations: [] });
    expect(limited).toMatchObject({
      id: "Key-of-Bob",
      user: 7,
      scoped_teams: [1, 3],
      scoped_organizations: [acme?.id, globex?.id],
    });
  });
});

describe("dashboards", () => {
  const [launch, deleted, empty] = world.dashboards;

  test("what is given is kept, tags and times in the world's form", () => {
    expect(launch).toMatchObject({
      project: 1,
      tags: ["alpha", "launch"],
      restriction_level: 37,
      created_by: 7,
      created_at: "2025-03-01T09:30:00Z",
      filters: { date_from: "-7d" },
      variables: { v: 1 },
    });
    expect(empty).toMatchObject({ name: null, created_by: 1, created_at: beginning, tiles: [] });
  });

  test("tiles hold a text or an insight of the project", () => {
    const [text, signups, pageviews] = launch?.tiles ?? [];
    expect(text).toMatchObject({ insight: null, color: "blue", layouts: { sm: { x: 0, y: 0, w: 6, h: 5 } } });
    expect(text?.text).toEqual({
      id: 1,
      body: "## Notes",
      created_by: 7,
      last_modified_by: null,
      last_modified_at: "2025-03-01T09:30:00Z",
    });
    expect(signups).toMatchObject({ insight: 40, text: null, filters_overrides: { date_from: "-1d" } });
    expect(pageviews?.insight).toBe(1);
  });

  test("a deleted dashboard's tiles are deleted", () => {
    expect(deleted).toMatchObject({ deleted: true, created_by: null });
    expect(deleted?.tiles.map((tile) => tile.deleted)).toEqual([true]);
  });

  test("collaborators and sharing", () => {
    expect(world.dashboard_collaborators).toMatchObject([{ dashboard: 1, user: 7, level: 37 }]);
    expect(world.sharing_configurations).toMatchObject([{ dashboard: 1, enabled: true, former_tokens: [] }]);
    expect(world.sharing_configurations[0]?.access_token).toMatch(/^[\w-]{30}$/);
  });

  test("insights: saved, tidy, with a short id", () => {
    const [pageviews, signups] = world.insights;
    expect(pageviews).toMatchObject({ saved: true, tags: ["web"], created_by: 7, last_modified_by: 7 });
    expect(pageviews?.short_id).toMatch(/^[0-9A-Za-z]{8}$/);
    expect(signups).toMatchObject({ saved: false, short_id: "abcDEF12", created_by: 1 });
  });

  test("templates belong to the project", () => {
    expect(world.dashboard_templates).toMatchObject([{ project: 1, template_name: "Starter", variables: null }]);
  });
});

describe("batch exports", () => {
  const [nightly] = world.batch_exports;

  test("secrets are not kept", () => {
    expect(nightly?.destination.config).toEqual({
      bucket_name: "b",
      region: "r",
      prefix: "",
      aws_secret_access_key: "***",
    });
    expect(JSON.stringify(world)).not.toContain("topsecret");
  });

  test("times that are not given follow the interval; what runs has not ended", () => {
    expect(world.batch_export_runs.map((it) => [it.status, it.created_at, it.finished_at])).toEqual([
      ["Completed", "2025-01-02T00:00:00Z", "2025-01-02T00:00:00Z"],
      ["Failed", "2025-01-03T00:01:00Z", "2025-01-03T00:02:00Z"],
      ["Running", "2025-01-04T00:00:00Z", null],
    ]);
    expect(world.batch_export_backfills.map((it) => [it.status, it.finished_at])).toEqual([
      ["Completed", beginning],
      ["Running", null],
    ]);
  });

  test("runs know their export and backfill", () => {
    const [first, second] = world.batch_export_runs;
    expect(first).toMatchObject({
      batch_export: nightly?.id,
      backfill: "0195a000-0000-7000-8000-0000000000b1",
      bytes_exported: 2048,
    });
    expect(second).toMatchObject({ backfill: null, latest_error: "bucket is gone", records_completed: null });
  });

  test("logs are about the export or a run", () => {
    const [completed] = world.batch_export_runs;
    expect(world.batch_export_logs.map((it) => [it.run, it.timestamp, it.message])).toEqual([
      ["", beginning, "paused"],
      [completed?.id, "2025-01-02T00:00:00Z", "started"],
      [completed?.id, "2025-01-02T00:05:00Z", "done"],
    ]);
  });
});

describe("flags and cohorts", () => {
  const flagOf = (authored: unknown) => worldOf(small({ flags: { it: authored } })).feature_flags[0];

  test.each<[string, unknown, object]>([
    ["on", true, { groups: [{ properties: [], rollout_percentage: 100 }] }],
    ["off", false, { groups: [{ properties: [], rollout_percentage: 0 }] }],
    ["part", { rollout: 12.5 }, { groups: [{ properties: [], rollout_percentage: 12.5 }] }],
    [
      "for some",
      { person: { plan: "pro" } },
      {
        groups: [
          { properties: [{ key: "plan", value: "pro", operator: "exact", type: "person" }], rollout_percentage: 100 },
        ],
      },
    ],
    [
      "variants",
      { variants: { a: 30, b: 70 }, payloads: { a: { n: 1 } } },
      {
        groups: [{ properties: [], rollout_percentage: 100 }],
        multivariate: {
          variants: [
            { key: "a", rollout_percentage: 30 },
            { key: "b", rollout_percentage: 70 },
          ],
        },
        payloads: { a: '{"n":1}' },
      },
    ],
  ])("%s, in short", (_, authored, filters) => {
    expect(flagOf(authored)).toMatchObject({ key: "it", active: true, version: 1, filters });
  });

  test("as the service exports it", () => {
    const exported = {
      id: 55,
      team_id: 9,
      key: "another name",
      name: "Beta",
      active: false,
      version: null,
      evaluation_runtime: null,
      ensure_experience_continuity: true,
      tags: ["B", "a"],
      created_at: "2024-01-01T00:00:00.5Z",
      created_by: { id: 3, email: "someone@else.test" },
      filters: { groups: [{ rollout_percentage: 10, extra: 1 }], super_groups: null },
      experiment_set: [],
    };
    expect(flagOf(exported)).toEqual({
      id: 55,
      project: 1,
      key: "it",
      name: "Beta",
      active: false,
      deleted: false,
      version: 1,
      ensure_experience_continuity: true,
      has_encrypted_payloads: false,
      is_remote_configuration: false,
      evaluation_runtime: "all",
      bucketing_identifier: null,
      filters: { groups: [{ rollout_percentage: 10, extra: 1 }], super_groups: null },
      tags: ["a", "b"],
      created_at: "2024-01-01T00:00:00.500000Z",
      created_by: 1,
      updated_at: null,
      last_modified_by: 1,
    });
  });

  test("a cohort", () => {
    expect(world.cohorts).toMatchObject([
      { id: 1, project: 1, name: "Team", is_static: false, created_by: 1 },
      { id: 2, project: 1, name: "Friends", is_static: true },
    ]);
  });

  test("members of a static cohort are called by a distinct id, or by their uuid", () => {
    const [ann, anonymous] = scenarioPersonsOf(fullExample()).persons;
    expect(world.cohorts[1]?.persons).toEqual([ann?.person.uuid, anonymous?.person.uuid]);
  });
});

describe("what is not given", () => {
  const bare = worldOf(small());

  test("one user owns the organization and the key", () => {
    expect(bare.users).toMatchObject([
      { id: 1, email: "dev@phx-sim.test", first_name: "Dev", role_at_organization: "engineering" },
    ]);
    expect(bare.memberships).toMatchObject([{ user: 1, level: 15 }]);
    expect(bare.personal_api_keys).toMatchObject([{ user: 1 }]);
    expect(bare.organizations[0]?.available_product_features?.length).toBeGreaterThan(3);
  });

  test("documents that are called the same have ids of their own", () => {
    const twins = {
      batch_exports: [1, 2].map(() => ({ name: "Same", destination: { type: "NoOp", config: {} }, interval: "day" })),
    };
    const [one, two] = worldOf(small(twins)).batch_exports;
    expect(isUuid(one?.id) && isUuid(two?.id)).toBe(true);
    expect(one?.id).not.toBe(two?.id);
  });

  test("organizations that are called the same have slugs of their own", () => {
    const organizations = ["A b", "A  b!", "你好"].map((name, i) => ({
      name,
      projects: [{ name: "P", api_key: `phc_${i}` }],
    }));
    const slugs = worldOf(small({}, { organizations })).organizations.map((it) => it.slug);
    expect(slugs[0]).toBe("a-b");
    expect(slugs[1]).toMatch(/^a-b-[0-9a-z]{4}$/);
    expect(slugs[2]).toMatch(/^[0-9a-z]{4}$/);
  });

  test("numbers: given ones are kept, the others are free ones", () => {
    const givenIds = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 8 });
    const places = fc.array(fc.boolean(), { maxLength: 8 });
    fc.assert(
      fc.property(givenIds, places, (ids, gaps) => {
        const authored = [...ids.map((id) => ({ id })), ...gaps.map(() => ({}))].sort((a, b) =>
          JSON.stringify([gaps, a]) < JSON.stringify([gaps, b]) ? 1 : -1,
        );
        const made = worldOf(small({ dashboards: authored })).dashboards.map((it) => it.id);
        expect(new Set(made).size).toBe(authored.length);
        for (const [i, one] of authored.entries()) if ("id" in one) expect(made[i]).toBe(one.id);
      }),
    );
  });
});

describe("hostile names", () => {
  test.each(["__proto__", "constructor", "toString"])("%s is a name like any other", (name) => {
    const flags = JSON.parse(`{${JSON.stringify(name)}: true}`);
    const insights = [{ name }];
    const made: World = worldOf({
      ...small(),
      organizations: [
        {
          name,
          members: JSON.parse(`{"dev@phx-sim.test": "owner"}`),
          projects: [{ name, api_key: "phc_p", flags, insights, dashboards: [{ tiles: [{ insight: name }] }] }],
        },
      ],
      personal_api_keys: [{ key: "phx_p", scopes: ["*"], projects: [name], organizations: [name] }],
    });
    expect(made.feature_flags.map((it) => it.key)).toEqual([name]);
    expect(made.dashboards[0]?.tiles[0]?.insight).toBe(1);
    expect(made.personal_api_keys[0]?.scoped_teams).toEqual([1]);
    expect(Object.hasOwn(Object.prototype, "groups")).toBe(false);
  });
});
