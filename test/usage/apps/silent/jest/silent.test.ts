import { afterEach, expect, jest, test } from "@jest/globals";
import { project } from "phx-sim/jest";
import { PostHog } from "posthog-node";

afterEach(() => {
  jest.useRealTimers();
});

test("a client with the real host", async () => {
  const ph = await project();
  const posthog = new PostHog(ph.apiKey, { host: "https://us.i.posthog.com", fetchRetryCount: 0 });
  posthog.capture({ distinctId: "anna", event: "signed_up" });
  await posthog.flush().catch(() => {});
  await expect(ph).toHaveCaptured("signed_up", {}, { timeoutMs: 100 });
});

test("an event stays in the queue", async () => {
  const ph = await project();
  jest.useFakeTimers();
  const posthog = new PostHog(ph.apiKey, { host: ph.host });
  posthog.capture({ distinctId: "anna", event: "queued" });
  await expect(ph).toHaveCaptured("queued", {}, { timeoutMs: 100 });
});

test("a pattern with an operator that does not exist", async () => {
  const ph = await project();
  await expect(ph).toHaveCaptured("paid", { amount: { "@greater": 1 } as object });
});
