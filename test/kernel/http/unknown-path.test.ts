import { describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { isOnlyInService, pathsOnlyInService } from "../../../src/kernel/http/unknown-path.ts";
import { noUnmatchedRequests } from "../../../src/testing/matchers/request-matchers.ts";
import { allEndpoints } from "../../support/endpoints.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();

const notEmulated = /^not emulated: the service has this endpoint, phx-sim does not; script an answer/;
const hints: [path: string, hint: RegExp][] = [
  [
    "/ingest/batch/",
    /^\/ingest looks like the prefix of a reverse proxy.* without \/ingest; the rest is POST \/batch$/,
  ],
  ["/ingest/e/?ip=1", /the rest is POST \/e$/],
  ["/ingest/flags/?v=2", /^\/ingest .*; the rest is POST \/flags$/],
  ["/ingest/array/phc_x/config.js", /the rest is GET \/array\/:token\/config\.js$/],
  ["/relay/ph/i/v0/e/", /^\/relay\/ph .* without \/relay\/ph; the rest is POST \/i\/v0\/e$/],
  ["/batch/batch/", /^\/batch .*; the rest is POST \/batch$/],
  ["/bacth/", /^check the path: it does not exist; nearest: POST \/batch/],
  ["/ingest/", /^check the path: it does not exist/],
  ["/no/such/path", /^check the path: it does not exist \(GET \/__sim\/openapi\.json lists what does\)$/],
  ["/api/projects/1/heatmaps/", notEmulated],
  ["/api/environments/1/session_recordings/0190/", notEmulated],
  ["/api/organizations/@current/integrations/", notEmulated],
  ["/api/projects/1/insights/7/sharing", notEmulated],
  ["/api/projects/1/queri/", /^check the path: it does not exist/],
];

test.each(hints)("%s is explained in the journal, and in reports", async (path, hint) => {
  await using own = await startSim();
  const response = await own.handle(new Request(own.url + path, { method: "POST", body: "{}" }));
  expect([response.status, JSON.stringify(await response.json())]).toEqual([
    404,
    expect.not.stringContaining("nearest"),
  ]);
  const [listed] = await own.requests.unmatched();
  expect(listed?.rejected).toEqual({
    reason: "not_found",
    detail: "Endpoint not found.",
    hint: expect.stringMatching(hint),
  });
  expect((await own.requests.get(listed?.n ?? 0)).rejected).toEqual(listed?.rejected);
  const { pass, text } = await noUnmatchedRequests({ tenant: own, title: "", isNot: false });
  expect([pass, text]).toEqual([false, expect.stringContaining(listed?.rejected?.hint ?? "none")]);
});

test("the fix names where the request was sent", async () => {
  await fetch(`${sim.url}/ingest/batch/`, { method: "POST", body: "{}" });
  const [listed] = await sim.requests.unmatched();
  expect(listed?.rejected?.hint).toContain(`set the SDK's host to ${sim.url}, without /ingest`);
});

test("a wait that fails names the fix", async () => {
  await sim.handle(new Request(`${sim.url}/ingest/batch/`, { method: "POST", body: "{}" }));
  const error: unknown = await sim.events.waitFor("never", {}, { timeoutMs: 0 }).catch((it: unknown) => it);
  expect(String(error)).toContain("/ingest looks like the prefix of a reverse proxy");
});

test("a key in the path is masked in the hint", async () => {
  await sim.handle(new Request(`${sim.url}/phx_a_secret_key/batch/`, { method: "POST", body: "{}" }));
  const [listed] = await sim.requests.unmatched();
  expect(listed?.rejected?.hint).toContain("/phx_*** looks like");
  expect(JSON.stringify(listed)).not.toContain("a_secret_key");
});

test("strict mode and the control API explain it, too", async () => {
  await using strict = await startSim({ strict: true });
  await strict.handle(new Request(`${strict.url}/api/projects/1/heatmaps/`, { method: "POST", body: "{}" }));
  expect((await strict.requests.unmatched())[0]?.rejected).toMatchObject({
    reason: "not_emulated",
    hint: expect.stringMatching(notEmulated),
  });
  const control = await strict.handle(new Request(`${strict.url}/__sim/evnts`));
  expect(await control.json()).toMatchObject({ hint: expect.stringContaining("GET /__sim/events") });
});

describe("what only the service has", () => {
  test("is not served here", async () => {
    const served = (await allEndpoints()).map(({ path }) => path.replaceAll(/:\w+/g, ":id"));
    const isServed = (path: string) => served.some((it) => it === path || it.startsWith(`${path}/`));
    expect(pathsOnlyInService().filter(isServed)).toEqual([]);
  });

  test("is found by its pattern", () => {
    const paths = pathsOnlyInService().map((it) => it.replaceAll(":id", "1"));
    expect(paths.filter((it) => !isOnlyInService(it) || !isOnlyInService(`${it}/deeper`))).toEqual([]);
  });
});
