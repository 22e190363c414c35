import { expect, test } from "phx-sim/vitest";
import { afterEach, vi } from "vitest";

afterEach(() => vi.unstubAllEnvs());

test("a signup is tracked", async ({ ph }) => {
  vi.stubEnv("POSTHOG_API_KEY", ph.apiKey);
  vi.stubEnv("POSTHOG_HOST", ph.host);
  vi.resetModules();
  const { posthog, trackSignup } = await import("../analytics-of-env.js");

  trackSignup("anna", "pro");
  await posthog.shutdown();

  await expect(ph).toHaveCapturedTimes("signed_up", 1);
});

test("the next test has a client of its own", async ({ ph }) => {
  vi.stubEnv("POSTHOG_API_KEY", ph.apiKey);
  vi.stubEnv("POSTHOG_HOST", ph.host);
  vi.resetModules();
  const { posthog, trackSignup } = await import("../analytics-of-env.js");

  trackSignup("ben", "free");
  await posthog.shutdown();

  await expect(ph).toHaveCaptured("signed_up", { plan: "free" });
});
