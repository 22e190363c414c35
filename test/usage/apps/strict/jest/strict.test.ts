import { afterEach, expect, test } from "@jest/globals";
import { project, sim, withProject } from "phx-sim/jest";
import { PostHog } from "posthog-node";

test("a matcher without await", async () => {
  const ph = await project();
  expect(ph).toHaveCaptured("nope");
});

let posthog: PostHog | undefined;
afterEach(() => posthog?.shutdown());

test("a matcher without await that would pass later", async () => {
  const ph = await project();
  posthog = new PostHog(ph.apiKey, { host: ph.host });
  posthog.capture({ distinctId: "anna", event: "flushed late" });
  expect(ph).toHaveCaptured("flushed late");
});

test("a wait without await", async () => {
  const ph = await project();
  ph.events.expectNone("nothing");
});

test("a matcher of the sim without await", async () => {
  expect(await sim()).not.toHaveCaptured("anything");
});

test("a failure leaves other assertions behind", async () => {
  const ph = await project();
  await Promise.all([
    expect(ph).toHaveCaptured("first", {}, { timeoutMs: 0 }),
    expect(ph).toHaveCaptured("left behind"),
  ]);
});

test("a limit below the wait", async () => {
  const ph = await project();
  await expect(ph).toHaveCaptured("missing at the limit");
}, 3_000);

test("a busy machine at the limit", async () => {
  const ph = await project();
  const assertion = expect(ph).toHaveCaptured("missing on a busy machine");
  for (const end = performance.now() + 1_600; performance.now() < end; );
  await assertion;
}, 1_500);

test("a call to the real service", async () => {
  const real = new PostHog("phc_of_the_real_project");
  real.capture({ distinctId: "anna", event: "signed_up" });
  await real.shutdown();
});

test("a call to the real service by a domain of one's own", async () => {
  const real = new PostHog("phc_of_the_real_project", { host: "https://e.myapp.example" });
  real.capture({ distinctId: "anna", event: "signed_up" });
  await real.shutdown();
});

test("a body that does not run", async () => {
  await withProject(async (ph) => {
    await expect(ph).toHaveCaptured("never looked for");
  });
});

let shared: PostHog | undefined;

test("is right, but leaves its SDK to the next test", async () => {
  const ph = await project({ name: "first" });
  shared = new PostHog(ph.apiKey, { host: ph.host, fetchRetryCount: 0 });
  shared.capture({ distinctId: "anna", event: "bought" });
  await shared.flush();
  await expect(ph).toHaveCaptured("bought");
});

test("an SDK of an ended test", async () => {
  const ph = await project();
  shared?.capture({ distinctId: "anna", event: "bought by a shared SDK" });
  await shared?.flush().catch(() => {});
  await expect(ph).not.toHaveCaptured("bought by a shared SDK");
});

test.concurrent(
  "a matcher without await at the same time",
  withProject((ph) => {
    expect(ph).toHaveCaptured("concurrently");
  }),
);
