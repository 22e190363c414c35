import { expect, type Project, test } from "phx-sim/vitest";
import { PostHog } from "posthog-node";
import { describe } from "vitest";

/** Of ten tests at the same time, one calls the real service. */
const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

async function signUp(ph: Project, number: number): Promise<void> {
  const posthog = new PostHog(ph.apiKey, number === 7 ? {} : { host: ph.host });
  posthog.capture({ distinctId: "anna", event: "signed_up" });
  await posthog.shutdown();
  if (number !== 7) await expect(ph).toHaveCaptured("signed_up");
}

test.concurrent.for(numbers)("test number %i", (number, { ph }) => signUp(ph, number));

describe("with a hook", () => {
  test.beforeEach(({ ph }) => ph.flags.set("beta-feature", true));

  test.concurrent.for(numbers)("test number %i", (number, { ph }) => signUp(ph, number));
});
