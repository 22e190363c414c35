import { expect, test } from "@jest/globals";
import { project } from "phx-sim/jest";
import { openShop } from "../../shop-app/shop.js";

test("expects what is not captured", async () => {
  const ph = await project();
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();

  await expect(ph).toHaveCaptured("signup_completed", { plan: "free" }, { timeoutMs: 0 });
});

test("expects that nothing is captured", async () => {
  const ph = await project();
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();

  await expect(ph).not.toHaveCaptured("signup_started");
});
