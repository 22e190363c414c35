import { describe, expect, test } from "vitest";
import { asksDecide, hintsFor, senderOf } from "../../../src/state/journal/sdk-rows.ts";
import type { SdkTotals } from "../../../src/state/journal/sdk-shapes.ts";
import type { TrafficLine } from "../../../src/state/journal/traffic.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${sim.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });

/** Asked until everything was counted. */
async function sdksOf(project?: number): Promise<SdkTotals> {
  for (;;) {
    const query = project === undefined ? "" : `?project=${project}`;
    const found = (await (await fetch(`${sim.url}/__sim/sdks${query}`)).json()) as SdkTotals;
    if (!found.counting) return found;
  }
}

const short = ({ sdks }: SdkTotals) =>
  sdks.map((it) => [it.name, it.version, it.kept, it.dropped, it.rejected, it.hints.length]);

describe("the SDKs that sent something", () => {
  test("are listed with versions, what was lost, and what is out of date", async () => {
    await using project = await sim.project();
    const { apiKey: api_key, id } = project;
    const lib = { $lib: "web", $lib_version: "1.449.2" };
    const batch = [
      { event: "a", distinct_id: "u", properties: lib },
      { event: "b", distinct_id: "u", properties: lib },
      { event: "c", properties: lib },
    ];
    await post("/batch/", { api_key, batch });
    await post("/i/v0/e/", { api_key, event: "d", distinct_id: "u" }, { "user-agent": "curl/8.5.0" });
    await post("/decide/?v=3", { token: api_key, distinct_id: "u" }, { "user-agent": "posthog-python/3.6.1" });
    await fetch(`${sim.url}/__sim/info`, { headers: { "user-agent": "looker/1.0" } });
    const found = await sdksOf(id);
    expect(found).toMatchObject({ complete: true, counting: false, more: 0 });
    expect(short(found)).toEqual([
      ["posthog-js", "1.449.2", 2, 1, 0, 0],
      ["curl", "8.5.0", 1, 0, 0, 0],
      ["posthog-python", "3.6.1", 0, 0, 0, 1],
    ]);
    expect(found.sdks.map(({ is_sdk }) => is_sdk)).toEqual([true, false, true]);
    expect(Date.parse(found.sdks[0]?.last_at ?? "")).toBeGreaterThan(Date.now() - 60_000);

    await post("/i/v0/e/", { api_key, event: "d", distinct_id: "u" }, { "user-agent": "curl/8.5.0" });
    expect(short(await sdksOf(id))[1]).toEqual(["curl", "8.5.0", 2, 0, 0, 0]);

    await project.events.clear();
    expect(short(await sdksOf(id))).toEqual([
      ["posthog-python", "3.6.1", 0, 0, 0, 1],
      ["posthog-js", "1.449.2", 0, 0, 0, 0],
    ]);
  });

  test("a request that was rejected has a sender, too", async () => {
    await post("/i/v0/e/", { api_key: "phc_typo", event: "x" }, { "user-agent": "wrong-key/2.0" });
    expect(short(await sdksOf())).toContainEqual(["wrong-key", "2.0", 0, 0, 1, 0]);
  });

  test("whatever they call themselves, the list ends", async () => {
    await using project = await sim.project();
    for (let i = 0; i < 60; i++) {
      const properties = { $lib: `lib-${"x".repeat(5_000)}${i}`, $lib_version: `${i}` };
      await post("/i/v0/e/", { api_key: project.apiKey, event: "e", distinct_id: "u", properties });
    }
    const { sdks, more } = await sdksOf(project.id);
    expect([sdks.length, more]).toEqual([50, 10]);
    expect(sdks[0]?.name.length).toBe(100);
  });
});

const line = (more: Partial<TrafficLine>): TrafficLine => ({
  n: 1,
  at: 0,
  method: "POST",
  target: "/e/",
  peer: "127.0.0.1",
  status: 200,
  us: 1,
  project: 1,
  headers: [],
  ...more,
});

describe("the sender of a request", () => {
  test.each<[name: string, headers: string[], target: string, sender: [string, string | null, boolean]]>([
    ["nothing", [], "/e/", ["unknown", null, false]],
    ["a browser", ["User-Agent", "Mozilla/5.0 (X11)"], "/array/x/config", ["browser", null, false]],
    ["posthog-js", ["user-agent", "Mozilla/5.0"], "/flags/?v=2&ver=1.300.0", ["posthog-js", "1.300.0", true]],
    ["posthog-node", ["User-Agent", "posthog-node/5.70.0"], "/flags/", ["posthog-node", "5.70.0", true]],
    ["a v1 request", ["PostHog-Sdk-Info", "posthog-go/1.5.3"], "/i/v1/x", ["posthog-go", "1.5.3", true]],
    ["any client", ["user-agent", "curl/8.5.0"], "/e/", ["curl", "8.5.0", false]],
    ["a text without a version", ["user-agent", "<b>x</b>"], "/e/", ["unknown", null, false]],
  ])("%s", (_, headers, target, [name, version, isSdk]) => {
    expect(senderOf(line({ headers, target }))).toEqual({ name, version, isSdk });
  });

  test("that asks /decide gets what /flags gives", () => {
    expect(asksDecide({ method: "POST", target: "/decide/?v=3" })).toBe(true);
    expect(asksDecide({ method: "POST", target: "/decided" })).toBe(false);
    const python = { name: "posthog-python", version: "3.6.1", isSdk: true };
    expect(hintsFor(python, true)).toEqual(["posthog-python 3.6.1 asks `/decide`; from 6.0 on it asks `/flags`"]);
    expect(hintsFor({ ...python, name: "constructor", version: null }, true)).toEqual([
      "constructor asks `/decide`; current versions ask `/flags`",
    ]);
    expect(hintsFor(python, false)).toEqual([]);
  });
});
