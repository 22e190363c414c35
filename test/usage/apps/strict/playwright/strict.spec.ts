import { expect, test } from "../../playwright/app/test.ts";

test("a matcher without await", async ({ ph }) => {
  expect(ph).toHaveCaptured("nope");
});

test("a wait without await", async ({ ph, page }) => {
  await page.goto("/");
  ph.events.expectNone("nothing");
});

test.describe("a limit below the wait", () => {
  test.describe.configure({ timeout: 15_000 });

  test("ends with the report", async ({ ph }) => {
    await expect(ph).toHaveCaptured("missing at the limit", {}, { timeoutMs: 60_000 });
  });
});

test("a busy machine at the limit", async ({ ph }, info) => {
  const assertion = expect(ph).toHaveCaptured("missing on a busy machine", {}, { timeoutMs: 60_000 });
  const start = performance.now();
  info.setTimeout(info.duration + 1_500);
  while (performance.now() < start + 3_000);
  await assertion;
});

test("a call of the test's process to the real service", async ({ request }) => {
  await request.post("https://eu.i.posthog.com/batch/", { data: {} }).catch(() => {});
});

test("a context of one's own", async ({ browser, shop }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(shop.url);
  await page.evaluate(() => fetch("/past/e/?ver=1", { method: "POST", body: "{}" }).then(() => {}));
  await context.close();
});

test("a route of the page that lets everything pass", async ({ page }) => {
  await page.route("**/*", (route) => route.continue());
  await page.goto("/");
  await page.evaluate(() => fetch("https://eu.i.posthog.com/e/?route", { method: "POST" }).catch(() => {}));
});

test.describe("a page that is opened before the test", () => {
  test.beforeAll(async ({ browser, shop }) => {
    const page = await browser.newPage();
    await page.goto(shop.url);
    await page.evaluate(() => fetch("https://eu.i.posthog.com/e/?early", { method: "POST" }).catch(() => {}));
  });

  test("has sent without a project", async ({ ph }) => {
    await expect(ph).not.toHaveCaptured("nothing");
  });
});
