import { expect, test } from "@jest/globals";
import { project } from "phx-sim/jest";
import { posthog, trackSignup } from "../analytics.js";

test("a signup is tracked", async () => {
  const ph = await project();
  trackSignup("anna", "pro");
  await posthog.flush();

  await expect(ph).toHaveCaptured("signed_up", { plan: "pro" });
});

test("another test has a project of its own", async () => {
  const ph = await project();
  trackSignup("ben", "free");
  await posthog.flush();

  await expect(ph).toHaveCapturedTimes("signed_up", 1);
});
