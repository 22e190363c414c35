import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { dashboardKind, insightKind, tileKind } from "../../../src/state/documents/schemas/dashboard.ts";
import type { Dashboard, Insight, SharingConfiguration, Tile, World } from "../../../src/state/documents/world.ts";
import { manage } from "./manage.ts";
import { startedAt, twoOrganizations, uuidOf } from "./world.ts";

const token = "token-of-the-shared-dashboard_";

interface Shared {
  dashboard?: Partial<Dashboard>;
  insight?: Partial<Insight>;
  configuration?: Partial<SharingConfiguration>;
}

const textTile = (id: number, body: string, layouts: Tile["layouts"] = {}): Tile =>
  tileKind.blank({
    id,
    layouts,
    text: { id, body, created_by: 1, last_modified_by: null, last_modified_at: startedAt },
  });

/** A shared dashboard with a text and an insight. */
function world({ dashboard, insight, configuration }: Shared = {}): World {
  const world = twoOrganizations();
  const query = { kind: "InsightVizNode", source: { kind: "TrendsQuery" } };
  world.insights = [
    insightKind.blank(
      { id: 1, project: 1, short_id: "abcdefgh", name: "Sign-ups", description: "Per day", query, ...insight },
      startedAt,
    ),
  ];
  world.dashboards = [
    dashboardKind.blank(
      {
        id: 1,
        project: 1,
        name: "Launch week",
        description: "How it goes",
        tags: ["growth", "q1"],
        tiles: [textTile(1, "## Notes\nAll *well*."), tileKind.blank({ id: 2, insight: 1 })],
        ...dashboard,
      },
      startedAt,
    ),
  ];
  world.sharing_configurations = [
    {
      id: uuidOf("sharing"),
      dashboard: 1,
      created_at: startedAt,
      enabled: true,
      access_token: token,
      settings: null,
      password_required: false,
      former_tokens: [],
      ...configuration,
    },
  ];
  return world;
}

const open = (path: string, given?: Shared) => manage({ world: world(given) }).get(path, { key: null });

describe("the data of a shared dashboard", () => {
  test.each([
    ["/shared", "", "scene"],
    ["/shared_dashboard", "", "scene"],
    ["/embedded", "", "embed"],
    ["/shared", "?embedded", "embed"],
  ])("at %s%s", async (root, query, type) => {
    const { status, json, header } = await open(`${root}/${token}.json${query}`);
    expect(status).toBe(200);
    expect(header("content-type")).toBe("application/json");
    expect(json).toMatchObject({
      type,
      accessToken: token,
      themes: [],
      dashboard: {
        id: 1,
        name: "Launch week",
        effective_restriction_level: 37,
        effective_privilege_level: 21,
        user_access_level: null,
        tiles: [{ text: { body: "## Notes\nAll *well*." } }, { insight: { name: "Sign-ups" } }],
      },
    });
    expect(Object.keys(json)).toEqual(["type", "accessToken", "dashboard", "themes"]);
  });

  test("looking at it is noted, once a minute", async () => {
    const sim = manage({ world: world() });
    const seenAt = () => sim.worlds.get("dashboards", 1)?.last_accessed_at;
    await sim.get(`/shared/${token}`, { key: null });
    expect(seenAt()).toBe("2026-03-04T05:06:07.089000Z");
    sim.clock.set(sim.clock.now() + 59_000);
    await sim.get(`/shared/${token}.json`, { key: null });
    expect(seenAt()).toBe("2026-03-04T05:06:07.089000Z");
    sim.clock.set(sim.clock.now() + 1_000);
    await sim.get(`/shared/${token}.json`, { key: null });
    expect(seenAt()).toBe("2026-03-04T05:07:07.089000Z");
  });

  test.each([
    ["?whitelabel&noHeader=1&legend=true&detailed=no", null, { whitelabel: true, noHeader: true, legend: true }],
    [
      "",
      { hideExtraDetails: true, showInspector: true, theme: "dark" },
      { hideExtraDetails: true, showInspector: true, theme: "dark" },
    ],
    ["?legend=false&theme=light", { legend: true, theme: "dark" }, { theme: "light" }],
    ["?theme=pink", null, {}],
  ])("says what is set by %s over %j", async (query, settings, shown) => {
    const { json } = await open(`/shared/${token}.json${query}`, { configuration: { settings } });
    const common = ["type", "accessToken", "dashboard", "themes"];
    const rest = Object.fromEntries(Object.entries(json).filter(([name]) => !common.includes(name)));
    expect(rest).toEqual(shown);
  });
});

describe("a token that opens nothing", () => {
  test.each<[string, string, Shared]>([
    ["is unknown", "/shared/nothing", {}],
    ["is another's property", "/shared/__proto__", {}],
    ["was switched off", `/shared/${token}`, { configuration: { enabled: false } }],
    ["is of a deleted dashboard", `/embedded/${token}`, { dashboard: { deleted: true } }],
    ["is of a dashboard that is gone", `/shared/${token}.json`, { configuration: { dashboard: 9 } }],
    ["is asked for an image", `/shared/${token}.png`, {}],
  ])("%s", async (_, path, given) => {
    const { status, text, header } = await open(path, given);
    expect(status).toBe(404);
    expect(header("content-type")).toBe("text/html; charset=utf-8");
    expect(text).toMatch(/^<!doctype html>/);
    expect(text).not.toContain("Launch week");
  });

  test("belongs to an organization that forbids sharing", async () => {
    const closed = world();
    closed.organizations = closed.organizations.map((it) => ({ ...it, allow_publicly_shared_resources: false }));
    expect((await manage({ world: closed }).get(`/shared/${token}`)).status).toBe(404);
  });

  test("is asked for with a password", async () => {
    const { text } = await open(`/shared/${token}.json`, { configuration: { password_required: true } });
    expect(text).toContain("This dashboard is protected");
    expect(text).not.toContain("Launch week");
  });
});

/** The data in a page. */
const dataIn = (text: string) => JSON.parse(/id="data">(.*?)<\/script>/s.exec(text)?.[1] ?? "null");

describe("the page of a shared dashboard", () => {
  test("has the data, which are JSON at the same address as well", async () => {
    const sim = manage({ world: world() });
    const { status, text, header } = await sim.get(`/shared/${token}`, { key: null });
    expect(status).toBe(200);
    expect(header("content-type")).toBe("text/html; charset=utf-8");
    const { json } = await sim.get(`/shared/${token}.json`, { key: null });
    const { dashboard, source, ...rest } = dataIn(text);
    expect(rest).toEqual({ type: "scene", accessToken: token, themes: [] });
    expect(dashboard).toMatchObject({ name: "Launch week", tiles: [{ text: {} }, { insight: { name: "Sign-ups" } }] });
    expect(Object.keys(json.dashboard)).toEqual(Object.keys(dashboard));
    expect(source).toBe(`/shared/${token}.json`);
  });

  test.each([
    ["/shared", "DENY", true],
    ["/shared_dashboard", "DENY", true],
    ["/embedded", undefined, false],
  ])(
    "at %s runs its own code, connects to its data alone, and is framed as configured",
    async (root, frame, isPolicy) => {
      const { text, header } = await open(`${root}/${token}`);
      const [, own = ""] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(text) ?? [];
      const hashOf = (part: string | undefined) =>
        `'sha256-${createHash("sha256")
          .update(part ?? "")
          .digest("base64")}'`;
      expect(own).toContain(`style-src ${hashOf(/<style>([^<]*)/.exec(text)?.[1])}`);
      expect(own).toContain(`script-src ${hashOf(/<script>(.*?)<\/script>/s.exec(text)?.[1])}`);
      expect(own).toContain("default-src 'none'");
      expect(own).toContain("require-trusted-types-for 'script'");
      const policy = header("content-security-policy") ?? "";
      expect(policy).toMatch(new RegExp(`^connect-src [\\w.:-]+${root}/${token}\\.json; `));
      expect(policy.includes("frame-ancestors 'none'")).toBe(isPolicy);
      expect(header("x-frame-options")).toBe(frame);
      expect(header("referrer-policy")).toBe("no-referrer");
    },
  );

  test.each(["[::1]:8080", "a.test; script-src *", ""])(
    "of a host that no policy can name (%j) connects to nothing",
    async (host) => {
      const { text, header } = await manage({ world: world() }).get(`/shared/${token}`, {
        key: null,
        headers: { host },
      });
      expect(header("content-security-policy")).toContain("connect-src 'none'; ");
      expect(dataIn(text).source).toBeNull();
    },
  );

  test("keeps its footer where white-labelling is not sold", async () => {
    const unlicensed = world();
    unlicensed.organizations = unlicensed.organizations.map((it) => ({ ...it, available_product_features: null }));
    const { text } = await manage({ world: unlicensed }).get(`/shared/${token}?whitelabel`);
    expect(dataIn(text)).not.toHaveProperty("whitelabel");
  });

  test("serves HEAD and any other format as the page", async () => {
    const sim = manage({ world: world() });
    expect((await sim.ask("HEAD", `/shared/${token}/`, { key: null })).text).toBe("");
    expect((await sim.get(`/shared/${token}.html`)).text).toContain("Launch week");
    expect((await sim.post(`/shared/${token}`)).status).toBe(405);
  });
});

/** Texts that would do harm if they were taken for HTML. */
const hostile = [
  "<script>alert(1)</script>",
  "</script><script>alert(1)</script>",
  "</title></style><script>alert(1)</script>",
  "<!--<script>",
  '"phx-sim: data"',
  "$&$`",
];

test.each(hostile)("hostile text stays data: %j", async (text) => {
  const page = await open(`/shared/${token}`, {
    dashboard: {
      name: text,
      description: text,
      tags: [text],
      tiles: [textTile(1, text), tileKind.blank({ id: 2, insight: 1 })],
    },
    insight: { name: text, description: text, query: { [text]: text } },
  });
  expect(page.status).toBe(200);
  expect(dataIn(page.text).dashboard).toMatchObject({
    name: text,
    tags: [text],
    tiles: [{ text: { body: text } }, {}],
  });
  // the page's own elements: data, code
  expect(page.text.match(/<script/g)?.length).toBe(2);
  expect(page.text.match(/<style>/g)).toHaveLength(1);
});
