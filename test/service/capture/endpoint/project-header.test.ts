import { describe, expect, test } from "vitest";
import { startSim } from "../../../../src/index.ts";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { openSim } from "../../../support/sim.ts";

const personal_api_keys = [{ key: "phx_dev", user: "dev@phx-sim.test", scopes: ["*"] }];
const scenario = {
  version: 1 as const,
  organizations: [
    {
      name: "Acme",
      projects: [
        { name: "First", api_key: "phc_first", flags: { first: { rollout: 100 } } },
        {
          name: "Second",
          api_key: "phc_second",
          secret_api_key: "phs_second",
          flags: {
            second: { rollout: 100 },
            sealed: {
              is_remote_configuration: true,
              has_encrypted_payloads: true,
              filters: { groups: [{ properties: [], rollout_percentage: 100 }], payloads: { true: '"psst"' } },
            },
          },
          surveys: [{ id: "s2", name: "Second's" }],
          remote_config: { heatmaps: true },
        },
      ],
    },
  ],
  personal_api_keys,
};

const { sim } = await openSim({ scenario });

interface Sent {
  method?: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

async function send({ method = "POST", path, body, headers = {} }: Sent, project?: string) {
  const init: RequestInit = {
    method,
    headers: {
      "content-type": "application/json",
      ...headers,
      ...(project !== undefined && { "X-Phx-Project": project }),
    },
  };
  if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body);
  const response = await sim.handle(new Request(sim.url + path, init));
  return { status: response.status, text: await response.text() };
}

const control = async (path: string) => JSON.parse((await send({ method: "GET", path })).text) as JsonObject;

async function latest(): Promise<JsonObject> {
  const { requests } = (await control("/__sim/requests?limit=1")) as { requests: JsonObject[] };
  return control(`/__sim/requests/${requests[0]?.n}`);
}

const v1Headers = {
  "posthog-sdk-info": "posthog-node/5.0.0",
  "posthog-attempt": "1",
  "posthog-request-id": "0198c1a1-0000-7000-8000-000000000001",
  "posthog-request-timestamp": "2026-03-01T12:00:00Z",
  "user-agent": "test",
};
const v1Body = (uuid: string) => ({
  created_at: "2026-03-01T12:00:00Z",
  batch: [{ event: "a", uuid, distinct_id: "u", timestamp: "2026-03-01T12:00:00Z", properties: {}, options: {} }],
});
const event = { event: "a", distinct_id: "u" };
const item = (api_key: string) => ({ ...event, properties: { token: api_key } });
const snapshot = (api_key?: string) => ({
  event: "$snapshot",
  properties: {
    distinct_id: "u",
    $session_id: "s1",
    $snapshot_data: [{ type: 1 }],
    ...(api_key && { token: api_key }),
  },
});
const multipart = [
  '--b\r\nContent-Disposition: form-data; name="event"\r\nContent-Type: application/json\r\n\r\n',
  '{"event":"$ai_generation","distinct_id":"u","properties":{"$ai_model":"m"}}\r\n--b--\r\n',
].join("");

/** Requests that count as the second project's, whatever key they carry. */
const captures: readonly (readonly [title: string, sent: Sent])[] = [
  ["capture with another key", { path: "/capture/", body: { api_key: "phc_first", ...event } }],
  ["capture with an unknown key", { path: "/capture/", body: { api_key: "phc_unknown", ...event } }],
  ["capture with a malformed key", { path: "/capture/", body: { api_key: "phx_personal", ...event } }],
  ["capture without a key", { path: "/capture/", body: event }],
  ["batch with another key", { path: "/batch/", body: { api_key: "phc_first", batch: [event] } }],
  ["batch without a key", { path: "/batch/", body: { batch: [event] } }],
  ["items that disagree", { path: "/e/", body: [item("phc_first"), item("phc_unknown")] }],
  ["recording", { path: "/s/", body: snapshot("phc_first") }],
  ["recording without a key", { path: "/s/", body: snapshot() }],
  [
    "capture v1 with another key",
    {
      path: "/i/v1/analytics/events",
      body: v1Body("0198c1a1-0000-7000-8000-00000000000a"),
      headers: { ...v1Headers, authorization: "Bearer phc_first" },
    },
  ],
  [
    "capture v1 without a key",
    { path: "/i/v1/analytics/events", body: v1Body("0198c1a1-0000-7000-8000-00000000000b"), headers: v1Headers },
  ],
  [
    "multipart without a key",
    { path: "/i/v0/ai", body: multipart, headers: { "content-type": "multipart/form-data; boundary=b" } },
  ],
];

const others: readonly (readonly [title: string, sent: Sent, says: string])[] = [
  ["flags", { path: "/flags?v=2", body: { api_key: "phc_first", distinct_id: "u" } }, '"second"'],
  ["flags without a key", { path: "/flags?v=2", body: { distinct_id: "u" } }, '"second"'],
  ["decide", { path: "/decide?v=3", body: { api_key: "phc_unknown", distinct_id: "u" } }, '"second"'],
  ["remote config", { method: "GET", path: "/array/phc_first/config" }, '"token":"phc_second"'],
  ["remote config as a script", { method: "GET", path: "/array/phc_gone/config.js" }, '"heatmaps":true'],
  ["definitions without a key", { method: "GET", path: "/flags/definitions" }, '"second"'],
  [
    "definitions with another project's token",
    {
      method: "GET",
      path: "/api/feature_flag/local_evaluation/?token=phc_first",
      headers: { authorization: "Bearer phx_unknown" },
    },
    '"second"',
  ],
  [
    "a flag's payload with a project's key",
    {
      method: "GET",
      path: "/api/projects/1/feature_flags/sealed/remote_config/",
      headers: { authorization: "Bearer phs_wrong" },
    },
    "(encrypted)",
  ],
  [
    "a flag's payload with a person's key",
    {
      method: "GET",
      path: "/api/projects/1/feature_flags/sealed/remote_config/",
      headers: { authorization: "Bearer phx_any" },
    },
    "psst",
  ],
  ["surveys", { method: "GET", path: "/api/surveys/?token=phc_first" }, '"s2"'],
  ["surveys without a key", { method: "GET", path: "/api/surveys/" }, '"s2"'],
  ["logs", { path: "/i/v1/logs?token=phc_first", body: {} }, "{}"],
];

describe("X-Phx-Project", () => {
  test.each(captures)("%s", async (_, sent) => {
    expect(await send(sent, "2")).toMatchObject({ status: 200 });
    const { project, carried, project_header, rejected } = await latest();
    expect({ project, project_header, rejected }).toEqual({ project: 2, project_header: "2", rejected: null });
    expect((carried as JsonObject[]).map((it) => [it.project, it.outcome])).toEqual(
      (carried as JsonObject[]).map(() => [2, "kept"]),
    );
    expect(carried).not.toEqual([]);
  });

  test.each(others)("%s", async (_, sent, says) => {
    const { status, text } = await send(sent, "phc_second");
    expect(status).toBe(200);
    expect(text).toContain(says);
    expect(await latest()).toMatchObject({ project: 2, project_header: "phc_second" });
  });

  test("takes a number or a public key; the key that came is still to be seen", async () => {
    await send({ path: "/capture/", body: { api_key: "phc_first", ...event } }, "phc_second");
    const { project, project_header, body } = await latest();
    expect({ project, project_header, body }).toMatchObject({
      project: 2,
      project_header: "phc_second",
      body: { api_key: "phc_first" },
    });
  });

  test("persons are made where the events are", async () => {
    const body = { api_key: "phc_first", event: "a", distinct_id: "header-person" };
    await send({ path: "/capture/", body }, "2");
    const { persons } = await control("/__sim/persons?distinct_id=header-person");
    expect(persons).toMatchObject([{ project: 2 }]);
  });

  const unknown = ["999", "phc_nobody", "0", "-2", "2.0", "", "phs_second", "__proto__", "2, 1"];
  test.each(unknown)("%j is no one's: the request is rejected, and nothing is kept", async (name) => {
    const before = await control("/__sim/events?outcome=kept");
    const answer = await send({ path: "/capture/", body: { api_key: "phc_first", ...event } }, name);
    expect(answer).toEqual({ status: 400, text: `X-Phx-Project: no project has the number or key "${name}"` });
    expect(await latest()).toMatchObject({ project: null, rejected: { reason: "unknown_project" } });
    expect(await control("/__sim/events?outcome=kept")).toEqual(before);
  });

  test.each([
    ...captures.map(([title, sent]) => [title, sent] as const),
    ...others.map(([title, sent]) => [title, sent] as const),
  ])("an unknown project and %s", async (_, sent) => {
    const { status, text } = await send(sent, "999");
    expect(status).toBe(400);
    // capture v1 reports a code, the others what it is
    expect(text).toMatch(/unknown_project|no project has the number or key/);
    expect(await latest()).toMatchObject({
      project: null,
      rejected: { reason: "unknown_project", detail: 'X-Phx-Project: no project has the number or key "999"' },
    });
  });

  test("is nothing to the management API", async () => {
    const headers = { authorization: "Bearer phx_dev" };
    const { text } = await send({ method: "GET", path: "/api/projects/1/feature_flags/", headers }, "2");
    expect(text).toContain('"first"');
    const noOne = await send({ method: "GET", path: "/api/projects/1/feature_flags/", headers }, "999");
    expect(noOne.status).toBe(200);
  });

  test("faults and answers of a project are for the requests that name it", async () => {
    const own = await startSim({ scenario });
    const post = (path: string, body: object, headers: object = {}) =>
      own.handle(
        new Request(own.url + path, {
          method: "POST",
          body: JSON.stringify(body),
          headers: { "content-type": "application/json", ...headers },
        }),
      );
    const captured = async (project?: string) =>
      (
        await post(
          "/capture/",
          { api_key: "phc_first", ...event },
          project === undefined ? {} : { "x-phx-project": project },
        )
      ).status;
    await post("/__sim/faults", { effect: { status: 503 }, match: { project: 2 } });
    expect([await captured(), await captured("2"), await captured("1")]).toEqual([200, 503, 200]);
    await post("/__sim/faults", { effect: { status: 502 }, match: { project: 1 } });
    expect([await captured(), await captured("2"), await captured("999")]).toEqual([502, 503, 400]);
    await own.close();
  });

  test("adopts nothing", async () => {
    const adopting = await startSim({ adoptTokens: true });
    const response = await adopting.handle(
      new Request(`${adopting.url}/capture/`, {
        method: "POST",
        body: JSON.stringify({ api_key: "phc_x", ...event }),
        headers: { "x-phx-project": "phc_new" },
      }),
    );
    expect(response.status).toBe(400);
    const listed = await adopting.handle(new Request(`${adopting.url}/__sim/projects`));
    expect(await listed.json()).toMatchObject({ projects: [{ id: 1 }] });
    await adopting.close();
  });

  test("comes over a socket as well, in any case", async () => {
    const response = await fetch(`${sim.url}/capture/`, {
      method: "POST",
      body: JSON.stringify({ api_key: "phc_first", ...event }),
      headers: { "x-pHX-project": "2" },
    });
    expect(response.status).toBe(200);
    expect(await latest()).toMatchObject({ project: 2 });
  });
});

test("a request that cannot be read is the named project's anyway", async () => {
  await send({ path: "/batch/", body: "{" }, "2");
  const [rejected] = await sim.requests.list({ outcome: "rejected", project: 2 });
  expect(rejected).toMatchObject({ target: "/batch/", rejected: { reason: expect.any(String) } });
});
