import { expect, test } from "phx-sim/vitest";
import { PostHog } from "posthog-node";
import { beforeEach, describe } from "vitest";

test("a matcher without await", ({ ph }) => {
  expect(ph).toHaveCaptured("nope");
});

const flushing = test.extend<{ posthog: PostHog }>({
  posthog: async ({ ph }, use) => {
    const posthog = new PostHog(ph.apiKey, { host: ph.host });
    await use(posthog);
    await posthog.shutdown();
    await ph.events.waitFor("flushed late");
  },
});

flushing("a matcher without await that would pass later", ({ ph, posthog }) => {
  posthog.capture({ distinctId: "anna", event: "flushed late" });
  expect(ph).toHaveCaptured("flushed late");
});

test("a wait without await", ({ ph }) => {
  ph.events.expectNone("nothing");
});

test("a matcher of the sim without await", ({ sim }) => {
  expect(sim).not.toHaveCaptured("anything");
});

test("a failure leaves other assertions behind", async ({ ph }) => {
  await Promise.all([
    expect(ph).toHaveCaptured("first", {}, { timeoutMs: 0 }),
    expect(ph).toHaveCaptured("left behind"),
  ]);
});

test("a limit below the wait", { timeout: 3_000 }, async ({ ph }) => {
  await expect(ph).toHaveCaptured("missing at the limit");
});

test("a busy machine at the limit", { timeout: 1_500 }, async ({ ph }) => {
  const assertion = expect(ph).toHaveCaptured("missing on a busy machine");
  for (const end = performance.now() + 1_600; performance.now() < end; );
  await assertion;
});

describe("with a hook of the suite", () => {
  beforeEach(() => {});

  test("a limit below the wait", { timeout: 3_000 }, async ({ ph }) => {
    await expect(ph).toHaveCaptured("missing after a hook");
  });
});

test("a call to the real service", async () => {
  const posthog = new PostHog("phc_of_the_real_project");
  posthog.capture({ distinctId: "anna", event: "signed_up" });
  await posthog.shutdown();
});

test.extend({ phxGuard: { hosts: ["e.example.com"] } })("a call to a host that is guarded", async () => {
  await expect(fetch("https://e.example.com/batch/")).rejects.toThrow();
});

test("a call to the real service by a domain of one's own", async () => {
  const posthog = new PostHog("phc_of_the_real_project", { host: "https://e.myapp.example" });
  posthog.capture({ distinctId: "anna", event: "signed_up" });
  await posthog.shutdown();
});
