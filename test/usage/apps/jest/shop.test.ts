import { expect, test } from "@jest/globals";
import { project, withProject } from "phx-sim/jest";
import { openShop } from "../shop-app/shop.js";

test("a signup is tracked", async () => {
  const ph = await project();
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();

  await expect(ph).toHaveCaptured("signup_completed", { plan: "pro" });
  await expect(ph).toHaveCapturedInOrder(["signup_started", "signup_completed"]);
  await expect(ph).toHaveIdentified("anna", { plan: "pro" });
  await expect(ph).toHaveMerged("visitor-1", "anna");
  await expect(ph).toHaveNoDroppedEvents();
  const steps = ["signup_started", "signup_completed"].map((event) => ({ kind: "EventsNode", event }));
  await expect(ph).toHaveInsight({ kind: "FunnelsQuery", series: steps }, { steps: [1, 1] });
});

test("an empty cart is not tracked", async () => {
  const ph = await project();
  const shop = openShop(ph);
  shop.buy("anna", []);
  shop.buy("anna", [{ sku: "mug", price: 9 }]);
  await shop.close();

  await expect(ph).toHaveCapturedTimes("checkout_completed", 1, { amount: expect.any(Number) });
  await expect(ph).not.toHaveCaptured("checkout_completed", { items: [] });
  await expect(ph).toHaveCapturedOnly(["checkout_completed"]);
});

test("the new prices are shown", async () => {
  const ph = await project({ flags: { "new-prices": "yearly" } });
  const shop = openShop(ph);
  expect(await shop.pricePage("anna")).toBe("120 a year");
  await shop.close();

  await expect(ph).toHaveServedFlag("new-prices", "yearly", { distinctId: "anna" });
});

test("before a visit nothing is sent, and nothing is recorded", async () => {
  const ph = await project();
  await expect(ph).not.toHaveBeenContacted();
  await expect(ph).not.toHaveRecorded({ quietMs: 0 });
});

// A project that goes with its test, also where tests run at the same time.
test.concurrent(
  "ben signs up",
  withProject(async (ph) => {
    const shop = openShop(ph);
    shop.signUp("visitor-2", "ben", "free");
    await shop.close();

    await expect(ph).toHaveCapturedTimes("signup_completed", 1);
  }),
);
