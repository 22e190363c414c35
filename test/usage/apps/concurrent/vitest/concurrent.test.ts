import { expect, test } from "phx-sim/vitest";
import { PostHog } from "posthog-node";

/** Of ten tests at the same time, one calls the real service. */
test.concurrent.for([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])("test number %i", async (number, { ph }) => {
  const posthog = new PostHog(ph.apiKey, number === 7 ? {} : { host: ph.host });
  posthog.capture({ distinctId: "anna", event: "signed_up" });
  await posthog.shutdown();
  if (number !== 7) await expect(ph).toHaveCaptured("signed_up");
});
