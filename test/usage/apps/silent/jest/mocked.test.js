const { project } = require("phx-sim/jest");

jest.mock("posthog-node", () => ({
  PostHog: class {
    capture() {}
  },
}));

test("an SDK that is mocked", async () => {
  const ph = await project();
  const { PostHog } = require("posthog-node");
  new PostHog(ph.apiKey, { host: ph.host }).capture({ distinctId: "anna", event: "mocked" });
  await expect(ph).toHaveCaptured("mocked", {}, { timeoutMs: 100 });
});
