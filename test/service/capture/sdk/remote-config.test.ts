import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { type Scenario, startSim } from "../../../../src/index.ts";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { remoteConfigOf } from "../../../../src/service/capture/sdk/remote-config.ts";
import { sdkEndpoints } from "../../../../src/service/capture/sdk/rows.ts";
import { resourceOf } from "../../../../src/state/documents/resources.ts";
import { aFlag, aProject } from "../../../support/documents.ts";
import { aDesk, asker, aWorld } from "./ask.ts";

const defaults = {
  token: "phc_test",
  supportedCompression: ["gzip", "gzip-js"],
  hasFeatureFlags: false,
  captureDeadClicks: false,
  capturePerformance: false,
  autocapture_opt_out: false,
  autocaptureExceptions: false,
  analytics: { endpoint: "/i/v0/e/" },
  elementsChainAsString: true,
  errorTracking: { autocaptureExceptions: false, suppressionRules: [] },
  logs: { captureConsoleLogs: false },
  sessionRecording: false,
  heatmaps: false,
  conversations: false,
  surveys: false,
  productTours: false,
  defaultIdentifiedOnly: true,
  siteApps: [],
};

describe("remoteConfigOf", () => {
  test("everything optional is off by default", () => {
    expect(remoteConfigOf(aProject(), aWorld())).toEqual(defaults);
  });

  test.each([
    ["an active flag", { feature_flags: [aFlag("beta")] }, { hasFeatureFlags: true }],
    ["an inactive flag", { feature_flags: [aFlag("beta", { active: false })] }, {}],
    ["a deleted flag", { feature_flags: [aFlag("beta", { deleted: true })] }, {}],
    ["another project's flag", { feature_flags: [aFlag("beta", { project: 2 })] }, {}],
    ["a survey", { resources: [resourceOf("surveys", 1, "s", {})] }, { surveys: true }],
    ["another project's survey", { resources: [resourceOf("surveys", 2, "s", {})] }, {}],
    ["a product tour", { product_tours: [{ project: 1 }] }, { productTours: true }],
  ])("follows the world: %s", (_what, world, changed) => {
    expect(remoteConfigOf(aProject(), aWorld(world))).toEqual({ ...defaults, ...changed });
  });

  test.each<[string, JsonObject, object]>([
    ["a plain value wins", { heatmaps: true, surveys: false }, { heatmaps: true, surveys: false }],
    [
      "true starts session recording with its defaults",
      { sessionRecording: true },
      { sessionRecording: { endpoint: "/s/", recorderVersion: "v2" } },
    ],
    [
      "an object is laid over the feature's defaults",
      { sessionRecording: { sampleRate: "0.5" } },
      { sessionRecording: { endpoint: "/s/", sampleRate: "0.5" } },
    ],
    ["false stays false", { sessionRecording: false }, { sessionRecording: false }],
    ["exceptions", { autocaptureExceptions: true }, { autocaptureExceptions: { endpoint: "/e/" } }],
    ["an unknown key is passed on", { brandNew: [1] }, { brandNew: [1] }],
  ])("the project's own settings: %s", (_what, settings, expected) => {
    const config = remoteConfigOf(
      aProject({ remote_config: settings }),
      aWorld({ resources: [resourceOf("surveys", 1, "s", {})] }),
    );
    expect(config).toMatchObject(expected);
    expect(Object.keys(config)).toEqual(expect.arrayContaining(Object.keys(defaults)));
  });

  test("a key named __proto__ stays a key", () => {
    const settings: JsonObject = JSON.parse('{"__proto__": {"heatmaps": 1}}');
    const config = remoteConfigOf(aProject({ remote_config: settings }), aWorld());
    expect(config.heatmaps).toBe(false);
    expect(Object.hasOwn(config, "__proto__")).toBe(true);
  });
});

describe("session recording follows from the project's settings", () => {
  // upstream posthog/models/remote_config.py, and its test_session_recording_v2_config
  const groups: JsonObject[] = [
    {
      id: "errors",
      name: "Errors",
      sampleRate: 1,
      minDurationMs: 0,
      conditions: {
        matchType: "any",
        events: ["error", { name: "crash" }],
        urls: [{ url: "/checkout.*", matching: "regex" }],
      },
    },
    { id: "feature", sampleRate: 0.5, minDurationMs: 10_000, conditions: { matchType: "all", flag: "new-feature" } },
  ];
  const asSent = [
    { ...groups[0], conditions: { ...Object(groups[0]?.conditions), events: [{ name: "error" }, { name: "crash" }] } },
    ...groups.slice(1),
  ];

  test.each(["documented", "production"] as const)("trigger groups, in every answer: %s", async (dialect) => {
    await using sim = await startSim({
      dialect,
      scenario: {
        version: 1,
        settings: {
          session_recording_opt_in: true,
          session_recording_sample_rate: "0.10",
          session_recording_trigger_groups: { version: 2, groups },
        },
      } as Scenario,
    });
    const recording = {
      version: 2,
      triggerGroups: asSent,
      // for older SDKs
      ...{ endpoint: "/s/", sampleRate: "0.1", linkedFlag: null, urlTriggers: [], eventTriggers: [] },
    };
    const body = JSON.stringify({ api_key: sim.apiKey, distinct_id: "u" });
    for (const [path, init] of [
      [`/array/${sim.apiKey}/config`, {}],
      ["/flags/?v=2&config=true", { method: "POST", body }],
      ["/decide/?v=3", { method: "POST", body }],
    ] as const)
      expect(await (await fetch(sim.url + path, init)).json()).toMatchObject({ sessionRecording: recording });
    expect(await (await fetch(`${sim.url}/array/${sim.apiKey}/config.js`)).text()).toContain(
      `"triggerGroups":${JSON.stringify(asSent)}`,
    );
  });

  test("written by the API of the project; without groups it is version 1", async () => {
    await using sim = await startSim();
    const change = async (settings: object) => {
      const answer = await fetch(`${sim.url}/api/projects/${sim.projectId}/`, {
        method: "PATCH",
        headers: { authorization: `Bearer ${sim.personalApiKey}`, "content-type": "application/json" },
        body: JSON.stringify(settings),
      });
      const config = await (await fetch(`${sim.url}/array/${sim.apiKey}/config`)).json();
      return { status: answer.status, project: await answer.json(), recording: Object(config).sessionRecording };
    };
    const flag = { id: 1, key: "record-me", variant: "on" };
    const on = await change({ session_recording_opt_in: true, session_recording_linked_flag: flag });
    expect(on.recording).toMatchObject({ version: 1, linkedFlag: { flag: "record-me", variant: "on" } });
    expect(on.recording).not.toHaveProperty("triggerGroups");
    const stored = { session_recording_trigger_groups: { version: 2, groups } };
    const grouped = await change(stored);
    expect([grouped.status, grouped.project]).toEqual([200, expect.objectContaining(stored)]);
    expect(grouped.recording).toMatchObject({ version: 2, triggerGroups: asSent });
    expect((await change({ session_recording_trigger_groups: null })).recording).toMatchObject({ version: 1 });
    expect((await change({ session_recording_trigger_groups: "all" })).status).toBe(400);
    expect((await change({ session_recording_opt_in: false })).recording).toBe(false);
  });

  test("an object in remote_config is laid over them", () => {
    const config = remoteConfigOf(
      aProject({
        settings: { session_recording_trigger_groups: { version: 2, groups } },
        remote_config: { sessionRecording: { sampleRate: "0.5" } },
      }),
      aWorld(),
    );
    expect(config.sessionRecording).toMatchObject({ sampleRate: "0.5", version: 2, triggerGroups: asSent });
  });
});

describe("/array/{token}", async () => {
  const ask = asker(sdkEndpoints(await aDesk(), []));

  test.each(["/array/phc_test/config", "/array/phc_test/config/", "//array/phc_test/config?_=1"])(
    "%s is the config as JSON",
    async (target) => {
      const answer = await ask(target);
      expect(answer.status).toBe(200);
      expect(answer.json()).toEqual(defaults);
      expect(answer.header("cache-control")).toBe("no-cache");
    },
  );

  test("config.js defines the config where posthog-js looks for it", async () => {
    const answer = await ask("/array/phc_test/config.js");
    const window: { _POSTHOG_REMOTE_CONFIG?: unknown } = {};
    runInNewContext(answer.text, { window });
    expect(window._POSTHOG_REMOTE_CONFIG).toEqual({ phc_test: { config: defaults, siteApps: [] } });
    expect(answer.header("content-type")).toBe("application/javascript; charset=utf-8");
  });

  test("array.js is the config followed by the bundle", async () => {
    const bundled = await asker(sdkEndpoints(await aDesk(), [import.meta.dirname]))("/array/phc_test/array.js");
    expect(bundled.text.startsWith("(function(){window._POSTHOG_REMOTE_CONFIG")).toBe(true);
    expect(bundled.text.length).toBeGreaterThan(100_000);
  });

  test("a change of the world shows at once", async () => {
    const { worlds, ...desk } = await aDesk();
    const askChanging = asker(sdkEndpoints({ ...desk, worlds }, []));
    expect((await askChanging("/array/phc_test/config")).json()).toMatchObject({ surveys: false });
    worlds.replacing(aWorld({ resources: [resourceOf("surveys", 1, "s", {})] })).take();
    expect((await askChanging("/array/phc_test/config")).json()).toMatchObject({ surveys: true });
  });
});
