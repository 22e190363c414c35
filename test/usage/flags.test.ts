import { OpenFeature } from "@openfeature/server-sdk";
import type { PostHog as PostHogJs } from "posthog-js";
import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import { type Scenario, type Sim, type SimOptions, startSim } from "../../src/index.ts";
import { loaders, openPageServer } from "../browser/page-server.ts";
import { launchChromium } from "../support/chromium.ts";
import { posthogProvider } from "./openfeature-provider.ts";

/** One project with a flag for users of a plan. */
const proOnly: SimOptions["scenario"] = {
  version: 1,
  organizations: [
    {
      name: "Org",
      projects: [
        { name: "App", api_key: "phc_app", flags: { reports: { person: { plan: "pro" }, rollout: 30 } } },
      ],
    },
  ],
  personal_api_keys: [{ key: "phx_all", scopes: ["*"] }],
};

test("a flag has rules of version 2", async () => {
  const rule = {
    id: "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b",
    rule_type: "targeted_release",
    targeting: { properties: [{ key: "plan", type: "person", value: "pro" }] },
    value: "blue",
  };
  const colour = { filters: { version: 2, return_type: "string", default_value: "grey", rules: [rule] } };
  await using sim = await startSim({
    scenario: { version: 1, settings: { flags_v3_response_enabled: true }, flags: { colour } } as Scenario,
  });

  const explained = await sim.flags.explain("colour", { distinctId: "user-1", person: { plan: "pro" } });
  expect(explained).toMatchObject({ value: "blue", rule: { code: "targeting_match", value: "blue" } });

  const answers = async (version: number) => {
    const body = JSON.stringify({ api_key: sim.apiKey, distinct_id: "user-1" });
    const response = await fetch(`${sim.url}/flags?v=${version}`, { method: "POST", body });
    return ((await response.json()) as { flags: { colour: object } }).flags.colour;
  };
  expect(await answers(3)).toMatchObject({ value: "grey", reason: { code: "no_rule_match" } });
  expect(await answers(2)).toMatchObject({ enabled: true, variant: "grey" });
});

test("a flag is flipped for a test", async () => {
  await using sim = await startSim();
  const posthog = new PostHog(sim.apiKey, { host: sim.url });
  expect(await posthog.getFeatureFlag("beta-feature", "user-1")).toBe(true);

  await sim.flags.set("beta-feature", false);
  expect(await posthog.getFeatureFlag("beta-feature", "user-1")).toBe(false);

  await sim.flags.set("new-checkout", "test", { payload: { cta: "Now" }, distinctId: "user-1" });
  const checkout = await posthog.getFeatureFlagResult("new-checkout", "user-1");
  expect(checkout).toMatchObject({ variant: "test", payload: { cta: "Now" } });

  await sim.reset();
  expect(await posthog.getFeatureFlag("beta-feature", "user-1")).toBe(true);
  await posthog.shutdown();
});

test("without a socket", async () => {
  await using sim = await startSim();
  const posthog = new PostHog(sim.apiKey, {
    host: sim.url,
    fetch: (url, options) => sim.handle(new Request(url, options as RequestInit)),
  });

  await sim.flags.set("off-for-everyone", true);
  expect(await posthog.isFeatureEnabled("off-for-everyone", "user-1")).toBe(true);
  await posthog.shutdown();
});

test("flags that the SDK evaluates by itself", async () => {
  await using sim = await startSim();
  const posthog = new PostHog(sim.apiKey, { host: sim.url, personalApiKey: sim.personalApiKey });
  const locally = { onlyEvaluateLocally: true, sendFeatureFlagEvents: false };
  await posthog.waitForLocalEvaluationReady();
  expect(await posthog.getFeatureFlag("beta-feature", "user-1", locally)).toBe(true);

  await sim.flags.set("beta-feature", false);
  await sim.flags.set("new-checkout", "control");
  await sim.flags.set("not-there-yet", "blue", { force: true });
  await posthog.reloadFeatureFlags();
  expect(await posthog.getFeatureFlag("beta-feature", "user-1", locally)).toBe(false);
  expect(await posthog.getFeatureFlag("new-checkout", "user-1", locally)).toBe("control");
  expect(await posthog.getFeatureFlag("not-there-yet", "user-1", locally)).toBe("blue");
  await posthog.shutdown();
});

test("by OpenFeature", async () => {
  await using sim = await startSim();
  const posthog = new PostHog(sim.apiKey, { host: sim.url });
  await OpenFeature.setProviderAndWait(posthogProvider(posthog));
  const features = OpenFeature.getClient();
  const user = { targetingKey: "user-1" };
  expect(await features.getBooleanValue("beta-feature", false, user)).toBe(true);

  await sim.flags.set("beta-feature", false);
  await sim.flags.set("new-checkout", "test", { payload: { cta: "Now" } });
  expect(await features.getBooleanValue("beta-feature", true, user)).toBe(false);
  expect(await features.getStringValue("new-checkout", "control", user)).toBe("test");
  expect(await features.getObjectValue("new-checkout", {}, user)).toEqual({ cta: "Now" });
  await OpenFeature.clearProviders();
  await posthog.shutdown();
});

/** The page's own `window`, inside functions that run there. */
declare const window: { posthog: PostHogJs };

/** A page of an application that has posthog-js in its bundle. */
async function openShop(sim: Sim) {
  const [browser, server] = await Promise.all([launchChromium(), openPageServer()]);
  server.show(loaders["npm bundle"](sim, { api_host: sim.url, opt_out_useragent_filter: true }));
  const page = await browser.newPage();
  await page.goto(server.url);
  await page.evaluate(() => new Promise<void>((resolve) => window.posthog.onFeatureFlags(() => resolve())));
  const close = () => browser.close().then(() => server[Symbol.asyncDispose]());
  return { page, [Symbol.asyncDispose]: close };
}

test("in a page", async () => {
  await using sim = await startSim();
  await using shop = await openShop(sim);
  const beta = () => shop.page.evaluate(() => window.posthog.isFeatureEnabled("beta-feature"));
  expect(await beta()).toBe(true);

  await sim.flags.set("beta-feature", false);
  await shop.page.evaluate(() => window.posthog.reloadFeatureFlags());
  await shop.page.waitForFunction(() => !window.posthog.isFeatureEnabled("beta-feature"));
  expect(await beta()).toBe(false);
});

test("why a user gets a flag's value", async () => {
  await using sim = await startSim({ scenario: proOnly });
  const explained = await sim.flags.explain("reports", { distinctId: "user-1", person: { plan: "free" } });
  expect(explained.value).toBe(false);
  expect(explained.conditions[0]?.properties[0]).toMatchObject({
    key: "plan",
    operator: "exact",
    actual: "free",
    passed: false,
  });
  expect(explained.hint).toBe('condition 1: requires that plan is "pro", but it is "free"');
});

test("how a rollout is spread", async () => {
  await using sim = await startSim({ scenario: proOnly });
  const { values } = await sim.flags.simulate("reports", { count: 10_000, person: { plan: "pro" } });
  expect(values.map((it) => it.value)).toEqual([true, false]);
  expect(values[0]?.share).toBeCloseTo(0.3, 1);
});
