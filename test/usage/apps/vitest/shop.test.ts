import { expect, test } from "phx-sim/vitest";
import { openShop } from "../shop-app/shop.js";

test("a signup is tracked", async ({ ph }) => {
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();

  await expect(ph).toHaveCaptured("signup_completed", { plan: "pro" });
  await expect(ph).toHaveCapturedInOrder(["signup_started", "signup_completed"]);
  await expect(ph).toHaveIdentified("anna", { plan: "pro" });
  await expect(ph).toHaveMerged("visitor-1", "anna");
  await expect(ph).toHaveNoDroppedEvents();
});

test("an empty cart is not tracked", async ({ ph }) => {
  const shop = openShop(ph);
  shop.buy("anna", []);
  shop.buy("anna", [{ sku: "mug", price: 9 }]);
  await shop.close();

  await expect(ph).toHaveCapturedTimes("checkout_completed", 1, { amount: expect.any(Number) });
  await expect(ph).not.toHaveCaptured("checkout_completed", { items: [] });
  await expect(ph).toHaveCapturedOnly(["checkout_completed"]);
});

const yearly = test.extend({ phxProject: { flags: { "new-prices": "yearly" } } });

yearly("the new prices are shown", async ({ ph }) => {
  const shop = openShop(ph);
  expect(await shop.pricePage("anna")).toBe("120 a year");
  await shop.close();

  await expect(ph).toHaveServedFlag("new-prices", "yearly", { distinctId: "anna" });
});

// Each test has a project of its own, so they may run at the same time.
test.concurrent.for(["ann", "ben", "cleo"])("%s signs up", async (user, { ph, expect }) => {
  const shop = openShop(ph);
  shop.signUp(`visitor of ${user}`, user, "free");
  await shop.close();

  await expect(ph).toHaveCapturedTimes("signup_completed", 1);
  await expect(ph).toHaveIdentified(user);
});
