import { expect, test } from "phx-sim/vitest";
import { PostHog } from "posthog-node";
import { vi } from "vitest";

vi.mock("posthog-node");

test("an SDK that is mocked", async ({ ph }) => {
  new PostHog(ph.apiKey, { host: ph.host }).capture({ distinctId: "anna", event: "mocked" });
  await expect(ph).toHaveCaptured("mocked", {}, { timeoutMs: 100 });
});
