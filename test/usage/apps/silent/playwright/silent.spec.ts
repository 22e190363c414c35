import { expect, test } from "../../playwright/app/test.ts";

/** A short wait: nothing comes. */
const soon = { timeoutMs: 500 };

test("an event bypasses the sim", async ({ page, ph }) => {
  await page.goto("/");
  await page.evaluate(() => fetch("/ingest/e/?ver=1", { method: "POST", body: "{}" }).then(() => {}));
  await expect(ph).toHaveCaptured("bypassed", {}, soon);
});

test.describe("with an ad blocker", () => {
  test.use({ phxAttach: { adBlocked: true } });

  test("an event is blocked", async ({ page, ph }) => {
    await page.goto("/consent?opt-in");
    await page.getByRole("button", { name: "Buy" }).click();
    await expect(ph).toHaveCaptured("checkout_completed", {}, soon);
  });
});

test("no page is opened", async ({ ph }) => {
  await expect(ph).toHaveCaptured("from nowhere", {}, soon);
});

test("posthog-js waits for consent", async ({ page, ph }) => {
  await page.goto("/consent?after-consent");
  await page.getByRole("button", { name: "Buy" }).click();
  await expect(ph).toHaveCaptured("checkout_completed", {}, soon);
});

test("the visitor has opted out", async ({ page, ph }) => {
  await page.goto("/consent?opt-out");
  await page.getByRole("button", { name: "Buy" }).click();
  await expect(ph).toHaveCaptured("checkout_completed", {}, soon);
});

test("posthog-js sends nothing", async ({ page, ph }) => {
  await page.goto("/consent?quiet");
  await expect(ph).toHaveBeenContacted(soon);
});

test("the snippet's script does not come", async ({ page, ph }) => {
  await page.goto("/consent?after-consent");
  await page.evaluate(() => {
    Object.assign(globalThis, { posthog: { _i: [["phc_stub", { api_host: "https://eu.i.posthog.com" }]] } });
  });
  await expect(ph).toHaveCaptured("too early", {}, soon);
});

test("the page's time is stopped", async ({ page, ph }) => {
  await page.clock.install();
  await page.goto("/consent?opt-in");
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.getByRole("button", { name: "Buy" }).click();
  await expect(ph).toHaveCaptured("checkout_completed", {}, soon);
});

test("the page's time goes on", async ({ page, ph }) => {
  await page.clock.install();
  await page.goto("/consent?opt-in");
  await expect(ph).toHaveCaptured("never", {}, soon);
});
