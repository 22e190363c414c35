import { expect, test } from "phx-sim/vitest";
import { PostHog } from "posthog-node";
import { afterEach, describe, vi } from "vitest";

/** A short wait: nothing comes. */
const soon = { timeoutMs: 100 };

test("a client with the real host", async ({ ph }) => {
  const posthog = new PostHog(ph.apiKey, { host: "https://us.i.posthog.com", fetchRetryCount: 0 });
  posthog.capture({ distinctId: "anna", event: "signed_up" });
  await posthog.flush().catch(() => {});
  await expect(ph).toHaveCaptured("signed_up", {}, soon);
});

test("a client with the real host, which should ask for a flag", async ({ ph }) => {
  const posthog = new PostHog(ph.apiKey, { host: "https://us.i.posthog.com", fetchRetryCount: 0 });
  await posthog.evaluateFlags("anna").catch(() => {});
  await expect(ph).toHaveServedFlag("beta", true, soon);
});

test("a client with another key", async ({ ph }) => {
  const posthog = new PostHog("phc_other", { host: ph.host });
  posthog.capture({ distinctId: "anna", event: "signed_up" });
  await posthog.flush().catch(() => {});
  await expect(ph).toHaveCaptured("signed_up", {}, soon);
});

describe("with fake timers", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test("an event stays in the queue", async ({ ph }) => {
    vi.useFakeTimers();
    const posthog = new PostHog(ph.apiKey, { host: ph.host });
    posthog.capture({ distinctId: "anna", event: "queued" });
    await expect(ph).toHaveCaptured("queued", {}, soon);
  });

  test("only the time is fake", async ({ ph }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    await expect(ph).toHaveCaptured("real timers", {}, soon);
  });
});

test("a pattern with an operator that does not exist", async ({ ph }) => {
  await expect(ph).toHaveCaptured("paid", { amount: { "@greater": 1 } as object });
});
