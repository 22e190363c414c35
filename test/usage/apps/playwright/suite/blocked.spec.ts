import { expect, test } from "../app/test.ts";

test.describe("with an ad blocker", () => {
  test.use({ phxAttach: { adBlocked: true, hosts: ["/ingest"] } });

  test("an app that sends to its own path is measured", async ({ page, ph }) => {
    await page.goto("/consent?proxied");
    await page.getByRole("button", { name: "Buy" }).click();
    await expect(ph).toHaveCaptured("checkout_completed");
  });

  test("an app that sends to PostHog's host is not", async ({ page, ph }) => {
    await page.goto("/consent?opt-in");
    await page.getByRole("button", { name: "Buy" }).click();
    await expect(ph).not.toHaveBeenContacted();
  });
});
