import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { blankDashboard, blankInsight, blankTile } from "../../src/world/blank.ts";
import type { Dashboard, Insight, SharingConfiguration, Tile, World } from "../../src/world/world.ts";
import { manage } from "./manage.ts";
import { startedAt, twoOrganizations, uuidOf } from "./world.ts";

const token = "token-of-the-shared-dashboard_";

interface Shared {
  dashboard?: Partial<Dashboard>;
  insight?: Partial<Insight>;
  configuration?: Partial<SharingConfiguration>;
}

const textTile = (id: number, body: string, layouts: Tile["layouts"] = {}): Tile =>
  blankTile({
    id,
    layouts,
    text: { id, body, created_by: 1, last_modified_by: null, last_modified_at: startedAt },
  });

/** A shared dashboard with a text and an insight. */
function world({ dashboard, insight, configuration }: Shared = {}): World {
  const world = twoOrganizations();
  const query = { kind: "InsightVizNode", source: { kind: "TrendsQuery" } };
  world.insights = [
    blankInsight(
      {
        id: 1,
        project: 1,
        short_id: "abcdefgh",
        name: "Sign-ups",
        description: "Per day",
        query,
        ...insight,
      },
      startedAt,
    ),
  ];
  world.dashboards = [
    blankDashboard(
      {
        id: 1,
        project: 1,
        name: "Launch week",
        description: "How it goes",
        tags: ["growth", "q1"],
        tiles: [textTile(1, "## Notes\nAll *well*."), blankTile({ id: 2, insight: 1 })],
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

  test("looking at it is noted", async () => {
    const sim = manage({ world: world() });
    await sim.get(`/shared/${token}`, { key: null });
    expect(sim.worlds.get("dashboards", 1)?.last_accessed_at).toBe("2026-03-04T05:06:07.089000Z");
  });

  test.each([
    [
      "?whitelabel&noHeader=1&legend=true&detailed=no",
      null,
      { whitelabel: true, noHeader: true, legend: true },
    ],
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
    closed.organizations = closed.organizations.map((it) => ({
      ...it,
      allow_publicly_shared_resources: false,
    }));
    expect((await manage({ world: closed }).get(`/shared/${token}`)).status).toBe(404);
  });

  test("is asked for with a password", async () => {
    const { text } = await open(`/shared/${token}.json`, { configuration: { password_required: true } });
    expect(text).toContain("This dashboard is protected");
    expect(text).not.toContain("Launch week");
  });
});

describe("the page of a shared dashboard", () => {
  test("shows its name, description, tags, texts and queries", async () => {
    const { status, text } = await open(`/shared/${token}`);
    expect(status).toBe(200);
    for (const part of [
      "<title>Launch week</title>",
      '<h1 dir="auto">Launch week</h1>',
      '<p dir="auto">How it goes</p>',
      '<li dir="auto">growth</li>',
      '<p dir="auto">## Notes\nAll *well*.</p>',
      '<h2 dir="auto">Sign-ups</h2>',
      "&quot;kind&quot;: &quot;TrendsQuery&quot;",
    ]) {
      expect(text).toContain(part);
    }
  });

  test.each([
    ["/shared", "DENY", true],
    ["/shared_dashboard", "DENY", true],
    ["/embedded", undefined, false],
  ])("at %s may run nothing, and be framed as configured", async (root, frameOptions, isPolicy) => {
    const { text, header } = await open(`${root}/${token}`);
    const policy = header("content-security-policy") ?? "";
    const [style = ""] = /(?<=<style>)[^<]*/.exec(text) ?? [];
    const digest = createHash("sha256").update(style).digest("base64");
    expect(policy).toContain(`default-src 'none'; style-src 'sha256-${digest}'`);
    expect(policy.includes("frame-ancestors 'none'")).toBe(isPolicy);
    expect(header("x-frame-options")).toBe(frameOptions);
    expect(header("referrer-policy")).toBe("no-referrer");
    expect(text).not.toMatch(/<script|style=|\son\w+=/);
  });

  test.each([
    ["", true, true],
    ["?whitelabel", true, false],
    ["?noHeader", false, true],
    ["?noHeader=false", true, true],
  ])("with %j has a header: %s, a footer: %s", async (query, hasHeader, hasFooter) => {
    const { text } = await open(`/shared/${token}${query}`);
    expect([text.includes("<header>"), text.includes("<footer>")]).toEqual([hasHeader, hasFooter]);
  });

  test("keeps its footer where white-labelling is not sold", async () => {
    const unlicensed = world();
    unlicensed.organizations = unlicensed.organizations.map((it) => ({
      ...it,
      available_product_features: null,
    }));
    const { text } = await manage({ world: unlicensed }).get(`/shared/${token}?whitelabel`);
    expect(text).toContain("<footer>");
  });

  test("has a name without a name, and says when it is empty", async () => {
    const { text } = await open(`/shared/${token}`, {
      dashboard: { name: null, description: "", tags: [], tiles: [] },
    });
    expect(text).toContain('<h1 dir="auto">Untitled dashboard</h1>');
    expect(text).toContain("There is nothing on this dashboard yet.");
    expect(text).not.toContain("<ul");
  });

  test("serves HEAD and any other format as the page", async () => {
    const sim = manage({ world: world() });
    expect((await sim.ask("HEAD", `/shared/${token}/`, { key: null })).text).toBe("");
    expect((await sim.get(`/shared/${token}.html`)).text).toContain("Launch week");
    expect((await sim.post(`/shared/${token}`)).status).toBe(405);
  });
});

describe("places of tiles", () => {
  const box = (x: unknown, y: unknown, w: unknown, h: unknown) => ({ sm: { x, y, w, h } }) as Tile["layouts"];

  test.each<[string, Tile["layouts"][], string[]]>([
    [
      "side by side",
      [box(0, 0, 6, 5), box(6, 0, 6, 5)],
      ["1 / 1 / span 1 / span 6", "1 / 7 / span 1 / span 6"],
    ],
    [
      "beside two",
      [box(0, 0, 6, 10), box(6, 0, 6, 5), box(6, 5, 6, 5)],
      ["1 / 1 / span 2 / span 6", "1 / 7 / span 1 / span 6", "2 / 7 / span 1 / span 6"],
    ],
    ["none", [{}, {}], ["1 / 1 / span 1 / span 6", "2 / 1 / span 1 / span 6"]],
    [
      "overlapping",
      [box(0, 0, 12, 5), box(3, 2, 4, 5)],
      ["1 / 1 / span 1 / span 12", "2 / 4 / span 1 / span 4"],
    ],
    [
      "absurd",
      [box(-5, -1, 99, 1e9), box("x", null, "y", {})],
      ["1 / 1 / span 1 / span 12", "2 / 1 / span 1 / span 6"],
    ],
    [
      "hostile",
      [{ sm: "}</style><script>" }, box("1/*", 1.9, 2.5, 0)],
      ["1 / 1 / span 1 / span 2", "2 / 1 / span 1 / span 6"],
    ],
  ])("%s", async (_, layouts, areas) => {
    const tiles = layouts.map((it, i) => textTile(i + 1, `tile ${i}`, it));
    const { text } = await open(`/shared/${token}`, { dashboard: { tiles } });
    for (const [i, area] of areas.entries()) expect(text).toContain(`.t${i} { grid-area: ${area}; }`);
    expect(text).not.toContain("<script");
  });
});

/** Texts that would do harm if they were taken for HTML. */
const hostile = [
  "<script>alert(1)</script>",
  "</title></style><script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  '"><svg onload=alert(1)>',
  "' onmouseover='alert(1)",
  "</code></pre><iframe src=javascript:alert(1)>",
  "<!--<script>",
  "&lt;script&gt;",
  "[x](javascript:alert(1))",
  '[x](https://a.test"onmouseover="alert(1))',
  "[<b>](https://a.test/?a=<b>&c='d')",
  "# <script>alert(1)</script>",
  "- <script>alert(1)</script>",
  "```\n</code></pre><script>alert(1)</script>\n```",
  "`</code><script>alert(1)</script>`",
  "**<script>alert(1)</script>**",
  "![x](https://a.test/x.png)",
  "<a href='javascript:alert(1)'>x</a>",
  "[x](data:text/html,<script>alert(1)</script>)",
  "{{constructor.constructor('alert(1)')()}}",
];

test.each(hostile)("hostile text stays text: %j", async (text) => {
  const page = await open(`/shared/${token}`, {
    dashboard: {
      name: text,
      description: text,
      tags: [text],
      tiles: [textTile(1, text), blankTile({ id: 2, insight: 1 })],
    },
    insight: { name: text, description: text, query: { [text]: text } },
  });
  expect(page.status).toBe(200);
  const ours =
    /^(!doctype|\/?(html|head|meta|title|style|body|main|header|h[1-6]|p|ul|ol|li|div|section|details|summary|pre|code|strong|em|footer|a))$/;
  const tags = [...page.text.matchAll(/<([^\s>]*)[^>]*>/g)];
  expect(tags.filter(([, name = ""]) => !ours.test(name))).toEqual([]);
  for (const [tag] of tags) expect(tag).not.toMatch(/\s(on\w+|style|src)=|javascript:|data:/i);
  expect(page.text.match(/<style>/g)).toHaveLength(1);
});
