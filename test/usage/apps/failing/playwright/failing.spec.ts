import { expect, test } from "../../playwright/app/test.ts";

test("the wrong amount", async ({ page, ph }) => {
  await page.goto("/");
  await page.getByRole("button").click();
  await expect(ph).toHaveCaptured("checkout_completed", { amount: 94 }, { timeoutMs: 12_000 });
});

test("a reverse proxy that is not rerouted", async ({ page, ph }) => {
  await page.goto("/");
  await page.evaluate(() => fetch("/ingest/e/?ver=1", { method: "POST", body: "{}" }).then(() => {}));
  await expect(ph).toHaveNoDroppedEvents();
});
