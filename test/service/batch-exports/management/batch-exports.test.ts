import { describe, expect, test } from "vitest";
import type { Dialect } from "../../../../src/state/documents/dialect.ts";
import { type ManageOptions, manage } from "../../management/manage.ts";
import { acme, globex, uuidOf } from "../../management/world.ts";
import { foreign, hourly, runId, weekly, worldWithExports } from "./batch-exports-world.ts";

const open = (options: ManageOptions = {}) => manage({ world: worldWithExports(), ...options });
const inProject = "/api/projects/1/batch_exports";
const inAcme = `/api/organizations/${acme}/batch_exports`;

const s3 = { bucket_name: "bucket", region: "eu-west-1", prefix: "p/" };
const secrets = { aws_access_key_id: "AKIA", aws_secret_access_key: "s3cret" };
const destination = { type: "S3", config: { ...s3, ...secrets } };
const body = { name: "New", destination, interval: "day" };

describe("reading", () => {
  test("a batch export, whole", async () => {
    const { get } = open();
    const { status, json } = await get(`${inProject}/${hourly}`);
    expect(status).toBe(200);
    const { latest_runs, ...rest } = json;
    expect(rest).toEqual({
      id: hourly,
      team_id: 1,
      name: "Hourly",
      model: "events",
      destination: { type: "S3", config: { bucket_name: "bucket", region: "eu-west-1", prefix: "events/" } },
      interval: "hour",
      paused: false,
      created_at: "2025-03-01T09:30:00Z",
      last_updated_at: "2025-03-01T09:30:00Z",
      last_paused_at: null,
      start_at: null,
      end_at: null,
      hogql_query: null,
      schema: null,
      filters: null,
    });
    expect(latest_runs.map((it: { id: string }) => it.id)).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4].map(runId));
    expect(latest_runs[0]).toMatchObject({ status: "Running", finished_at: null });
  });

  test.each([
    ["a project", "/api/projects/1/batch_exports", ["Hourly"]],
    ["the environment of a project", "/api/environments/1/batch_exports/", ["Hourly"]],
    ["another project of the organization", "/api/projects/2/batch_exports/", ["Weekly"]],
    ["an organization, the newest first", `${inAcme}/`, ["Weekly", "Hourly"]],
    ["an organization, one page", `${inAcme}?limit=1&offset=1`, ["Hourly"]],
  ])("the list of %s", async (_, path, names) => {
    const { get } = open();
    const { status, json } = await get(path);
    expect(status).toBe(200);
    expect(json.results.map((it: { name: string }) => it.name)).toEqual(names);
  });

  test("a list is a page", async () => {
    const { get } = open();
    expect((await get(`${inAcme}/?limit=1`)).json).toMatchObject({
      count: 2,
      next: `http://sim.test${inAcme}/?limit=1&offset=1`,
      previous: null,
    });
  });

  test.each(["/", ""])("both slashes: %s", async (slash) => {
    const { get } = open();
    expect((await get(`${inAcme}/${hourly.toUpperCase()}${slash}`)).json.id).toBe(hourly);
  });
});

describe("writing", () => {
  test.each([
    ["a project", inProject, 1],
    ["an environment", "/api/environments/2/batch_exports/", 2],
    ["an organization: the caller's current project", inAcme, 1],
  ])("a new one in %s", async (_, path, project) => {
    const { post, get, worlds } = open();
    const { status, json } = await post(path, body);
    expect({ status, json }).toMatchObject({
      status: 201,
      json: {
        team_id: project,
        name: "New",
        model: "events",
        destination: { type: "S3", config: s3 },
        interval: "day",
        paused: false,
        latest_runs: [],
        created_at: "2026-03-04T05:06:07.089000Z",
        last_updated_at: "2026-03-04T05:06:07.089000Z",
      },
    });
    expect((await get(`/api/projects/${project}/batch_exports/${json.id}`)).json).toEqual(json);
    expect(worlds.get("batch_exports", json.id)?.destination.config).toEqual({
      ...s3,
      aws_access_key_id: "***",
      aws_secret_access_key: "***",
    });
  });

  test("at an organization that the caller's current project is not of, it goes to the first project", async () => {
    const world = worldWithExports();
    const ada = world.users[0];
    if (ada) world.users[0] = { ...ada, current_project: 3 };
    const { post } = open({ world });
    expect((await post(inAcme, body)).json.team_id).toBe(1);
  });

  test("every field", async () => {
    const written = {
      ...body,
      model: "persons",
      paused: true,
      last_paused_at: "2026-01-01T01:00:00+01:00",
      start_at: "2026-01-01T00:00:00Z",
      end_at: null,
      hogql_query: "SELECT event, toString(uuid) AS id FROM events",
      filters: [{ key: "$browser", operator: "exact", type: "event", value: ["Firefox"] }],
    };
    const { post } = open();
    expect((await post(inProject, { ...written, id: "x", team_id: 9, unknown: 1 })).json).toMatchObject({
      ...written,
      team_id: 1,
      last_paused_at: "2026-01-01T00:00:00Z",
      destination: { type: "S3", config: s3 },
      schema: {
        fields: [
          { expression: "event", alias: "event" },
          { expression: "toString(uuid)", alias: "id" },
        ],
        values: {},
        hogql_query: "SELECT event, toString(uuid) AS id FROM events",
      },
    });
  });

  test("a configuration is kept as it is sent; a text that may hold keys is masked", async () => {
    const config = { host: "h", port: "5433", anything: [1], copy_inputs: '{"aws_secret_access_key":"s3cret"}' };
    const { post, worlds } = open();
    const { json } = await post(inProject, { ...body, destination: { type: "Redshift", config } });
    expect(json.destination).toEqual({ type: "Redshift", config: { ...config, copy_inputs: "***" } });
    expect(JSON.stringify(worlds.current.batch_exports)).not.toContain("s3cret");
  });

  test.each(["PATCH", "PUT"])("%s merges the configuration; secrets that are not sent stay", async (method) => {
    const { ask, worlds } = open();
    const changes = { name: "Renamed", interval: "hour", destination: { type: "S3", config: { ...s3, region: "us" } } };
    const { status, json } = await ask(method, `${inProject}/${hourly}/`, { body: changes });
    expect({ status, json }).toMatchObject({
      status: 200,
      json: { name: "Renamed", destination: { config: { ...s3, region: "us" } } },
    });
    expect(json.created_at).toBe("2025-03-01T09:30:00Z");
    expect(json.last_updated_at).toBe("2026-03-04T05:06:07.089000Z");
    expect(worlds.get("batch_exports", hourly)?.destination.config).toMatchObject({
      region: "us",
      aws_access_key_id: "***",
      aws_secret_access_key: "***",
    });
  });

  test("PATCH changes what it names only, at an organization's URL, too", async () => {
    const { patch, get } = open();
    const before = (await get(`${inProject}/${hourly}`)).json;
    const { json } = await patch(`${inAcme}/${hourly}`, {
      destination: { type: "S3", config: { compression: "gzip" } },
    });
    expect(json).toEqual({
      ...before,
      last_updated_at: "2026-03-04T05:06:07.089000Z",
      destination: { type: "S3", config: { ...before.destination.config, compression: "gzip" } },
    });
  });

  test("PATCH of paused has the time of the pause, which a second one does not move", async () => {
    const { patch } = open();
    const at = "2026-03-04T05:06:07.089000Z";
    const paused = (body: object) => patch(`${inProject}/${hourly}`, body).then((it) => it.json);
    expect(await paused({ paused: false })).toMatchObject({ paused: false, last_paused_at: null });
    expect(await paused({ paused: true })).toMatchObject({ paused: true, last_paused_at: at });
    const earlier = { paused: true, last_paused_at: "2026-01-01T00:00:00Z" };
    expect(await paused(earlier)).toMatchObject({ last_paused_at: earlier.last_paused_at });
    expect(await paused({ paused: true })).toMatchObject({ last_paused_at: earlier.last_paused_at });
    expect(await paused({ paused: false })).toMatchObject({ last_paused_at: earlier.last_paused_at });
    expect(await paused({ ...earlier, last_paused_at: null })).toMatchObject({ last_paused_at: null });
  });

  test("another type leaves the secrets of the former behind", async () => {
    const { patch, worlds } = open();
    const to = { type: "HTTP", config: { url: "https://example.test", token: "t" } };
    const { status, json } = await patch(`${inProject}/${hourly}`, { destination: to });
    expect(status).toBe(200);
    expect(json.destination.config).not.toHaveProperty("token");
    expect(JSON.stringify(worlds.get("batch_exports", hourly)?.destination)).not.toContain("aws_");
  });

  test("objects inside of a configuration are merged and masked, too", async () => {
    const login = { user: "u", password: "p", host: "h", database: "d" };
    const copy = {
      s3_bucket: "b",
      region_name: "r",
      s3_key_prefix: "/",
      authorization: secrets,
      bucket_credentials: secrets,
    };
    const { post, patch, worlds } = open();
    const config = { ...login, mode: "COPY", copy_inputs: copy };
    const { json } = await post(inProject, { ...body, destination: { type: "Redshift", config } });
    const again = { type: "Redshift", config: { copy_inputs: { region_name: "r2" } } };
    const changed = await patch(`${inProject}/${json.id}`, { destination: again });
    expect(changed.json.destination.config.copy_inputs).toEqual({
      s3_bucket: "b",
      region_name: "r2",
      s3_key_prefix: "/",
      authorization: {},
      bucket_credentials: {},
    });
    const kept = JSON.stringify(worlds.get("batch_exports", json.id));
    expect(kept).toContain('"aws_secret_access_key":"***"');
    expect(kept).not.toContain("s3cret");
  });

  test("a query that is null changes nothing; a new one replaces the schema", async () => {
    const { patch } = open();
    const path = `${inProject}/${hourly}`;
    await patch(path, { hogql_query: "SELECT event FROM events" });
    expect((await patch(path, { hogql_query: null })).json.hogql_query).toBe("SELECT event FROM events");
    expect((await patch(path, { hogql_query: "SELECT uuid FROM events" })).json.schema.fields).toEqual([
      { expression: "uuid", alias: "uuid" },
    ]);
  });

  test.each(["constructor", "__proto__"])("a configuration's key %s reaches no prototype", async (key) => {
    const { post } = open();
    const text = JSON.stringify(body).replace('"bucket_name"', `"${key}":{"region":"x"},"bucket_name"`);
    const { status, json } = await post(inProject, text);
    expect(status).toBe(201);
    expect(json.destination.config).toEqual(key === "constructor" ? { ...s3, constructor: { region: "x" } } : s3);
  });

  test("what was deleted is gone everywhere, and its open backfills are cancelled", async () => {
    const { delete: remove, get, worlds } = open();
    expect(await remove(`${inAcme}/${hourly}`)).toMatchObject({ status: 204, text: "" });
    for (const path of [`${inAcme}/${hourly}`, `${inProject}/${hourly}/`, `${inProject}/${hourly}/runs`]) {
      expect((await get(path)).status).toBe(404);
    }
    expect((await get(inProject)).json.count).toBe(0);
    expect(worlds.get("batch_exports", hourly)).toMatchObject({ deleted: true });
    expect(worlds.current.batch_export_backfills.map((it) => it.status)).toEqual([
      "Completed",
      "Cancelled",
      "Cancelled",
      "Failed",
      "Completed",
    ]);
    expect(worlds.get("batch_export_runs", runId(13))?.status).toBe("Cancelled");
  });
});

describe("refused bodies", () => {
  const field = (name: string, value: unknown) => ({ ...body, [name]: value });
  const to = (type: string, config: unknown) => field("destination", { type, config });
  const unread = expect.stringMatching(/^Failed to parse query: ./);
  const required = "This field is required.";
  const notDate =
    "Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].";

  test.each<[string, unknown, string, string | null, string]>([
    ["nothing", {}, "required", "name", required],
    ["a list", [], "invalid_input", null, "Invalid data. Expected a dictionary, but got list."],
    ["no name", field("name", undefined), "required", "name", required],
    ["an empty name", field("name", " "), "blank", "name", "This field may not be blank."],
    ["a null name", field("name", null), "null", "name", "This field may not be null."],
    ["a name that is an object", field("name", {}), "invalid_input", "name", "Not a valid string."],
    ["an unknown model", field("model", "groups"), "invalid_choice", "model", '"groups" is not a valid choice.'],
    ["no destination", field("destination", undefined), "required", "destination", required],
    ["a null destination", field("destination", null), "null", "destination", "This field may not be null."],
    [
      "a destination that is text",
      field("destination", "S3"),
      "invalid_input",
      "destination",
      "Invalid data. Expected a dictionary, but got str.",
    ],
    ["no type", field("destination", { config: s3 }), "required", "destination__type", required],
    ["no config", field("destination", { type: "S3" }), "required", "destination__config", required],
    [
      "a config that is a list",
      to("S3", []),
      "not_a_dict",
      "destination__config",
      'Expected a dictionary of items but got type "list".',
    ],
    ["an unknown type", to("Foo", {}), "invalid_choice", "destination__type", '"Foo" is not a valid choice.'],
    [
      "a type that needs an integration",
      to("Databricks", {}),
      "invalid_choice",
      "destination__type",
      '"Databricks" is not a valid choice.',
    ],
    ["no interval", field("interval", undefined), "required", "interval", required],
    ["an unknown interval", field("interval", "year"), "invalid_choice", "interval", '"year" is not a valid choice.'],
    ["a paused that is no boolean", field("paused", "maybe"), "invalid_input", "paused", "Must be a valid boolean."],
    ["a null paused", field("paused", null), "null", "paused", "This field may not be null."],
    ["a last_paused_at that is no time", field("last_paused_at", "x"), "invalid_input", "last_paused_at", notDate],
    ["a start that is no time", field("start_at", "2026-02-30T00:00"), "invalid_input", "start_at", notDate],
    ["an end that is no time", field("end_at", "2026-02-01"), "invalid_input", "end_at", notDate],
    ["a query that cannot be read", field("hogql_query", "SELECT"), "invalid_input", "hogql_query", unread],
    ["a query that is a number", field("hogql_query", 5), "invalid_input", "hogql_query", unread],
    [
      "a query of another table",
      field("hogql_query", "SELECT a FROM persons"),
      "invalid_input",
      "hogql_query",
      "Query must only SELECT FROM events",
    ],
    [
      "filters that are an object",
      field("filters", {}),
      "not_a_list",
      "filters",
      'Expected a list of items but got type "dict".',
    ],
    [
      "persons to HTTP",
      { ...to("HTTP", { url: "u", token: "t" }), model: "persons" },
      "invalid_input",
      null,
      "HTTP batch exports only support the events model",
    ],
    ["the first of two problems", { interval: 1, name: "n" }, "required", "destination", required],
  ])("%s", async (_, sent, code, attr, detail) => {
    const { post, worlds } = open();
    for (const path of [inProject, inAcme]) {
      expect(await post(path, sent)).toMatchObject({
        status: 400,
        json: { type: "validation_error", code, attr, detail },
      });
    }
    expect(worlds.current.batch_exports).toHaveLength(4);
  });

  test.each<[string, string, unknown, string | null, string]>([
    ["PUT", "no name", { destination, interval: "day" }, "name", required],
    ["PATCH", "no type", { destination: { config: {} } }, "destination__type", required],
    ["PATCH", "a null name", { name: null }, "name", "This field may not be null."],
  ])("%s with %s", async (method, _, sent, attr, detail) => {
    const { ask } = open();
    const { status, json } = await ask(method, `${inProject}/${hourly}`, { body: sent });
    expect({ status, json }).toMatchObject({ status: 400, json: { attr, detail } });
  });
});

describe("what an organization must have been given", () => {
  const frequent = { ...body, interval: "every 5 minutes" };

  test.each([
    [frequent, "Higher frequency batch exports are not enabled for this team."],
    [{ ...body, interval: "every 15 minutes" }, "Higher frequency batch exports are not enabled for this team."],
    [{ ...body, model: "sessions" }, "Sessions batch exports are not enabled for this team."],
  ])("%o", async (sent, detail) => {
    const { post } = open();
    expect(await post(inProject, sent)).toMatchObject({
      status: 403,
      json: { type: "authentication_error", code: "permission_denied", detail, attr: null },
    });
  });

  test("with the feature, exports may run every few minutes", async () => {
    const world = worldWithExports();
    world.organizations = world.organizations.map((it) => ({
      ...it,
      available_product_features: [{ key: "high_frequency_batch_exports" }],
    }));
    const { post } = open({ world });
    expect(await post(inAcme, frequent)).toMatchObject({ status: 201, json: { interval: "every 5 minutes" } });
  });

  test("an export cannot become one of sessions", async () => {
    const { patch } = open();
    expect((await patch(`${inProject}/${hourly}`, { model: "sessions" })).status).toBe(403);
  });

  test.each([null, ""])("a model that is %o is the default one", async (model) => {
    const { post } = open();
    expect((await post(inProject, { ...body, model })).json.model).toBe("events");
  });
});

describe("pausing", () => {
  test("says when, once", async () => {
    const { post, get, clock } = open();
    const path = `${inProject}/${hourly}`;
    expect(await post(`${path}/pause/`)).toMatchObject({ status: 200, json: { paused: true } });
    clock.set(clock.now() + 60_000);
    expect((await post(`${inAcme}/${hourly}/pause`)).json).toEqual({ paused: true });
    expect((await get(path)).json).toMatchObject({
      paused: true,
      last_paused_at: "2026-03-04T05:06:07.089000Z",
      last_updated_at: "2026-03-04T05:06:07.089000Z",
    });
  });

  test.each([undefined, {}, { backfill: false }, { backfill: "false" }])("ends with %o", async (sent) => {
    const { post, get, worlds } = open();
    const path = `/api/projects/2/batch_exports/${weekly}`;
    expect(await post(`${path}/unpause`, sent)).toMatchObject({ status: 200, json: { paused: false } });
    expect((await get(path)).json).toMatchObject({
      paused: false,
      last_paused_at: "2026-02-20T00:00:00Z",
      last_updated_at: "2026-03-04T05:06:07.089000Z",
    });
    expect(worlds.current.batch_export_backfills).toHaveLength(5);
  });

  test("ends with a backfill of what was missed", async () => {
    const { post, worlds } = open();
    expect((await post(`${inAcme}/${weekly}/unpause/`, { backfill: true })).json).toEqual({ paused: false });
    expect(worlds.current.batch_export_backfills.at(-1)).toMatchObject({
      batch_export: weekly,
      start_at: "2026-02-20T00:00:00Z",
      end_at: "2026-03-04T05:06:07.089000Z",
      total_runs: 1,
    });
  });

  test("of one that runs changes nothing, and nothing is filled", async () => {
    const { post, get, worlds } = open();
    const before = (await get(`${inProject}/${hourly}`)).json;
    expect((await post(`${inProject}/${hourly}/unpause`, { backfill: true })).json).toEqual({ paused: false });
    expect((await get(`${inProject}/${hourly}`)).json).toEqual(before);
    expect(worlds.current.batch_export_backfills).toHaveLength(5);
  });

  test("too long to be filled: it stays paused", async () => {
    const world = worldWithExports();
    world.batch_exports = world.batch_exports.map((it) => ({
      ...it,
      interval: "hour",
      last_paused_at: "2020-01-01T00:00:00Z",
    }));
    const { post, worlds } = open({ world });
    expect((await post(`${inAcme}/${weekly}/unpause`, { backfill: true })).status).toBe(400);
    expect(worlds.get("batch_exports", weekly)?.paused).toBe(true);
  });

  test("with a backfill that is no boolean is refused", async () => {
    const { post } = open();
    expect(await post(`${inAcme}/${weekly}/unpause`, { backfill: [] })).toMatchObject({
      status: 400,
      json: { attr: "backfill", detail: "Must be a valid boolean." },
    });
  });
});

/** Every row at both kinds of URL, with a body that it takes. */
const range = { start_at: "2026-03-01T00:00:00Z", end_at: "2026-03-02T00:00:00Z" };
const both = [
  ["GET", "", "batch_export:read", undefined],
  ["POST", "", "batch_export:write", body],
  ["GET", "/:id", "batch_export:read", undefined],
  ["PATCH", "/:id", "batch_export:write", { name: "n" }],
  ["PUT", "/:id", "batch_export:write", body],
  ["DELETE", "/:id", "batch_export:write", undefined],
  ["POST", "/:id/pause", "batch_export:write", undefined],
  ["POST", "/:id/unpause", "batch_export:write", {}],
  ["POST", "/:id/backfill", "batch_export:write", range],
  ["GET", "/:id/logs", "batch_export:read", undefined],
] as const;
const projectOnly = [
  ["GET", "/:id/runs", "batch_export:read", undefined],
  ["GET", `/:id/runs/${runId(13)}`, "batch_export:read", undefined],
  ["GET", `/:id/runs/${runId(13)}/logs`, "batch_export:read", undefined],
  ["POST", `/:id/runs/${runId(13)}/retry`, "batch_export:write", undefined],
  ["POST", `/:id/runs/${runId(13)}/cancel`, "batch_export:write", undefined],
  ["GET", "/:id/backfills", "batch_export:read", undefined],
  ["POST", "/:id/backfills", "batch_export:write", range],
  ["GET", `/:id/backfills/${uuidOf("backfill 2")}`, "batch_export:read", undefined],
  ["POST", `/:id/backfills/${uuidOf("backfill 2")}/cancel`, "batch_export:write", undefined],
] as const;

const rows = [
  ...both.flatMap((row) => [[inAcme, ...row] as const, [inProject, ...row] as const]),
  ...projectOnly.map((row) => [inProject, ...row] as const),
];

describe.each(rows)("%s: %s %s", (root, method, path, scope, sent) => {
  const target = `${root}${path.replace(":id", hourly)}`;

  test("passes with its scope and no other", async () => {
    const success = { read: ["phx_reader", "phx_writer"], write: ["phx_writer"] };
    const able = scope.endsWith("read") ? success.read : success.write;
    for (const key of ["phx_reader", "phx_writer", "phx_nothing"]) {
      const { ask } = open();
      const { status, json } = await ask(method, target, { key, body: sent });
      if (able.includes(key)) expect(status).toBeLessThan(300);
      else
        expect({ status, detail: json.detail }).toEqual({
          status: 403,
          detail: `API key missing required scope '${scope}'`,
        });
    }
  });

  test("needs a key", async () => {
    expect((await open().ask(method, target, { key: null, body: sent })).status).toBe(401);
  });

  test("is closed to those who are not members, and to keys that are limited elsewhere", async () => {
    const { ask } = open();
    for (const key of ["phx_eve", "phx_globex_only"]) {
      expect((await ask(method, target, { key, body: sent })).status).toBe(403);
    }
  });

  if (path.includes(":id"))
    test("does not find exports of others, deleted or missing ones", async () => {
      const { ask, worlds } = open();
      const before = structuredClone(worlds.current.batch_exports);
      const hidden = [foreign, uuidOf("batch export that was deleted"), uuidOf("nothing"), "7", "constructor"];
      if (root === inProject) hidden.push(weekly);
      for (const id of hidden) {
        const { status, json } = await ask(method, `${root}${path.replace(":id", id)}`, { body: sent });
        const detail = method === "POST" && path.endsWith("/backfills") ? "BatchExport not found." : "Not found.";
        expect({ id, status, detail: json.detail }).toEqual({ id, status: 404, detail });
      }
      expect(worlds.current.batch_exports).toEqual(before);
    });
});

test.each([
  ["PATCH", inProject, 405, 'Method "PATCH" not allowed.'],
  ["DELETE", inProject, 403, "This action does not support personal API key access"],
  ["POST", `${inProject}/${hourly}`, 403, "This action does not support personal API key access"],
])("%s %s is %i", async (method, path, status, detail) => {
  expect(await open().ask(method, path)).toMatchObject({ status, json: { detail } });
});

test("an organization's URL has no runs and no backfills", async () => {
  const { get } = open();
  for (const nested of ["runs", "backfills"]) {
    expect((await get(`${inAcme}/${hourly}/${nested}`)).json.detail).toBe("Endpoint not found.");
  }
});

test("a key that is limited to projects is not let in at an organization's URL", async () => {
  const { get } = open();
  expect((await get(inAcme, { key: "phx_project_1" })).json.detail).toBe(
    "API keys with scoped projects are only supported on project-based endpoints.",
  );
  expect((await get(inProject, { key: "phx_project_1" })).json.count).toBe(1);
  expect((await get("/api/projects/2/batch_exports", { key: "phx_project_1" })).status).toBe(403);
});

describe("dialects", () => {
  const names = ["documented", "production"] as const satisfies Dialect[];

  test.each(names)("hogql_query: %s", async (dialect) => {
    const { post, get } = open({ dialect });
    const sent = { ...body, hogql_query: "SELECT event FROM events" };
    const { status, json } = await post(inProject, sent);
    expect(status).toBe(201);
    const shown = dialect === "documented" ? "SELECT event FROM events" : undefined;
    expect(json.hogql_query).toBe(shown);
    expect((await get(inProject)).json.results[0].hogql_query).toBe(shown);
    expect(json.schema.hogql_query).toBe("SELECT event FROM events");
  });

  test.each(names)("the body of backfill: %s", async (dialect) => {
    const { post, worlds } = open({ dialect });
    const { status, text, json } = await post(`${inProject}/${hourly}/backfill/`, range);
    expect(status).toBe(200);
    if (dialect === "documented") expect(text).toBe("");
    else {
      expect(json).toEqual({ backfill_id: `${hourly}-Backfill-2026-03-01T00:00:00+00:00-2026-03-02T00:00:00+00:00` });
    }
    expect(worlds.current.batch_export_backfills.at(-1)).toMatchObject({ ...range, total_runs: 24 });
  });

  test.each([
    ["POST", "", body, 201],
    ["POST", `/${hourly}/backfill`, range, 200],
    ["GET", `/${hourly}/logs`, undefined, 200],
    ["GET", "", undefined, 200],
    ["PATCH", `/${hourly}`, { name: "n" }, 200],
    ["POST", `/${hourly}/pause`, undefined, 200],
  ])("%s at an organization's URL%s", async (method, path, sent, status) => {
    expect((await open().ask(method, `${inAcme}${path}`, { body: sent })).status).toBe(status);
    const { ask, worlds } = open({ dialect: "production" });
    const answer = await ask(method, `${inAcme}${path}`, { body: sent });
    const isBroken = status === 201 || /backfill|logs/.test(path);
    expect(answer.status).toBe(isBroken ? 500 : status);
    if (!isBroken) return;
    expect(answer.json).toEqual({
      type: "server_error",
      code: "error",
      detail: "A server error occurred.",
      attr: null,
    });
    expect(worlds.current.batch_exports).toHaveLength(4);
    expect(worlds.current.batch_export_backfills).toHaveLength(5);
  });

  test("what the service refuses before it fails stays refused", async () => {
    const { post } = open({ dialect: "production" });
    expect((await post(inAcme, {})).status).toBe(400);
    expect((await post(`/api/organizations/${globex}/batch_exports`, body)).status).toBe(403);
  });
});
