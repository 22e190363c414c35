import { describe, expect, test } from "vitest";
import { boardsUrl as url, withBoards } from "./boards.ts";
import { manage } from "./manage.ts";
import { uuidOf } from "./world.ts";

const boards = (options = {}) => manage({ world: withBoards(), ...options });
const templates = "/api/projects/1/dashboard_templates";
const production = { dialect: "production" } as const;

describe("templates", () => {
  test.each([
    ["", ["Product analytics", "Team template"]],
    ["?scope=global", ["Product analytics"]],
    ["?scope=team", ["Team template"]],
    ["?search=TEAM", ["Team template"]],
    ["?limit=1", ["Product analytics"]],
  ])("list %s", async (query, names) => {
    for (const path of [templates, `${templates}/`]) {
      const { status, json } = await boards().get(`${path}${query}`);
      expect(status).toBe(200);
      expect(json.results.map((it: { template_name: string }) => it.template_name)).toEqual(names);
    }
  });

  test("retrieve", async () => {
    const sim = boards();
    const [first] = (await sim.get(templates)).json.results;
    expect(first).toMatchObject({ scope: "global", team_id: null, deleted: false });
    expect((await sim.get(`${templates}/${first.id}/`)).json).toEqual(first);
    expect((await sim.get(`${templates}/${uuidOf("template of 1")}`)).json).toMatchObject({
      template_name: "Team template",
      team_id: 1,
      scope: "team",
      tags: ["Team"],
    });
  });

  test.each([
    [`${templates}/${uuidOf("template of 2")}`, "phx_ada", 404, "Not found."],
    [`${templates}/x`, "phx_ada", 404, "Not found."],
    [templates, "phx_writer", 403, "API key missing required scope 'dashboard_template:read'"],
    [templates, "phx_eve", 403, "You don't have access to the project."],
  ])("%s with %s: %i", async (path, key, status, detail) => {
    expect(await boards().get(path, { key })).toMatchObject({ status, json: { detail } });
  });

  test("a stored template of the same name takes the built-in one's place", async () => {
    const world = withBoards();
    const [mine] = world.dashboard_templates;
    if (!mine) throw new Error("no template");
    world.dashboard_templates = [{ ...mine, template_name: "Product analytics" }];
    const { json } = await manage({ world }).get(templates);
    expect(json.results).toMatchObject([{ template_name: "Product analytics", scope: "team" }]);
  });
});

describe("use_template", () => {
  test.each([
    ["Product analytics", 6, {}, ["popular"]],
    ["DEFAULT_APP", 6, {}, ["popular"]],
    ["WEBSITE_TRAFFIC", 9, { date_from: "-30d" }, ["marketing"]],
    ["Team template", 2, { date_from: "-14d" }, ["team"]],
  ])("%s has %i tiles", async (use_template, count, filters, tags) => {
    const sim = boards();
    const { status, json } = await sim.post(url, { use_template, filters: { a: 1 } });
    expect(status).toBe(201);
    expect(json).toMatchObject({ creation_mode: "template", filters, tags });
    expect(json.name).not.toBe("");
    expect(json.description).not.toBe("");
    expect(json.tiles).toHaveLength(count);
    for (const { insight } of json.tiles) {
      if (insight) expect(insight).toMatchObject({ dashboards: [json.id], created_by: { id: 1 } });
    }
    const names = json.tiles.map((it: { insight: { name: string } | null }) => it.insight?.name);
    expect(new Set(names).size).toBe(count);
  });

  test.each(["DEFAULT_APP", "WEBSITE_TRAFFIC"])("%s: each insight is a query that can be read", async (name) => {
    const { json } = await boards().post(url, { use_template: name });
    for (const { insight, layouts } of json.tiles) {
      expect(insight).toMatchObject({
        query: { kind: "InsightVizNode", source: { kind: expect.stringMatching(/Query$/) } },
        filters: {},
      });
      expect(layouts.sm.x + layouts.sm.w).toBeLessThanOrEqual(12);
    }
  });

  test("tiles do not lie on each other", async () => {
    for (const use_template of ["DEFAULT_APP", "WEBSITE_TRAFFIC"]) {
      const { json } = await boards().post(url, { use_template });
      const cells = json.tiles.flatMap(({ layouts }: { layouts: { sm: Record<string, number> } }) => {
        const { x = 0, y = 0, w = 0, h = 0 } = layouts.sm;
        return Array.from({ length: w * h }, (_, i) => `${x + (i % w)}/${y + Math.floor(i / w)}`);
      });
      expect(new Set(cells).size).toBe(cells.length);
    }
  });

  test("a name and tags in the body win; texts and filters of insights come along", async () => {
    const { json } = await boards().post(url, {
      use_template: "Team template",
      name: "Mine",
      tags: ["own"],
      description: "Mine, too",
    });
    expect(json).toMatchObject({
      name: "Mine",
      tags: ["own"],
      description: "From the team",
      tiles: [
        { text: { body: "Hello" }, color: "blue" },
        { insight: { name: "One", description: "First", query: null, filters: { insight: "TRENDS" } } },
      ],
    });
  });
});

const template = {
  template_name: "From JSON",
  dashboard_description: "About it",
  dashboard_filters: { date_from: "-3d" },
  tags: ["Json"],
  tiles: [
    { type: "INSIGHT", name: "One", query: { kind: "InsightVizNode", source: {} } },
    { type: "TEXT", body: "Text" },
    { type: 7 },
    {},
  ],
};
const path = `${url}/create_from_template_json`;

describe("create_from_template_json", () => {
  const made = {
    name: "From JSON",
    description: "About it",
    filters: { date_from: "-3d" },
    tags: ["json"],
    creation_mode: "default",
    created_by: { id: 1 },
    tiles: [{ insight: { name: "One", query: { kind: "InsightVizNode" } } }, { text: { body: "Text" } }],
  };

  test.each([path, `${path}/`, "/api/environments/1/dashboards/create_from_template_json"])(
    "%s answers 200, documented without a body, by the service with the dashboard",
    async (target) => {
      const documented = boards();
      const answer = await documented.post(target, { template, creation_context: "x" });
      expect(answer).toMatchObject({ status: 200, text: "" });
      const { json } = await documented.get(`${url}?search=json`);
      expect((await documented.get(`${url}/${json.results[0].id}`)).json).toMatchObject(made);
      const other = await boards(production).post(target, { template, name: "passed over" });
      expect(other).toMatchObject({ status: 200, json: made });
    },
  );

  test("documented, a dashboard's writable fields win over the template's", async () => {
    const sim = boards();
    await sim.post(path, { template, name: "Own", pinned: true, tags: ["x"], restriction_level: 37 });
    const [first] = (await sim.get(`${url}?tags=x`)).json.results;
    expect(first).toMatchObject({ name: "Own", pinned: true, tags: ["x"], restriction_level: 37 });
  });

  test("documented, the writable fields will do", async () => {
    const sim = boards();
    expect(await sim.post(path, { name: "Plain" })).toMatchObject({ status: 200, text: "" });
    await sim.post(path, { use_template: "DEFAULT_APP", name: "Plain, too" });
    expect((await sim.get(`${url}?search=plain`)).json.results).toMatchObject([
      { creation_mode: "default" },
      { creation_mode: "template" },
    ]);
  });

  test.each([{}, { name: "Plain" }, { template: null }])("the service asks for a template: %j", async (body) => {
    const { status, json } = await boards(production).post(path, body);
    expect({ status, ...json }).toEqual({
      status: 400,
      type: "validation_error",
      code: "required",
      detail: "This field is required.",
      attr: "template",
    });
  });

  const without = (key: keyof typeof template) => {
    const { [key]: _, ...rest } = template;
    return rest;
  };
  test.each([
    ["x", "Template must be a dictionary", "template"],
    [without("template_name"), "'template_name' is a required property", null],
    [without("dashboard_description"), "'dashboard_description' is a required property", null],
    [without("tiles"), "'tiles' is a required property", null],
    [{ ...template, template_name: 7 }, "7 is not of type 'string'", null],
    [{ ...template, dashboard_filters: [] }, "[] is not of type 'object'", null],
    [{ ...template, tiles: {} }, "{} is not of type 'array'", null],
    [{ ...template, tiles: [] }, "[] should be non-empty", null],
    [{ ...template, tiles: [7] }, "7 is not of type 'object'", null],
    [{ ...template, variables: "x" }, `"x" is not of type 'array', 'null'`, null],
    [{ ...template, tags: [7] }, "7 is not of type 'string'", null],
    [{ ...template, image_url: 7 }, "7 is not of type 'string', 'null'", null],
  ])("template %j", async (wrong, detail, attr) => {
    for (const options of [{}, production]) {
      const sim = boards(options);
      const count = sim.worlds.current.dashboards.length;
      const { status, json } = await sim.post(path, { template: wrong });
      expect({ status, ...json }).toEqual({
        status: 400,
        type: "validation_error",
        code: "invalid_input",
        detail,
        attr,
      });
      expect(sim.worlds.current.dashboards).toHaveLength(count);
    }
  });
});
