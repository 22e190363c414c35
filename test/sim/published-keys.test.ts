import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../src/index.ts";
import { shippedFolder } from "../../src/lab/scenario/shipped.ts";
import { scenarioStarter } from "../../src/lab/scenario/starter.ts";
import { isPublishedKey } from "../../src/state/documents/keyring.ts";

interface Asked {
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

interface Answer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  text: string;
}

/** fetch refuses to send a foreign Host, so these go out through node:http. */
const send = (to: Sim, { path, method = "GET", headers = {}, body = "" }: Asked): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(to.url);
    const req = request({ hostname: "127.0.0.1", port, method, path, headers }, (res) => {
      let text = "";
      res.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      res.on("end", () => resolve({ status: res.statusCode ?? 0, headers: res.headers, text }));
    });
    req.on("error", reject).end(body);
  });

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const json = { "content-type": "application/json" };

/** Its configured keys give what the published ones give. */
const scenario: SimOptions["scenario"] = {
  version: 1,
  personal_api_keys: [
    { key: "phx_of_mine", scopes: ["*"] },
    { key: "phx_sim_default", scopes: ["*"] },
  ],
  organizations: [
    {
      name: "Org",
      projects: [
        {
          name: "One",
          api_key: "phc_one",
          flags: { beta: true },
          dashboards: [{ name: "Board", sharing: { enabled: true, access_token: "autumn" } }],
        },
        { name: "Two", api_key: "phc_two", secret_api_key: "phs_of_mine" },
      ],
    },
  ],
};

/** Every way in which a published key, or none, opens what keys protect. */
const published: Record<string, Asked> = {
  "a key in the header": { path: "/api/projects/", headers: bearer("phx_sim_default") },
  "a key in the query": { path: "/api/projects/1/events/?personal_api_key=phx_sim_default" },
  "a key in the body": {
    path: "/api/projects/1/dashboards/",
    method: "POST",
    headers: json,
    body: '{"personal_api_key": "phx_sim_default", "name": "x"}',
  },
  "a key in a plain form": {
    path: "/api/projects/1/dashboards/",
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "personal_api_key=phx_sim_default&name=x",
  },
  "flag definitions": { path: "/api/feature_flag/local_evaluation?token=phc_one", headers: bearer("phx_sim_default") },
  "flag definitions for a derived secret key": { path: "/flags/definitions?token=phc_one", headers: bearer("phs_one") },
  "flag definitions for a header alone": {
    path: "/api/feature_flag/local_evaluation",
    headers: { "x-phx-project": "1" },
  },
  "a prompt for a derived secret key": { path: "/api/projects/@current/llm_prompts/", headers: bearer("phs_one") },
};

const configured: Record<string, Asked> = {
  "a key in the header": { path: "/api/projects/", headers: bearer("phx_of_mine") },
  "a key in the query": { path: "/api/projects/1/events/?personal_api_key=phx_of_mine" },
  "flag definitions": { path: "/flags/definitions?token=phc_two", headers: bearer("phs_of_mine") },
  "flag definitions for a header beside it": {
    path: "/api/feature_flag/local_evaluation",
    headers: { "x-phx-project": "1", ...bearer("phx_of_mine") },
  },
};

const local: Record<string, Record<string, string>> = {
  "a program": {},
  "a page on localhost": { origin: "http://localhost:3000", "sec-fetch-site": "cross-site" },
  "a page on [::1]": { origin: "http://[::1]:3000" },
  "a page below localhost": { origin: "http://shop.localhost:3000", host: "shop.localhost:7490" },
  "the host [::1]": { host: "[::1]:7490" },
};

const foreign: Record<string, Record<string, string>> = {
  "another page": { origin: "https://evil.example" },
  "a page whose name begins like ours": { origin: "http://127.0.0.1.evil.example" },
  "an opaque origin": { origin: "null" },
  "a read without an origin": { "sec-fetch-site": "cross-site" },
  "a rebound name": { host: "evil.example:7490" },
  "a name that begins like ours": { host: "127.0.0.1.evil.example:7490" },
};

const rowsOf = (asked: Record<string, Asked>, places: Record<string, Record<string, string>>) =>
  Object.entries(asked).flatMap(([what, it]) =>
    Object.entries(places).map(([where, headers]): [string, string, Asked] => [
      what,
      where,
      { ...it, headers: { ...it.headers, ...headers } },
    ]),
  );

describe("on loopback", () => {
  let sim: Sim;
  beforeAll(async () => {
    sim = await startSim({ scenario });
  });
  afterAll(() => sim.close());

  test.each(rowsOf(published, local))("%s serves %s", async (_, __, asked) => {
    expect((await send(sim, asked)).status).toBeLessThan(300);
  });

  test.each(rowsOf(published, foreign))("%s does not serve %s", async (_, __, asked) => {
    const { status, text } = await send(sim, asked);
    expect(status).toBe(403);
    expect(JSON.parse(text)).toEqual({
      type: "authentication_error",
      code: "permission_denied",
      detail: expect.stringContaining("key of your own"),
      attr: null,
    });
  });

  test.each(rowsOf(configured, { ...local, ...foreign }))("a key of one's own: %s serves %s", async (_, __, asked) => {
    const { status, headers } = await send(sim, asked);
    expect(status).toBe(200);
    expect(headers["access-control-allow-origin"]).toBe(asked.headers?.origin);
  });

  test("a preflight needs no key", async () => {
    const headers = { origin: "https://app.example", "access-control-request-method": "GET" };
    const answer = await send(sim, { path: "/api/projects/", method: "OPTIONS", headers });
    expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([200, "https://app.example"]);
  });

  test("pages of other sites capture events as with the service", async () => {
    const headers = { ...json, origin: "https://app.example" };
    const body = '{"api_key": "phc_one", "event": "seen", "distinct_id": "a"}';
    const answer = await send(sim, { path: "/capture/", method: "POST", headers, body });
    expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([200, "https://app.example"]);
  });

  test("a shared page is not for pages of other origins to read", async () => {
    const { status, headers } = await send(sim, {
      path: "/shared/autumn.json",
      headers: { origin: "https://evil.example" },
    });
    expect([status, headers["access-control-allow-origin"]]).toEqual([200, undefined]);
  });

  test("a shared page does not answer to a rebound name", async () => {
    const { status, text } = await send(sim, { path: "/shared/autumn.json", headers: { host: "evil.example" } });
    expect([status, JSON.parse(text).code]).toEqual([403, "permission_denied"]);
  });

  test.each(["", "http://evil.example"])("calls in process pass: no page can make them (%j)", async (at) => {
    const headers = { ...bearer("phx_sim_default"), origin: "https://evil.example" };
    const request = new Request(new URL("/api/projects/", at || sim.url), { headers });
    expect((await sim.handle(request)).status).toBe(200);
  });

  test("a published key that the scenario does not have is as unknown as any other", async () => {
    await using own = await startSim({
      scenario: {
        version: 1,
        personal_api_keys: [{ key: "phx_of_mine", scopes: ["*"] }],
        organizations: [{ name: "Org", projects: [{ name: "One", api_key: "phc_one" }] }],
      },
    });
    const statuses = [];
    for (const key of ["phx_sim_default", "phx_unknown"]) {
      const headers = { ...bearer(key), origin: "https://evil.example" };
      statuses.push((await send(own, { path: "/api/projects/", headers })).status);
    }
    expect(statuses).toEqual([401, 401]);
  });

  test("through the proxy, the service's host is known and other pages are refused", async () => {
    const path = "http://us.posthog.com/api/projects/";
    const host = "us.posthog.com";
    const own = await send(sim, { path, headers: { host, ...bearer("phx_sim_default") } });
    const other = await send(sim, {
      path,
      headers: { host, origin: "https://evil.example", ...bearer("phx_sim_default") },
    });
    expect([own.status, other.status]).toEqual([200, 403]);
  });
});

describe("open to the network", () => {
  let sim: Sim;
  beforeAll(async () => {
    sim = await startSim({ scenario: "default", host: "0.0.0.0" });
  });
  afterAll(() => sim.close());

  const statusFor = async (key: string) => (await send(sim, { path: "/api/projects/", headers: bearer(key) })).status;

  test("the published personal key is replaced by a generated one that every place shows", async () => {
    expect(sim.personalApiKey).toMatch(/^phx_sim_default_[\da-f]{32}$/);
    expect(await statusFor(sim.personalApiKey)).toBe(200);
    const info = await sim.info();
    expect([info.personal_api_key, info.secret_api_key]).toEqual([sim.personalApiKey, sim.secretApiKey]);
    const token = { authorization: `Bearer ${sim.controlToken}` };
    const world = JSON.parse((await send(sim, { path: "/__sim/world", headers: token })).text);
    const { id } = world.personal_api_keys[0];
    const shown = await send(sim, { path: `/__sim/world/keys/${id}`, headers: token });
    expect(JSON.parse(shown.text)).toEqual({ id, key: sim.personalApiKey });
  });

  test("the published key is refused with a reason", async () => {
    const { status, text } = await send(sim, { path: "/api/projects/", headers: bearer("phx_sim_default") });
    expect([status, JSON.parse(text)]).toEqual([
      401,
      {
        type: "authentication_error",
        code: "authentication_failed",
        detail: expect.stringContaining("published with phx-sim"),
        attr: null,
      },
    ]);
  });

  test("a reset does not bring the published key back", async () => {
    await sim.reset();
    expect([await statusFor("phx_sim_default"), await statusFor(sim.personalApiKey)]).toEqual([401, 200]);
  });

  test("the same of the secret key, and of the header alone", async () => {
    const path = "/flags/definitions?token=phc_sim_default";
    const statuses = [];
    for (const headers of [bearer("phs_sim_default"), { "x-phx-project": "1" }, bearer(sim.secretApiKey)])
      statuses.push((await send(sim, { path, headers })).status);
    expect(statuses).toEqual([401, 401, 200]);
  });

  test("a generated key is one of one's own: pages of any origin may use it", async () => {
    const headers = { ...bearer(sim.personalApiKey), origin: "https://app.example", host: "sim.example" };
    expect((await send(sim, { path: "/api/projects/", headers })).status).toBe(200);
  });

  test("so is a key that was configured, and that of a project made for a test", async () => {
    await using open = await startSim({ scenario, host: "0.0.0.0" });
    expect(open.personalApiKey).toBe("phx_of_mine");
    const project = await open.project();
    const path = `/api/projects/${project.id}/`;
    expect((await send(open, { path, headers: bearer(project.personalApiKey) })).status).toBe(200);
  });
});

describe("the list of published keys", () => {
  const folder = shippedFolder();
  const texts = [
    ...readdirSync(folder)
      .filter((file) => !file.endsWith(".schema.json"))
      .map((file) => readFileSync(join(folder, file), "utf8")),
    scenarioStarter("yaml"),
    scenarioStarter("json"),
  ];
  const keys = texts.flatMap((text) => text.match(/\bph[cxs]_\w+/g) ?? []);

  test.each([...new Set(keys.map((key) => key.replace("phc_", "phs_")))])("has %s", (key) =>
    expect(isPublishedKey(key)).toBe(true),
  );

  test.each(["phx_sim_default2", "phx_sim_defaul", "phx_", ""])("does not have %j", (key) =>
    expect(isPublishedKey(key)).toBe(false),
  );
});
