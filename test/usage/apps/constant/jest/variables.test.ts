import { afterEach, expect, jest, test } from "@jest/globals";
import { project } from "phx-sim/jest";

const { env } = process;
afterEach(() => {
  process.env = env;
});

test("a signup is tracked", async () => {
  const ph = await project();
  process.env = { ...env, POSTHOG_API_KEY: ph.apiKey, POSTHOG_HOST: ph.host };
  jest.resetModules();
  const { posthog, trackSignup } = require("../analytics-of-env.js");

  trackSignup("anna", "pro");
  await posthog.shutdown();

  await expect(ph).toHaveCapturedTimes("signed_up", 1);
});
