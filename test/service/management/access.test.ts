import { describe, expect, test } from "vitest";
import { fixedClock } from "../../../src/kernel/base/clock.ts";
import { createThrottle } from "../../../src/service/api-frame/desk.ts";
import { createRulesets } from "../../../src/service/flags/rulesets.ts";
import { managementSlice } from "../../../src/service/management/rows.ts";
import { manage, now } from "./manage.ts";
import { acme, globex, twoOrganizations, uuidOf } from "./world.ts";

type Family = "authentication_error" | "invalid_request" | "validation_error" | "throttled_error";
const error = (type: Family, code: string, detail: string, attr: string | null = null) => ({
  type,
  code,
  detail,
  attr,
});
const denied = (detail: string) => error("authentication_error", "permission_denied", detail);
const gone = (detail: string) => error("invalid_request", "not_found", detail);
const noKey = error("authentication_error", "not_authenticated", "Authentication credentials were not provided.");
const badKey = (place: string) =>
  error("authentication_error", "authentication_failed", `Personal API key found in request ${place} is invalid.`);
const unmapped = denied("This action does not support personal API key access");
const wrongMethod = (method: string) =>
  error("invalid_request", "method_not_allowed", `Method "${method}" not allowed.`);

/** Asked only for what is refused or read: nothing changes in it. */
const { ask } = manage();
const { desk } = manage();

const rows = managementSlice
  .rows({ resources: desk, rulesets: createRulesets(desk) })
  .filter(({ family }) => family === "management")
  .flatMap(({ methods, path, scope, allow }) => methods.map((method) => ({ method, path, scope, allow })));
const scoped = rows.filter((it): it is (typeof rows)[number] & { scope: string } => it.scope !== undefined);
const paths = [...new Map(rows.map((it) => [it.path, it])).values()];

/** The path with a project or organization, and ids that nothing has. */
const at = (path: string, { project = "1", organization = acme } = {}) =>
  path
    .replace(":project_id", project)
    .replace(":organization_id", organization)
    .replace(/:[a-z_]+/g, "nothing");

test("there are rows to be asked", () => {
  expect(scoped.length).toBeGreaterThan(100);
});

describe.each(["", "/"])("every row, with %j at its end", (slash) => {
  test.each(rows)("$method $path is 401 without a key", async ({ method, path, allow }) => {
    const answer = await ask(method, at(path) + slash, { key: null });
    expect(answer).toMatchObject({ status: 401, json: noKey });
    expect(answer.header("allow")).toBe(allow);
    expect(answer.header("www-authenticate")).toBeUndefined();
  });
});

test.each(scoped)("$method $path is 403 without $scope", async ({ method, path, scope, allow }) => {
  const answer = await ask(method, at(path), { key: "phx_nothing" });
  const expected = denied(`API key missing required scope '${scope}'`);
  expect(answer).toMatchObject({ status: 403, json: expected });
  expect(answer.header("allow")).toBe(allow);
});

const ofProjects = rows.filter(({ path }) => path.includes("/:project_id/"));
const ofOrganizations = rows.filter(({ path }) => path.includes("/:organization_id/"));

describe("a row of a project", () => {
  test.each(ofProjects)("$method $path keeps strangers and limited keys out", async ({ method, path }) => {
    const asked = async (project: string, key: string) => {
      const { status, json } = await ask(method, at(path, { project }), { key });
      return { status, json };
    };
    const missing = { status: 404, json: gone("Project not found.") };
    for (const project of ["77", "x", "1.0", "99999999999999999999"]) {
      expect(await asked(project, "phx_ada")).toEqual(missing);
    }
    const stranger = { status: 403, json: denied("You don't have access to the project.") };
    expect(await asked("3", "phx_ada")).toEqual(stranger);
    expect(await asked("1", "phx_eve")).toEqual(stranger);
    expect(await asked("2", "phx_project_1")).toEqual({
      status: 403,
      json: denied("API key does not have access to the requested project: ID 2."),
    });
    expect(await asked("1", "phx_globex_only")).toEqual({
      status: 403,
      json: denied(`API key does not have access to the requested organization: ID ${acme}.`),
    });
  });
});

describe("a row of an organization", () => {
  test.each(ofOrganizations)("$method $path keeps strangers and limited keys out", async ({ method, path }) => {
    const { ask } = manage();
    const asked = async (organization: string, key: string) => {
      const { status, json } = await ask(method, at(path, { organization }), { key });
      return { status, json };
    };
    const missing = { status: 404, json: gone("Organization not found.") };
    for (const organization of ["x", "1", uuidOf("no organization")]) {
      expect(await asked(organization, "phx_ada")).toEqual(missing);
    }
    expect(await asked(globex, "phx_ada")).toEqual({
      status: 403,
      json: denied("You do not have permission to perform this action."),
    });
    expect(await asked(acme, "phx_project_1")).toEqual({
      status: 403,
      json: denied("API keys with scoped projects are only supported on project-based endpoints."),
    });
    expect(await asked(acme, "phx_globex_only")).toEqual({
      status: 403,
      json: denied(`API key does not have access to the requested organization: ID ${acme}.`),
    });
  });
});

const everyMethod = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const wrong = paths.flatMap(({ path, allow = "" }) =>
  everyMethod.filter((method) => !allow.split(", ").includes(method)).map((method) => ({ method, path, allow })),
);

describe("a method that a path does not have", () => {
  test.each(wrong)("$method $path", async ({ method, path, allow }) => {
    const without = await ask(method, at(path), { key: null });
    expect(without).toMatchObject({ status: 401, json: noKey });
    const answer = await ask(method, at(path), {});
    // PATCH of a list is the one that scopes know.
    const isKnown = method === "PATCH" && !path.split("/").at(-1)?.startsWith(":") && !/personal_api/.test(path);
    expect(answer.json).toEqual(isKnown ? wrongMethod("PATCH") : unmapped);
    expect(answer.status).toBe(isKnown ? 405 : 403);
    expect(answer.header("allow")).toBe(allow);
  });

  test.each([
    ["of an unknown project", "/api/projects/77/cohorts", 404],
    ["of a foreign project", "/api/projects/3/cohorts", 403],
    ["of an unknown organization", "/api/organizations/x/batch_exports", 404],
  ])("PATCH of a list %s is refused for that", async (_, path, status) => {
    expect((await manage().patch(path, {})).status).toBe(status);
  });
});

describe("OPTIONS", () => {
  const readable = paths.filter(({ scope, path }) => scope !== undefined && !path.includes("batch_exports/:id/"));
  test.each(readable)("$path describes itself to who may read", async ({ path, allow }) => {
    const answer = await ask("OPTIONS", at(path), {});
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      renders: ["application/json"],
      parses: ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"],
    });
    expect(answer.header("allow")).toBe(allow);
    expect((await ask("OPTIONS", at(path), { key: null })).status).toBe(401);
    expect((await ask("OPTIONS", at(path), { key: "phx_nothing" })).status).toBe(403);
  });

  test("as a preflight needs no key, also on paths that no one has", async () => {
    for (const path of ["/api/projects/1/cohorts/", "/api/annotations/"]) {
      const answer = await manage().ask("OPTIONS", path, {
        key: null,
        headers: { origin: "https://app.test", "access-control-request-method": "PATCH" },
      });
      expect(answer).toMatchObject({ status: 200, text: "" });
      expect(answer.header("access-control-allow-origin")).toBe("https://app.test");
      expect(answer.header("access-control-allow-credentials")).toBe("true");
      expect(answer.header("access-control-allow-methods")).toBe("DELETE, GET, OPTIONS, PATCH, POST, PUT");
      expect(answer.header("access-control-allow-headers")).toContain("authorization, content-type");
      expect(answer.header("access-control-max-age")).toBe("86400");
      expect(answer.header("content-length")).toBe("0");
    }
  });
});

test.each([
  ["an answer", "phx_ada", 200],
  ["an error", null, 401],
])("the origin is echoed on %s", async (_, key, status) => {
  const answer = await manage().get("/api/projects/1/cohorts/", { key, headers: { origin: "https://app.test" } });
  expect(answer.status).toBe(status);
  expect(answer.header("access-control-allow-origin")).toBe("https://app.test");
  expect(answer.header("vary")).toBe("origin");
});

test("without an origin there are no headers about it", async () => {
  const answer = await manage().get("/api/projects/1/cohorts/");
  expect(answer.header("access-control-allow-origin")).toBeUndefined();
});

test("HEAD is GET without its body", async () => {
  const { ask, get } = manage();
  const { text } = await get("/api/projects/1/cohorts/");
  const answer = await ask("HEAD", "/api/projects/1/cohorts/");
  expect(answer).toMatchObject({ status: 200, text: "" });
  expect(answer.header("content-length")).toBe(String(Buffer.byteLength(text)));
});

describe("the key", () => {
  const path = "/api/projects/1/cohorts/";
  const form = (key: string) => ({
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `personal_api_key=${key}&name=n`,
  });
  const parts = (key: string) => ({
    headers: { "content-type": "multipart/form-data; boundary=b" },
    body: `--b\r\nContent-Disposition: form-data; name="personal_api_key"\r\n\r\n${key}\r\n--b--\r\n`,
  });
  const bearer = (text: string) => ({ headers: { authorization: text } });

  test.each([
    ["in the header", "", bearer("Bearer phx_ada")],
    ["in the header, with more blanks", "", bearer("Bearer   phx_ada  ")],
    ["in the header, in small letters", "", bearer("bearer phx_ada")],
    ["in the body", "", { body: { personal_api_key: "phx_ada" } }],
    ["in a form", "", form("phx_ada")],
    ["in a form of parts", "", parts("phx_ada")],
    ["in the query", "?personal_api_key=phx_ada", {}],
    ["in the header before the body", "", { ...bearer("Bearer phx_ada"), body: { personal_api_key: "x" } }],
    ["in the body before the query", "?personal_api_key=x", { body: { personal_api_key: "phx_ada" } }],
    ["in the query beside another scheme", "?personal_api_key=phx_ada", bearer("Basic cGh4")],
    ["in the query beside a header without a key", "?personal_api_key=phx_ada", bearer("Bearer ")],
    ["in the query beside an empty one", "?personal_api_key=phx_ada", { body: { personal_api_key: "" } }],
  ])("is found %s", async (_, query, asked) => {
    const answer = await manage().ask("POST", path + query, { key: null, ...asked });
    expect(answer.status).toBe(201);
  });

  test.each([
    ["nothing", "", {}, noKey],
    ["another scheme", "", bearer("Basic cGh4"), noKey],
    ["a scheme alone", "", bearer("Bearer"), noKey],
    ["an empty one in the query", "?personal_api_key=", {}, noKey],
    ["a number in the body", "", { body: { personal_api_key: 5 } }, noKey],
    ["a list as the body", "", { body: [] }, noKey],
    ["an unknown one", "", bearer("Bearer phx_x"), badKey("Authorization header")],
    ["a project's", "", bearer("Bearer phc_project_1"), badKey("Authorization header")],
    ["an inactive user's", "", bearer("Bearer phx_cleo"), badKey("Authorization header")],
    ["an unknown one in the body", "", { body: { personal_api_key: "x" } }, badKey("body")],
    ["an unknown one in a form", "", form("x"), badKey("body")],
    ["an unknown one in the query", "?personal_api_key=x", {}, badKey("query string")],
    [
      "an unknown one in the header, a good one in the query",
      "?personal_api_key=phx_ada",
      bearer("Bearer x"),
      badKey("Authorization header"),
    ],
    [
      "an access token",
      "",
      bearer("Bearer eyJhbGciOiJIUzI1NiJ9.e30xyz.c2lnbmF0dXJl"),
      error("authentication_error", "authentication_failed", "Token invalid."),
    ],
  ])("is refused: %s", async (_, query, asked, expected) => {
    const world = twoOrganizations();
    world.users = world.users.map((it) => (it.id === 3 ? { ...it, is_active: false } : it));
    const answer = await manage({ world }).ask("POST", path + query, { key: null, ...asked });
    expect(answer).toMatchObject({ status: 401, json: expected });
  });

  test.each([
    ["dashboard:read", "GET", true],
    ["dashboard:read", "POST", false],
    ["dashboard:write", "GET", true],
    ["dashboard:write", "POST", true],
    ["*", "POST", true],
    ["insight:write", "GET", false],
    ["dashboard", "GET", false],
  ])("with %s may %s dashboards: %s", async (scope, method, may) => {
    const world = twoOrganizations();
    const [key] = world.personal_api_keys;
    if (key) world.personal_api_keys.push({ ...key, id: "s", key: "phx_scoped", scopes: [scope] });
    const { ask } = manage({ world });
    const { status } = await ask(method, "/api/projects/1/dashboards/", { key: "phx_scoped", body: { name: "n" } });
    expect(status < 300).toBe(may);
    expect(status === 403).toBe(!may);
  });

  test("that is limited works where its limits are", async () => {
    const { get } = manage();
    expect((await get("/api/projects/1/cohorts/", { key: "phx_project_1" })).status).toBe(200);
    expect((await get("/api/projects/1/cohorts/", { key: "phx_acme_only" })).status).toBe(200);
    expect((await get("/api/projects/2/cohorts/", { key: "phx_acme_only" })).status).toBe(200);
  });

  test.each([
    ["a limited key", "phx_project_1", 200],
    ["someone elsewhere", "phx_dan", 200],
    ["another organization's owner", "phx_eve", 200],
  ])("makes @current the caller's project: %s", async (_, key, status) => {
    expect((await manage().get("/api/projects/@current/cohorts/", { key })).status).toBe(status);
  });
});

describe("a body", () => {
  const path = "/api/projects/1/cohorts/";
  const parse = (detail: string) => error("invalid_request", "parse_error", `JSON parse error - ${detail}`);

  test.each([
    ["{", parse("Expecting property name enclosed in double quotes: line 1 column 2 (char 1)")],
    ["x", parse("Expecting value: line 1 column 1 (char 0)")],
    [" ", parse("Expecting value: line 1 column 2 (char 1)")],
    ['{"a" 1}', parse("Expecting ':' delimiter: line 1 column 6 (char 5)")],
    ['{"a":\n1 2}', parse("Expecting ',' delimiter: line 2 column 3 (char 8)")],
    ["{} {}", parse("Extra data: line 1 column 4 (char 3)")],
    ["{'a':1}", parse("Expecting property name enclosed in double quotes: line 1 column 2 (char 1)")],
    ["[".repeat(200) + "]".repeat(200), parse("nested too deeply")],
  ])("that is %j cannot be read", async (body, expected) => {
    expect(await manage().post(path, body)).toMatchObject({ status: 400, json: expected });
    expect(await manage().post(path, body, { key: null })).toMatchObject({ status: 400, json: expected });
  });

  test.each([
    ["[]", "list"],
    ['"x"', "str"],
    ["5", "int"],
    ["5.5", "float"],
    ["true", "bool"],
    ["null", "NoneType"],
  ])("that is %s is not an object", async (body, name) => {
    const detail = `Invalid data. Expected a dictionary, but got ${name}.`;
    expect(await manage().post(path, body)).toMatchObject({
      status: 400,
      json: error("validation_error", "invalid_input", detail),
    });
  });

  test.each(["text/plain", "text/plain; charset=utf-8", "", "constructor"])(
    "of the type %j is not supported",
    async (type) => {
      const answer = await manage().post(path, "x", { headers: { "content-type": type } });
      const detail = `Unsupported media type "${type}" in request.`;
      expect(answer).toMatchObject({ status: 415, json: error("invalid_request", "unsupported_media_type", detail) });
    },
  );

  test.each([
    ["application/json; charset=utf-8", '{"name":"n"}'],
    ["APPLICATION/JSON", '{"name":"n"}'],
    ["application/x-www-form-urlencoded", "name=n"],
    ["multipart/form-data; boundary=b", '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nn\r\n--b--\r\n'],
  ])("of the type %s is read", async (type, body) => {
    const answer = await manage().post(path, body, { headers: { "content-type": type } });
    expect(answer).toMatchObject({ status: 201, json: { name: "n" } });
  });

  test("in parts that do not end is reported so", async () => {
    const answer = await manage().post(path, "--b\r\n", {
      headers: { "content-type": "multipart/form-data; boundary=b" },
    });
    expect(answer).toMatchObject({ status: 400, json: { code: "parse_error", type: "invalid_request" } });
    expect(answer.json.detail).toMatch(/^Multipart form parse error - /);
  });
});

test.each([
  ["*/*", 200],
  ["application/json", 200],
  ["application/*;q=0.5", 200],
  ["text/html, application/json;q=0.9", 200],
  ["text/html,*/*;q=0.1", 200],
  ["", 200],
  ["text/html", 406],
  ["application/xml", 406],
])("an answer for %j is %i", async (accept, status) => {
  const answer = await manage().get("/api/projects/1/cohorts/", { headers: { accept } });
  expect(answer.status).toBe(status);
  if (status === 406) {
    expect(answer.json).toEqual(
      error("invalid_request", "not_acceptable", "Could not satisfy the request Accept header."),
    );
  }
});

/** Each has everything wrong that comes later in the service's order. */
test.each([
  [404, "an unknown path", "/api/nothing/77/", null, { accept: "text/html" }, "{"],
  [406, "the answer's type", "/api/projects/77/cohorts/9/", null, { accept: "text/html" }, "{"],
  [400, "a body that had to be searched for a key", "/api/projects/77/cohorts/9/", null, {}, "{"],
  [401, "the key", "/api/projects/77/cohorts/9/", "phx_x", {}, "{"],
  [403, "the scope", "/api/projects/77/cohorts/9/", "phx_nothing", {}, "{"],
  [404, "the project", "/api/projects/77/cohorts/9/", "phx_ada", {}, "{"],
  [403, "the membership", "/api/projects/3/cohorts/9/", "phx_ada", {}, "{"],
  [404, "the object", "/api/projects/1/cohorts/9/", "phx_ada", {}, "{"],
])("%i: %s is checked before what follows", async (status, _, path, key, headers, body) => {
  expect((await manage().patch(path, body, { key, headers })).status).toBe(status);
});

test.each([null, "phx_ada"])("an unknown path below /api is the service's 404, with the key %s", async (key) => {
  for (const path of ["/api/annotations/", "/api/projects/1/heatmaps", "/api/projects/1/cohorts/1/x/y"]) {
    expect(await manage().get(path, { key })).toMatchObject({ status: 404, json: gone("Endpoint not found.") });
  }
});

describe("rate limits", () => {
  const throttled = (wait: string) =>
    error("throttled_error", "throttled", `Request was throttled. Expected available in ${wait}.`);

  function start() {
    const clock = fixedClock(now);
    return { ...manage({ throttle: createThrottle(clock) }), clock };
  }

  test.each([
    ["cohorts", 480],
    ["persons", 240],
    ["events", 240],
  ])("of %s: %i a minute for each key", async (path, most) => {
    const { get, clock } = start();
    const target = `/api/projects/1/${path}/`;
    for (let i = 0; i < most; i++) expect((await get(target)).status).toBe(200);
    clock.set(now + 26_000);
    const answer = await get(target);
    expect(answer).toMatchObject({ status: 429, json: throttled("34 seconds") });
    expect(answer.header("retry-after")).toBe("34");
    expect((await get(target, { key: "phx_ben" })).status).toBe(200);
    clock.set(now + 59_500);
    const last = await get(target);
    expect(last.json).toEqual(throttled("1 second"));
    expect(last.header("retry-after")).toBe("1");
    clock.set(now + 60_000);
    expect((await get(target)).status).toBe(200);
  });

  test("of an hour: refused requests do not count", async () => {
    const { get, clock } = start();
    const target = "/api/projects/1/persons/";
    for (let i = 0; i < 1200; i++) {
      clock.set(now + i * 1000);
      expect((await get(target)).status).toBe(200);
    }
    clock.set(now + 1200_000);
    expect((await get(target)).json).toEqual(throttled("2400 seconds"));
    clock.set(now + 3600_000);
    expect((await get(target)).status).toBe(200);
    expect((await get(target)).json).toEqual(throttled("1 second"));
  });

  test("come after the project and before the method's own checks", async () => {
    const { get, patch } = start();
    for (let i = 0; i < 480; i++) await get("/api/projects/1/cohorts/");
    expect((await get("/api/projects/77/cohorts/")).status).toBe(404);
    expect((await get("/api/projects/1/cohorts/9/")).status).toBe(429);
    expect((await patch("/api/projects/1/cohorts/9/", "{")).status).toBe(429);
  });
});
