import { afterEach, describe, expect, test } from "vitest";
import { resourceOf } from "../../../src/state/documents/resources.ts";
import { type Migration, migrate, migrations } from "../../../src/state/documents/store/migrations.ts";
import { readWorldFile } from "../../../src/state/documents/store/world-file.ts";
import { WorldSchema } from "../../../src/state/documents/world.schema.ts";
import { emptyWorld, type World } from "../../../src/state/documents/world.ts";
import { contentOf, fileOf, folderWith, open, openedStores, read } from "./world-fixture.ts";

afterEach(() => {
  for (const worlds of openedStores()) worlds.close();
});

describe("migrations", () => {
  const steps: Migration[] = [
    ({ title, ...rest }) => ({ ...rest, name: title ?? null }),
    (old) => ({ ...old, tags: [] }),
  ];

  test.each([
    [1, { version: 1, title: "t" }, { version: 3, name: "t", tags: [] }],
    [2, { version: 2, name: "n" }, { version: 3, name: "n", tags: [] }],
    [3, { version: 3, name: "n" }, { version: 3, name: "n" }],
  ])("from version %i", (_version, old, expected) => {
    expect(migrate(old, steps)).toEqual(expected);
  });

  test.each([[0], [4], [1.5], ["2"], [null], [undefined]])("version %j is refused", (version) => {
    expect(() => migrate({ ...(version !== undefined && { version }) }, steps)).toThrow(/version/);
  });

  test("there is one for each version but the newest", () => {
    expect(migrations).toHaveLength(emptyWorld().version - 1);
  });

  test("a migrated file is read without its seal", () => {
    const folder = folderWith(JSON.stringify({ version: 1, title: "t", seal: "abc", sealed: {} }));
    expect(readWorldFile(fileOf(folder), steps)).toEqual({
      document: { version: 3, name: "t", tags: [] },
      isSealed: false,
      missing: [],
    });
  });

  const flag = {
    id: 4,
    project: 1,
    key: "beta",
    name: "Beta",
    active: false,
    deleted: false,
    version: 3,
    ensure_experience_continuity: true,
    has_encrypted_payloads: false,
    is_remote_configuration: false,
    evaluation_runtime: "server",
    bucketing_identifier: null,
    filters: { groups: [{ rollout_percentage: 7 }] },
  };
  const oldProject = {
    id: 5,
    organization: "org-1",
    name: "Shop",
    api_key: "phc_shop",
    secret_api_key: "phs_secret",
    remote_config: { heatmaps: true },
    adopted: true,
  };
  const versionOne = {
    version: 1,
    organizations: [
      { id: "org-1", name: "Acme & Söhne" },
      { id: "org-2", name: "Acme & Söhne" },
    ],
    projects: [oldProject],
    personal_api_keys: [{ key: "phx_one", label: "mine", scopes: ["*"] }],
    feature_flags: [flag],
    cohorts: [{ project: 5, id: 9, name: "kept", odd: { a: 1 } }, { project: 5 }],
    surveys: [{ project: 5, id: "s", name: "How?" }, { project: 5 }],
    early_access_features: [],
    product_tours: [],
    web_experiments: [{ project: 5, id: 8, variants: {} }],
    prompts: [{ project: 5, name: "p", prompt: "text", version: 1 }],
  };

  test("version 1 becomes a world of today", async () => {
    const folder = folderWith(JSON.stringify({ ...versionOne, seal: "abc" }, null, 2));
    const worlds = await open({ folder });
    const world: World = contentOf(worlds);
    expect(WorldSchema.parse(world)).toEqual(world);
    expect(world.projects).toEqual([expect.objectContaining(oldProject)]);
    expect(world.feature_flags).toEqual([expect.objectContaining({ ...flag, tags: [], created_by: null })]);
    expect(world.organizations.map((it) => it.slug)).toEqual(["acme-s-hne", "acme-s-hne-2"]);
    expect(world.users).toEqual([
      expect.objectContaining({ id: 1, email: "dev@phx-sim.test", current_organization: "org-1", current_project: 5 }),
    ]);
    expect(world.memberships).toEqual([
      expect.objectContaining({ organization: "org-1", user: 1, level: 15 }),
      expect.objectContaining({ organization: "org-2", user: 1, level: 15 }),
    ]);
    expect(world.personal_api_keys).toEqual([
      expect.objectContaining({ key: "phx_one", label: "mine", scopes: ["*"], user: 1, scoped_teams: [] }),
    ]);
    expect(world.cohorts).toEqual([
      { project: 5, id: 9, name: "kept", odd: { a: 1 } },
      { project: 5, id: 11 },
    ]);
    expect(world.prompts).toEqual(versionOne.prompts);
    expect(world.resources).toEqual(
      [
        resourceOf("surveys", 5, "s", { name: "How?" }),
        resourceOf("surveys", 5, expect.any(String), {}),
        resourceOf("experiments", 5, 8, { variants: {}, type: "web" }),
      ].map((it) => ({ ...it, id: expect.stringContaining(`${it.kind}/5/`) })),
    );
    worlds.close();
    expect(Object.keys(read(folder))).not.toContain("seal");
    expect((await open({ folder })).current).toEqual(world);
  });

  test("what is wrong in version 1 is reported by its place", async () => {
    const broken = { ...versionOne, projects: [{ ...oldProject, name: 7 }] };
    await expect(open({ folder: folderWith(JSON.stringify(broken)) })).rejects.toThrow(
      /world\.json: projects\[0\]\.name: .*expected string/,
    );
    const odd = { ...versionOne, projects: 7, organizations: [1] };
    await expect(open({ folder: folderWith(JSON.stringify(odd)) })).rejects.toThrow(/world\.json: organ/);
  });
});
