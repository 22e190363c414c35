import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, describe, expect } from "vitest";
import { startSim } from "../../../src/index.ts";
import { atOnce } from "../../../src/kernel/base/work.ts";
import type { Endpoint, JsonSchema } from "../../../src/kernel/http/endpoint.ts";
import { type OpenApiDocument, type OpenApiFacts, openApiOf } from "../../../src/kernel/http/openapi.ts";
import { documentOf, type Operation, operationsOf, type SimDocument } from "../../contract/document.ts";
import { test } from "../../support/sim.ts";

const made = (...given: Parameters<typeof openApiOf>) => atOnce(openApiOf(...given));

const facts: OpenApiFacts = {
  title: "Things",
  description: "",
  version: "1",
  url: "http://things.test",
  tagOf: () => "things",
  parameterOf: (name, collection) => ({ description: `${name} of ${collection}`, schema: { type: "integer" } }),
};

const row = (methods: string[], path: string, more: Partial<Endpoint> = {}): Endpoint => ({
  methods,
  path,
  family: "service",
  summary: path,
  handle: () => ({ status: 200, headers: [], body: null }),
  ...more,
});

const answering = (schema: JsonSchema) => ({ docs: () => ({ replies: { 200: { description: "", schema } } }) });

const schemaAt = (document: OpenApiDocument, path: string): unknown =>
  JSON.parse(JSON.stringify(document.paths[path]?.get)).responses["200"].content["application/json"].schema;

describe("a document made of rows", () => {
  const names: [method: string, path: string, operationId: string][] = [
    ["GET", "/api/projects/:project_id/things", "projects_things_list"],
    ["POST", "/api/projects/:project_id/things", "projects_things_create"],
    ["GET", "/api/projects/:project_id/things/:id", "projects_things_retrieve"],
    ["PUT", "/api/projects/:project_id/things/:id", "projects_things_update"],
    ["PATCH", "/api/projects/:project_id/things/:id", "projects_things_partial_update"],
    ["DELETE", "/api/projects/:project_id/things/:id", "projects_things_destroy"],
    ["POST", "/api/projects/:project_id/things/:id/move", "projects_things_move_create"],
    ["GET", "/array/:token/config.js", "array_config_js_retrieve"],
    ["GET", "/", "root_retrieve"],
  ];
  test.each(names)("%s %s is %s", (method, path, operationId) => {
    const document = made(
      names.map(([method, path]) => row([method], path)),
      facts,
    );
    const template = path.replace(/:(\w+)/g, "{$1}");
    expect(document.paths[template]?.[method.toLowerCase()]?.operationId).toBe(operationId);
  });

  test("a name that is taken gets a number", () => {
    const { paths } = made([row(["GET"], "/s/:a"), row(["GET"], "/s/:a/:b")], facts);
    expect(Object.values(paths).map((it) => it.get?.operationId)).toEqual(["s_retrieve", "s_retrieve_2"]);
  });

  test("HEAD and OPTIONS are not listed, and a GET has no body", () => {
    const body = { type: "application/json", schema: { type: "object" } };
    const { paths } = made(
      [row(["POST", "GET", "HEAD", "OPTIONS"], "/a", { docs: () => ({ body, replies: {} }) })],
      facts,
    );
    expect(Object.keys(paths["/a"] ?? {})).toEqual(["post", "get"]);
    expect(paths["/a"]?.post).toHaveProperty("requestBody");
    expect(paths["/a"]?.get).not.toHaveProperty("requestBody");
  });

  test("parameters of the path are reported with the collection they stand in", () => {
    const { paths } = made([row(["GET"], "/api/things/:thing_id/:part")], facts);
    expect(paths["/api/things/{thing_id}/{part}"]?.get?.parameters).toEqual(
      ["thing_id", "part"].map((name) => ({
        name,
        in: "path",
        required: true,
        description: `${name} of things`,
        schema: { type: "integer" },
      })),
    );
  });

  const security: [Partial<Endpoint>, unknown][] = [
    [{ family: "management", scope: "a:read" }, [{ personal_api_key: ["a:read"] }]],
    [{ family: "management" }, [{ personal_api_key: [] }]],
    [{ family: "capture" }, []],
    [{ family: "flags", scope: "f:read" }, [{ personal_api_key: ["f:read"] }, { project_secret_key: [] }]],
    [{ family: "capture-v1" }, [{ project_key: [] }]],
    [{ docs: () => ({ bearer: "project", replies: {} }) }, [{ project_key: [] }]],
    [{ family: "control" }, [{}, { control_token: [] }]],
  ];
  test.each(security)("%o asks for %o", (more, expected) => {
    expect(made([row(["GET"], "/a", more)], facts).paths["/a"]?.get?.security).toEqual(expected);
  });

  const inner = { title: "Inner", type: "object", properties: { title: { type: "string" } } };
  const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

  test("a schema with a title is reported once, wherever it stands", () => {
    const list = { type: "array", items: { anyOf: [inner, { type: "null" }] } };
    const document = made([row(["GET"], "/a", answering(list)), row(["GET"], "/b", answering(inner))], facts);
    expect(document.components.schemas).toEqual({ Inner: inner });
    expect(schemaAt(document, "/a")).toEqual({
      type: "array",
      items: { anyOf: [reference("Inner"), { type: "null" }] },
    });
    expect(schemaAt(document, "/b")).toEqual(reference("Inner"));
  });

  test("another schema with the same title gets a name of its own", () => {
    const other = { ...inner, required: ["title"] };
    const document = made([row(["GET"], "/a", answering(inner)), row(["GET"], "/b", answering(other))], facts);
    expect(document.components.schemas).toEqual({ Inner: inner, Inner2: other });
    expect(schemaAt(document, "/b")).toEqual(reference("Inner2"));
  });

  const recursive = (key: string): JsonSchema => ({
    type: "object",
    properties: { child: { $ref: `#/$defs/${key}` } },
    $defs: { [key]: { anyOf: [{ type: "null" }, { type: "array", items: { $ref: `#/$defs/${key}` } }] } },
  });
  test("definitions become components, the same ones once, whatever they are called", () => {
    const rows = ["one", "two"].map((key) => row(["GET"], `/${key}`, answering(recursive(key))));
    const document = made(rows, facts);
    expect(document.components.schemas).toEqual({
      Value: { anyOf: [{ type: "null" }, { type: "array", items: reference("Value") }] },
    });
    expect(schemaAt(document, "/two")).toEqual({ type: "object", properties: { child: reference("Value") } });
  });

  test("a schema may refer to itself as a whole", () => {
    const tree = { title: "Tree", type: "object", properties: { left: { $ref: "#" } } };
    expect(made([row(["GET"], "/a", answering(tree))], facts).components.schemas).toEqual({
      Tree: { title: "Tree", type: "object", properties: { left: reference("Tree") } },
    });
  });

  test("a reference that leads nowhere is a bug", () => {
    const broken = answering({ type: "array", items: { $ref: "#/$defs/gone" } });
    expect(() => made([row(["GET"], "/a", broken)], facts)).toThrow("#/$defs/gone");
  });
});

describe.each(["documented", "production"] as const)("the document of a sim, %s", (dialect) => {
  let document: SimDocument;
  let rows: readonly Pick<Endpoint, "methods" | "path" | "docs" | "scope">[];
  let operations: Operation[];
  beforeAll(async () => {
    await using sim = await startSim({ dialect });
    document = await documentOf(sim);
    rows = await sim.endpoints();
    operations = operationsOf(document);
  });

  test("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const { errors, valid } = await validator.validate(structuredClone({ ...document }));
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
    expect(validator.version).toBe("3.1");
  });

  test("has each method of each row", () => {
    const served = rows.flatMap(({ methods, path }) =>
      methods.map((method) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`),
    );
    expect(operations.map((it) => `${it.method} ${it.path}`).sort()).toEqual(served.sort());
  });

  test("each row says how it answers, each parameter what it is", () => {
    expect(rows.filter((it) => it.docs === undefined).map((it) => it.path)).toEqual([]);
    const silent = operations.flatMap(({ path, parameters }) =>
      parameters.filter((it) => it.description === "").map((it) => `${it.name} of ${path}`),
    );
    expect(silent).toEqual([]);
  });

  test("each operation has a name of its own", () => {
    const names = operations.map((it) => it.operationId);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
    expect(names.filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))).toEqual([]);
  });

  test("no two paths differ in the names of their parameters only", () => {
    const shapes = Object.keys(document.paths).map((path) => path.replace(/\{\w+\}/g, "{}"));
    expect(shapes.filter((shape, i) => shapes.indexOf(shape) !== i)).toEqual([]);
  });

  test("each reference leads to a component", () => {
    const names = [...JSON.stringify(document.paths).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
    expect(names.length).toBeGreaterThan(20);
    expect(names.map((it) => it[1] ?? "").filter((name) => !Object.hasOwn(document.components.schemas, name))).toEqual(
      [],
    );
  });

  test("scopes of the rows are the scopes of the operations", () => {
    const scoped = rows.find((it) => it.scope === "feature_flag:read" && it.path === "/flags/definitions");
    expect(scoped).toBeDefined();
    expect(document.paths["/flags/definitions"]?.get?.security).toContainEqual({
      personal_api_key: ["feature_flag:read"],
    });
  });
});

describe("GET /__sim/openapi.json", () => {
  test("advertises the address it was asked at", async ({ sim }) => {
    expect((await documentOf(sim, "http://one.test:81")).servers).toEqual([{ url: "http://one.test:81" }]);
    expect((await documentOf(sim, "http://two.test")).servers).toEqual([{ url: "http://two.test" }]);
    const overSocket = await fetch(`${sim.url}/__sim/openapi.json`);
    expect(await overSocket.json()).toMatchObject({ openapi: "3.1.1", servers: [{ url: sim.url }] });
  });

  test("is guarded", async ({ sim }) => {
    const answer = await fetch(`${sim.url}/__sim/openapi.json`, { headers: { origin: "http://evil.test" } });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ code: "forbidden_origin" });
  });
});
