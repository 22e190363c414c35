import { expect, test } from "@jest/globals";
import { withProject } from "phx-sim/jest";
import { PostHog } from "posthog-node";

/** Of ten tests at the same time, one calls the real service. */
for (const number of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
  test.concurrent(
    `test number ${number}`,
    withProject(async (ph) => {
      const posthog = new PostHog(ph.apiKey, number === 7 ? {} : { host: ph.host });
      posthog.capture({ distinctId: "anna", event: "signed_up" });
      await posthog.shutdown();
      if (number !== 7) await expect(ph).toHaveCaptured("signed_up");
    }),
  );
}
