import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { loadScenario, ScenarioError } from "../../../src/lab/scenario/load.ts";
import { type Scenario, worldOf } from "../../../src/lab/scenario/scenario.ts";
import { fullExample } from "./full-example.ts";

async function linesOf(scenario: unknown): Promise<string[]> {
  const thrown = await loadScenario(scenario as Scenario).catch((error: unknown) => error);
  if (!(thrown instanceof ScenarioError)) throw new Error(`not refused: ${String(thrown)}`);
  return thrown.message.split("\n");
}

/** The full example with one change. */
function changed(change: (scenario: Scenario) => void): Scenario {
  const scenario = fullExample();
  change(scenario);
  return scenario;
}

function shopOf({ organizations }: Scenario) {
  const shop = organizations[0]?.projects[0];
  if (!shop) throw new Error("the example has no shop");
  return shop;
}

const shop = "/organizations/0/projects/0";
type Change = (scenario: Scenario) => unknown;

describe("references that lead nowhere", () => {
  test.each<[string, Change, string]>([
    [
      "a member",
      ({ organizations: [acme] }) => Object.assign(acme?.members ?? {}, { "eva@globex.test": "admin" }),
      '/organizations/0/members/eva@globex.test: unknown user "eva@globex.test"; did you mean "eve@globex.test"?',
    ],
    [
      "who made a dashboard",
      (it) => Object.assign(shopOf(it).dashboards?.[0] ?? {}, { created_by: "bop@acme.test" }),
      `${shop}/dashboards/0/created_by: unknown user "bop@acme.test"; did you mean "bob@acme.test"?`,
    ],
    [
      "who made an insight",
      (it) => Object.assign(shopOf(it).insights?.[0] ?? {}, { created_by: "x@y.z" }),
      `${shop}/insights/0/created_by: unknown user "x@y.z"`,
    ],
    [
      "who made a cohort",
      (it) => Object.assign(shopOf(it).cohorts?.[0] ?? {}, { created_by: "x@y.z" }),
      `${shop}/cohorts/0/created_by: unknown user "x@y.z"`,
    ],
    [
      "a collaborator",
      (it) => shopOf(it).dashboards?.[0]?.collaborators?.push("x@y.z"),
      `${shop}/dashboards/0/collaborators/1: unknown user "x@y.z"`,
    ],
    [
      "the insight of a tile",
      (it) => shopOf(it).dashboards?.[0]?.tiles?.push({ insight: "Pageview" }),
      `${shop}/dashboards/0/tiles/3/insight: unknown insight "Pageview"; did you mean "Pageviews"?`,
    ],
    [
      "the primary dashboard",
      (it) => Object.assign(shopOf(it), { primary_dashboard: "Lunch" }),
      `${shop}/primary_dashboard: unknown dashboard "Lunch"; did you mean "Launch"?`,
    ],
    [
      "the backfill of a run",
      (it) => Object.assign(shopOf(it).batch_exports?.[0]?.runs?.[2] ?? {}, { backfill: "nope" }),
      `${shop}/batch_exports/0/runs/2/backfill: unknown backfill "nope"`,
    ],
    [
      "the user of a key",
      (it) => Object.assign(it.personal_api_keys[1] ?? {}, { user: "x@y.z" }),
      '/personal_api_keys/1/user: unknown user "x@y.z"',
    ],
    [
      "the project of a key",
      (it) => it.personal_api_keys[1]?.projects?.push("Shops"),
      '/personal_api_keys/1/projects/2: unknown project "Shops"; did you mean "Shop"?',
    ],
    [
      "the number of a project",
      (it) => it.personal_api_keys[1]?.projects?.push(99),
      "/personal_api_keys/1/projects/2: unknown project 99",
    ],
    [
      "the organization of a key",
      (it) => it.personal_api_keys[1]?.organizations?.push("Acne"),
      '/personal_api_keys/1/organizations/2: unknown organization "Acne"; did you mean "Acme"?',
    ],
  ])("%s", async (_, change, line) => {
    expect(await linesOf(changed(change))).toEqual([`scenario ${line}`]);
  });

  test("names that several have", async () => {
    const lines = await linesOf(changed((it) => shopOf(it).insights?.push({ name: "Signups" })));
    expect(lines).toEqual([`scenario ${shop}/dashboards/0/tiles/1/insight: 2 insights are called "Signups"`]);
  });

  test("a name that is another one's number", async () => {
    const lines = await linesOf(changed((it) => Object.assign(it.organizations[0]?.projects[0] ?? {}, { name: "3" })));
    expect(lines).toContain("scenario /personal_api_keys/1/projects/1: 2 projects are called 3");
  });

  test("several names that no one refers to", () => {
    const scenario = changed((it) => shopOf(it).dashboards?.push({ name: "Launch 2" }, { name: "Launch 2" }));
    expect(worldOf(scenario).dashboards).toHaveLength(5);
  });
});

describe("what may be there only once", () => {
  const uuid = "0195a000-0000-7000-8000-0000000000a2";
  const [taken, first] = [`${shop}/batch_exports/0`, "/organizations/1/id"];
  test.each<[string, Change, string]>([
    [
      "e-mail addresses, in any case",
      (it) => it.users?.push({ email: "BOB@acme.test" }),
      "/users/3/email: the same e-mail address as /users/1/email",
    ],
    [
      "users' numbers",
      (it) => it.users?.push({ email: "x@y.z", id: 7 }),
      "/users/3/id: the same id in users as /users/1/id",
    ],
    [
      "uuids, in any case",
      (it) => Object.assign(it.users?.[0] ?? {}, { uuid: "0195a000-0000-7000-8000-000000000007" }),
      "/users/1/uuid: the same uuid as /users/0/uuid",
    ],
    [
      "slugs",
      (it) => Object.assign(it.organizations[0] ?? {}, { slug: "globex-inc" }),
      "/organizations/1/slug: the same slug as /organizations/0/slug",
    ],
    [
      "projects' numbers",
      (it) => Object.assign(it.organizations[1]?.projects[0] ?? {}, { id: 3 }),
      "/organizations/1/projects/0/id: the same id in projects as /organizations/0/projects/1/id",
    ],
    [
      "project keys",
      (it) => Object.assign(it.organizations[1]?.projects[0] ?? {}, { api_key: "phc_blog" }),
      "/organizations/1/projects/0/api_key: the same project key as /organizations/0/projects/1/api_key",
    ],
    [
      "secret keys, those that are made included",
      (it) => Object.assign(it.organizations[1]?.projects[0] ?? {}, { secret_api_key: "phs_shop" }),
      `/organizations/1/projects/0/secret_api_key: the same secret key as ${shop}/secret_api_key`,
    ],
    [
      "personal keys",
      (it) => it.personal_api_keys.push({ key: "phx_ada", scopes: [] }),
      "/personal_api_keys/2/key: the same personal key as /personal_api_keys/0/key",
    ],
    [
      "ids of personal keys",
      (it) => it.personal_api_keys.push({ key: "phx_3", id: "Key-of-Bob", scopes: [] }),
      "/personal_api_keys/2/id: the same id in personal_api_keys as /personal_api_keys/1/id",
    ],
    [
      "members, in any case",
      (it) => Object.assign(it.organizations[0]?.members ?? {}, { "BOB@acme.test": "admin" }),
      '/organizations/0/members/BOB@acme.test: the same member of "Acme" as /organizations/0/members/bob@acme.test',
    ],
    [
      "dashboards' numbers",
      (it) => shopOf(it).dashboards?.push({ id: 41 }),
      `${shop}/dashboards/3/id: the same id in dashboards as ${shop}/dashboards/1/id`,
    ],
    [
      "tiles' numbers",
      (it) => shopOf(it).dashboards?.push({ tiles: [{ text: "", id: 900 }] }),
      `${shop}/dashboards/3/tiles/0/id: the same id in tiles as ${shop}/dashboards/0/tiles/1/id`,
    ],
    [
      "insights' numbers, whatever the project",
      (it) => it.organizations[1]?.projects[0]?.insights?.push({ name: "x", id: 40 }),
      `/organizations/1/projects/0/insights/1/id: the same id in insights as ${shop}/insights/1/id`,
    ],
    [
      "short ids of a project",
      (it) => shopOf(it).insights?.push({ name: "x", short_id: "abcDEF12" }),
      `${shop}/insights/2/short_id: the same short_id in project 1 as ${shop}/insights/1/short_id`,
    ],
    [
      "flags' numbers",
      (it) => {
        const flag = { id: 5, filters: {} };
        Object.assign(shopOf(it).flags ?? {}, { one: flag, two: flag });
      },
      `${shop}/flags/two/id: the same id in feature_flags as ${shop}/flags/one/id`,
    ],
    [
      "collaborators of a dashboard",
      (it) => shopOf(it).dashboards?.[0]?.collaborators?.push("Bob@acme.test"),
      `${shop}/dashboards/0/collaborators/1: the same collaborator of dashboard 1 as ${shop}/dashboards/0/collaborators/0`,
    ],
    [
      "access tokens",
      (it) => {
        const sharing = { enabled: false, access_token: "t" };
        shopOf(it).dashboards?.push({ sharing }, { sharing });
      },
      `${shop}/dashboards/4/sharing/access_token: the same access token as ${shop}/dashboards/3/sharing/access_token`,
    ],
    [
      "batch exports' uuids",
      (it) => Object.assign(shopOf(it).batch_exports?.[0] ?? {}, { id: uuid }),
      `${first}: the same uuid as ${taken}/id`,
    ],
  ])("%s", async (_, change, line) => {
    expect(await linesOf(changed(change))).toEqual([`scenario ${line}`]);
  });

  test("short ids of two projects may be the same", () => {
    const scenario = changed((it) =>
      it.organizations[1]?.projects[0]?.insights?.push({ name: "x", short_id: "abcDEF12" }),
    );
    expect(worldOf(scenario).insights.filter((it) => it.short_id === "abcDEF12")).toHaveLength(2);
  });
});

describe("what the schema refuses", () => {
  const atShop = (part: JsonObject): JsonObject => {
    const scenario = JSON.parse(JSON.stringify(fullExample()));
    delete scenario.organizations[0].projects[0].primary_dashboard;
    Object.assign(scenario.organizations[0].projects[0], part);
    return scenario;
  };

  test.each<[string, JsonObject, string]>([
    ["an unknown key", { colour: 1 }, '/colour: unknown key "colour"'],
    [
      "an unknown key of a tile",
      { dashboards: [{ tiles: [{ text: "", x: 1 }] }] },
      '/dashboards/0/tiles/0/x: unknown key "x"',
    ],
    [
      "a tile of nothing",
      { dashboards: [{ tiles: [{}] }] },
      "/dashboards/0/tiles/0: expected a tile: an object with either `text` or `insight`",
    ],
    [
      "a key of the short form",
      { flags: { "a/b": { rolout: 5 } } },
      '/flags/a~1b/rolout: unknown key "rolout"; did you mean "rollout"?',
    ],
    [
      "a value of the short form",
      { flags: { it: { rollout: 500 } } },
      "/flags/it/rollout: expected a number of at most 100, got 500",
    ],
    [
      "a value of the service's form",
      { flags: { it: { filters: { groups: 3 } } } },
      "/flags/it/filters/groups: expected a list, got 3",
    ],
    ["filters that are none", { flags: { it: { filters: 3 } } }, "/flags/it/filters: expected an object, got 3"],
    ["a flag of another kind", { flags: { it: 3 } }, "/flags/it: expected a flag: true, false or an object, got 3"],
    [
      "a personal key for a project",
      { api_key: "phx_1" },
      "/api_key: expected a project key: up to 64 ASCII characters, not phx_…, got (hidden)",
    ],
    [
      "a time without its offset",
      { dashboards: [{ created_at: "2025-01-01T00:00:00" }] },
      '/dashboards/0/created_at: expected a time with its offset, such as 2025-01-01T00:00:00Z, got "2025-01-01T00:00:00"',
    ],
    [
      "a time that is none",
      { dashboards: [{ created_at: "2025-13-01" }] },
      '/dashboards/0/created_at: expected a time with its offset, such as 2025-01-01T00:00:00Z, got "2025-13-01"',
    ],
    [
      "a restriction level",
      { dashboards: [{ restriction_level: 22 }] },
      "/dashboards/0/restriction_level: expected 21 or 37, got 22",
    ],
    [
      "an e-mail address",
      { dashboards: [{ created_by: "bob" }] },
      '/dashboards/0/created_by: expected an e-mail address, got "bob"',
    ],
  ])("%s", async (_, part, line) => {
    expect(await linesOf(atShop(part))).toEqual([`scenario ${shop}${line}`]);
  });

  test("the version", async () => {
    expect(await linesOf({ ...fullExample(), version: 2 })).toEqual(["scenario /version: expected 1, got 2"]);
  });

  test("a scenario that is none", async () => {
    expect(await linesOf([])).toEqual(["scenario: expected at least one scenario"]);
    expect(await linesOf([[]])).toEqual(["scenario: expected an object, got an empty list"]);
  });
});

test("all problems are reported, a line each, up to fifty", async () => {
  const scenario = changed((it) => {
    it.users?.push({ email: "eve@globex.test" });
    it.personal_api_keys[0]?.scopes.pop();
    Object.assign(it.personal_api_keys[0] ?? {}, { projects: Array.from({ length: 60 }, (_, i) => 1000 + i) });
  });
  const lines = await linesOf(scenario);
  expect(lines[0]).toBe("scenario /users/3/email: the same e-mail address as /users/2/email");
  expect(lines[1]).toBe("scenario /personal_api_keys/0/projects/0: unknown project 1000");
  expect(lines).toHaveLength(51);
  expect(lines.at(-1)).toBe("and 11 more");
});

test("no key is reported", async () => {
  const scenario = changed((it) => it.personal_api_keys.push({ key: "phx_ada", scopes: [] }));
  expect((await linesOf(scenario)).join()).not.toContain("phx_ada");
});

test("worldOf refuses what no one has checked", () => {
  const scenario = changed((it) => it.users?.push({ email: "ada@acme.test" }));
  expect(() => worldOf(scenario)).toThrow(ScenarioError);
});

test("references are checked once the schema is met", async () => {
  const scenario = (colour: object) => ({
    version: 1,
    organizations: [{ name: "O", projects: [{ name: "Q", api_key: "phc_p", insights: [{ name: "I", ...colour }] }] }],
    personal_api_keys: [{ key: "phx_p", scopes: ["*"], projects: ["P"] }],
  });
  expect(await linesOf(scenario({ colour: 1 }))).toEqual([
    'scenario /organizations/0/projects/0/insights/0/colour: unknown key "colour"',
  ]);
  expect(await linesOf(scenario({}))).toEqual([
    'scenario /personal_api_keys/0/projects/0: unknown project "P"; did you mean "Q"?',
  ]);
});
