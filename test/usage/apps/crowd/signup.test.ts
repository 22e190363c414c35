import { expect, test } from "phx-sim/vitest";
import { openShop } from "../shop-app/shop.js";

// Ids are new in each run, and all of these tests run at the same time.
test.concurrent.for(Array.from({ length: 12 }, (_, i) => i))(
  "user %i signs up",
  async (n, { ph, expect }) => {
    const shop = openShop(ph);
    const user = crypto.randomUUID();
    shop.signUp(crypto.randomUUID(), user, "free");
    for (let i = 0; i < n % 3; i++) shop.buy(user, [{ sku: crypto.randomUUID(), price: 9.5 }]);
    await shop.close();

    await expect(ph).toHaveCapturedTimes("signup_completed", 1);
  },
);

test.concurrent("two users do not wait for each other", async ({ ph, expect }) => {
  const use = async (user: string) => {
    const shop = openShop(ph);
    shop.signUp(`visitor of ${user}`, user, "pro");
    await shop.pricePage(user);
    shop.buy(user, [{ sku: "mug", price: 9 }]);
    await shop.close();
  };
  await Promise.all([use("anna"), use("ben")]);

  await expect(ph).toHaveCapturedTimes("checkout_completed", 2);
});

test("events of before are cleared", async ({ ph }) => {
  const shop = openShop(ph);
  shop.buy("anna", [{ sku: "mug", price: 9 }]);
  await shop.close();
  await expect(ph).toHaveCaptured("checkout_completed");
  await ph.events.clear();

  await expect(ph).toHaveCapturedOnly([]);
});

test("the second attempt passes", async ({ ph, task }) => {
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  if (task.result?.retryCount) shop.buy("anna", [{ sku: "mug", price: 9 }]);
  await shop.close();

  await expect(ph).toHaveCaptured("checkout_completed", {}, { timeoutMs: 100 });
});
