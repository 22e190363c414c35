import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { sdkEndpoints } from "../../../src/ingest/sdk/rows.ts";
import { remoteConfigOf } from "../../../src/ingest/sdk/remote-config.ts";
import { resourceOf } from "../../../src/world/resources.ts";
import { aFlag, aProject } from "../../support/documents.ts";
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
    const bundled = await asker(sdkEndpoints(await aDesk(), [import.meta.dirname]))(
      "/array/phc_test/array.js",
    );
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
