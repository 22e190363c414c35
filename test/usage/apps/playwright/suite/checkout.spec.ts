import { expect, test } from "../app/test.ts";

test("a purchase is tracked", async ({ page, ph }) => {
  await page.goto("/");
  await page.getByRole("button", { name: "Buy" }).click();

  await expect(ph).toHaveCaptured("checkout_completed", { amount: 49, $current_url: /127\.0\.0\.1/ });
  await expect(ph).toHaveCapturedOnly(["checkout_completed"]);
  await expect(ph).toHaveNoDroppedEvents();
});

test.describe("with the new checkout", () => {
  test.use({ phxProject: { flags: { "new-checkout": "test" } } });

  test("the button says so", async ({ page, ph }) => {
    await page.goto("/");
    await expect(page.getByRole("button")).toHaveText("Buy now, pay later");
    await expect(ph).toHaveServedFlag("new-checkout", "test");
  });
});
