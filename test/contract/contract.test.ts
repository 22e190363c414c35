import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";
import type { Endpoint } from "../../src/kernel/http/endpoint.ts";
import type { Scenario } from "../../src/lab/scenario/scenario.ts";
import { type ContractEndpoint, errors, ingestionEndpoints, managementEndpoints, open } from "./contract-rows.ts";
import type { Schema } from "./document.ts";
import { exampleFor } from "./examples.ts";
import { decideShape, responses } from "./shapes.ts";
import { ids, twoOrganizations } from "./two-organizations.ts";

/** Scopes that the contract leaves open. */
const decided: Readonly<Record<string, string>> = {
  "/api/projects/:project_id/dashboards/:id/move_tile": "dashboard:write",
  "/api/projects/:project_id/dashboards/create_from_template_json": "dashboard:write",
  "/api/organizations/:organization_id/batch_exports/:id/logs": "batch_export:read",
};

const scopeOf = ({ scope, path }: ContractEndpoint): string =>
  scope === open ? (decided[path] ?? "undecided") : scope;

const nameOf = ({ method, path }: ContractEndpoint): string => `${method} ${path}`;

const rows = managementEndpoints.map((it): [string, ContractEndpoint] => [nameOf(it), it]);

describe.each(["documented", "production"] as const)("the rows, %s", (dialect) => {
  let served: readonly Omit<Endpoint, "handle">[];
  beforeAll(async () => {
    await using sim = await startSim({ dialect });
    served = await sim.endpoints();
  });

  test.each(rows)("%s is served", (name, row) => {
    const found = served.filter((it) => it.contract === name);
    expect(found.map(({ path, scope }) => ({ path, scope }))).toEqual([{ path: row.path, scope: scopeOf(row) }]);
    expect(found[0]?.methods).toContain(row.method);
  });

  test.each(ingestionEndpoints)("%s is served", (name) => {
    const [method = "", path = ""] = name.split(" ");
    const found = served.filter((it) => it.contract === name);
    expect(found.map((it) => it.path)).toEqual([path.replace(/\/$/, "")]);
    expect(found[0]?.methods).toContain(method);
  });

  test("no row claims to be one that the contract does not have", () => {
    const known = new Set<string>([...managementEndpoints.map(nameOf), ...ingestionEndpoints]);
    expect(served.map((it) => it.contract ?? "POST /decide").filter((it) => !known.has(it))).toEqual([]);
  });
});

/** The values of the contract's path parameters in the world that the calls are made in. */
const parameters: Readonly<Record<string, string | number>> = {
  project_id: ids.project,
  organization_id: ids.acme,
  user__uuid: ids.collaborator,
};

/** `:id` and `:dashboard_id`, by what they stand for. */
const objects: readonly [before: string, id: string | number][] = [
  ["/dashboards/:dashboard_id/collaborators", ids.restrictedDashboard],
  ["/dashboards/", ids.dashboard],
  ["/batch_exports/", ids.batchExport],
  ["/organizations/", ids.acme],
];

function urlOf({ path }: ContractEndpoint): string {
  const own = objects.find(([before]) => path.includes(before))?.[1] ?? "";
  return path.replace(/:(\w+)/g, (_, name: string) => String(parameters[name] ?? own));
}

const scopes = [...new Set(managementEndpoints.map(scopeOf))];

/** A key for each scope, and one without any. */
const scoped: Scenario = {
  ...twoOrganizations,
  personal_api_keys: [
    ...twoOrganizations.personal_api_keys,
    ...scopes.map((scope) => ({ key: `phx_${scope}`, scopes: [scope] })),
    { key: "phx_none", scopes: [] },
  ],
};

function call(sim: Sim, row: ContractEndpoint, url: string, key: string): Promise<Response> {
  const body = exampleFor(row.method, row.path);
  return sim.handle(
    new Request(`http://sim.test${url}`, {
      method: row.method,
      headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    }),
  );
}

const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }));

function expectShape(schema: Schema, value: unknown): void {
  const validate = ajv.compile(schema);
  expect(validate(value) ? [] : validate.errors?.map((it) => `${it.instancePath} ${it.message}`)).toEqual([]);
}

describe("each row of the contract answers as it says", () => {
  const spelled = rows.flatMap(([name, row]): [string, string, ContractEndpoint][] => [
    [name, "", row],
    [name, "/", row],
  ]);

  test.each(spelled)('%s + "%s"', async (_, slash, row) => {
    await using sim = await startSim({ scenario: scoped });
    const answer = await call(sim, row, urlOf(row) + slash, `phx_${scopeOf(row)}`);
    const text = await answer.text();
    const [, status = "200", what = open] = /^(\d{3}), (.*)$/.exec(row.response) ?? [];
    expect(`${answer.status} ${answer.ok ? "" : text}`.trim()).toBe(status);
    const shape = responses[what];
    expect(shape).toBeDefined();
    if (!shape) expect([text, answer.headers.get("content-type")]).toEqual(["", null]);
    else expectShape(shape, JSON.parse(text));
  });

  test("a batch export comes with its runs", async () => {
    await using sim = await startSim({ scenario: scoped });
    const [, row] = rows.find(([name]) => name.startsWith("GET") && name.endsWith("batch_exports/:id")) ?? [];
    const answer = row && (await call(sim, row, urlOf(row), "phx_all"));
    expect(await answer?.json()).toMatchObject({ latest_runs: [{ id: ids.run, batch_export: ids.batchExport }] });
  });

  test.each(rows)("%s asks for its scope", async (_, row) => {
    await using sim = await startSim({ scenario: scoped });
    const answer = await call(sim, row, urlOf(row), "phx_none");
    expect([answer.status, await answer.json()]).toEqual([
      403,
      {
        type: "authentication_error",
        code: "permission_denied",
        detail: `API key missing required scope '${scopeOf(row)}'`,
        attr: null,
      },
    ]);
  });
});

const post = (sim: Sim, path: string, body: unknown): Promise<Response> =>
  sim.handle(
    new Request(`http://sim.test${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
  );

const api_key = ids.projectKey;

describe("the ingestion API", () => {
  const accepted: [path: string, body: object][] = [
    ["/capture", { api_key, event: "seen", distinct_id: "user-1" }],
    ["/batch", { api_key, batch: [{ event: "seen", properties: { distinct_id: "user-1" } }] }],
  ];
  test.each(accepted.flatMap(([path, body]) => ["", "/"].map((slash): [string, object] => [path + slash, body])))(
    "POST %s takes an event",
    async (path, body) => {
      await using sim = await startSim({ scenario: twoOrganizations });
      expect((await post(sim, path, body)).status).toBe(200);
      expect(await sim.events.list()).toMatchObject([{ event: "seen", distinct_id: "user-1", outcome: "kept" }]);
    },
  );

  test.each(["/decide?v=3", "/decide/?v=3"])("POST %s answers in the contract's shape", async (path) => {
    await using sim = await startSim({ scenario: twoOrganizations });
    const answer = await post(sim, path, { api_key, distinct_id: "user-1" });
    expect(answer.status).toBe(200);
    const body: unknown = await answer.json();
    expectShape(decideShape, body);
    expect(body).toMatchObject({ supportedCompression: ["gzip", "lz64"] });
  });
});

describe("the Errors table", () => {
  const dropped: [row: string | undefined, event: object][] = [
    [errors[1]?.[0], { distinct_id: "user-1" }],
    [errors[2]?.[0], { event: "seen" }],
    [errors[3]?.[0], { event: "seen", distinct_id: "" }],
  ];
  const sent = dropped.flatMap(([row, event]): [string, string, object][] => [
    [String(row), "/capture/", { api_key, ...event }],
    [String(row), "/batch/", { api_key, batch: [event] }],
  ]);
  test.each(sent)("%s, %s: 200, dropped", async (_, path, body) => {
    await using sim = await startSim({ scenario: twoOrganizations });
    expect((await post(sim, path, body)).status).toBe(200);
    expect((await sim.events.list()).filter((it) => it.outcome === "kept")).toEqual([]);
    expect(await sim.events.dropped()).toHaveLength(1);
  });

  const failing: [what: string, path: string, body: unknown][] = ["/capture/", "/batch/", "/decide?v=3"].flatMap(
    (path): [string, string, unknown][] => [
      ["an invalid payload", path, "{"],
      [
        "an invalid project key",
        path,
        { api_key: "phc_nobody", event: "seen", distinct_id: "u", batch: [{ event: "seen", distinct_id: "u" }] },
      ],
    ],
  );
  test.each(failing)("%s on %s fails", async (_, path, body) => {
    await using sim = await startSim({ scenario: twoOrganizations });
    const { status } = await post(sim, path, body);
    expect([400, 401]).toContain(status);
    expect(await sim.events.list()).toEqual([]);
  });
});
