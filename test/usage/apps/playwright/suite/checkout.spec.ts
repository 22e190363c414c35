import { flagCombinations } from "phx-sim/playwright";
import { expect, test } from "../app/test.ts";

test("a purchase is tracked", async ({ page, ph }) => {
  await page.goto("/");
  await page.getByRole("button", { name: "Buy" }).click();

  await expect(ph).toHaveCaptured("checkout_completed", { amount: 49, $current_url: /127\.0\.0\.1/ });
  await expect(ph).toHaveCapturedOnly(["checkout_completed"]);
  await expect(ph).toHaveNoDroppedEvents();
  const sales = { kind: "TrendsQuery", series: [{ kind: "EventsNode", event: "checkout_completed" }] };
  await expect(ph).toHaveInsight(sales, { total: 1 });
});

test.describe("with the new checkout", () => {
  test.use({ phxProject: { flags: { "new-checkout": "test" } } });

  test("the button says so", async ({ page, ph }) => {
    await page.goto("/");
    await expect(page.getByRole("button")).toHaveText("Buy now, pay later");
    await expect(ph).toHaveServedFlag("new-checkout", "test");
  });
});

const combinations = flagCombinations({
  flags: { "new-checkout": ["control", "test"], "free-shipping": [true, false] },
  strength: 1,
});

for (const { flags, title } of combinations) {
  test.describe(title, () => {
    test.use({ phxProject: { flags } });

    test("the button has the text of the flag", async ({ page }) => {
      await page.goto("/");
      const text = flags["new-checkout"] === "test" ? "Buy now, pay later" : "Buy";
      await expect(page.getByRole("button")).toHaveText(text);
    });
  });
}
