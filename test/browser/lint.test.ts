import type { PostHog } from "posthog-js";
import { expect, test } from "vitest";
import { startSim } from "../../src/index.ts";
import { chromiumOfFile } from "../support/chromium.ts";
import { loaders, openPageServer } from "./page-server.ts";

/** The page's own `window`, inside functions that run there. */
declare const window: { posthog: PostHog };

const browser = chromiumOfFile();
const patient = { timeoutMs: 60_000 };

test("an ordinary session of posthog-js has no findings", async () => {
  await using sim = await startSim({
    scenario: {
      version: 1,
      organizations: [
        {
          name: "Org",
          projects: [
            {
              id: 3,
              name: "Shop",
              api_key: "phc_lint_browser",
              flags: {
                beta: { payloads: { true: { color: "blue" } } },
                ways: { variants: { control: 0, test: 100 } },
                off: { rollout: 0 },
                pro: { person: { plan: "pro" } },
              },
              remote_config: { sessionRecording: true, capturePerformance: true, heatmaps: true },
              early_access_features: [{ id: "e1", name: "Early", description: "", stage: "beta", flagKey: "off" }],
            },
          ],
        },
      ],
      personal_api_keys: [{ key: "phx_lint_browser", scopes: ["*"] }],
    },
  });
  await using server = await openPageServer();
  const page = await browser().newPage();
  const config = {
    api_host: sim.url,
    opt_out_useragent_filter: true,
    request_queue_config: { flush_interval_ms: 250 },
  };
  const open = async () => {
    server.show(loaders["npm bundle"](sim, config));
    await page.goto(server.url);
    await page.evaluate(() => new Promise<void>((resolve) => window.posthog.onFeatureFlags(() => resolve())));
  };

  await open();
  await page.click("#buy");
  await page.evaluate(() => {
    const { posthog } = window;
    for (const flag of ["beta", "ways", "off", "pro"]) posthog.getFeatureFlag(flag);
    posthog.capture("bought", { amount: 10 });
    posthog.identify("u1", { plan: "pro", email: "ann@example.com" });
    posthog.capture("bought", { amount: 2.5 });
    posthog.group("company", "acme", { tier: "gold" });
    posthog.capture("bought", { amount: 1 });
    posthog.updateEarlyAccessFeatureEnrollment("off", true);
    posthog.capture("bought early", {});
  });
  await sim.events.waitFor("bought early", undefined, patient);
  await sim.settle(patient);
  await open();
  await page.evaluate(() => {
    const { posthog } = window;
    for (const flag of ["beta", "ways", "off", "pro"]) posthog.getFeatureFlag(flag);
    posthog.capture("came back");
    posthog.reset();
    posthog.capture("left");
  });
  await sim.events.waitFor("left", undefined, patient);
  await sim.settle(patient);

  const { findings, looked } = await sim.lint();
  expect(looked).toBeGreaterThan(10);
  expect(findings).toEqual([]);
});
