import { expect, test } from "phx-sim/vitest";
import { openShop } from "../../shop-app/shop.js";

test("expects what is not captured", async ({ ph }) => {
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();

  await expect(ph).toHaveCaptured("signup_completed", { plan: "free" }, { timeoutMs: 0 });
});

test("expects that nothing is captured", async ({ ph }) => {
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();

  await expect(ph).not.toHaveCaptured("signup_started");
});
