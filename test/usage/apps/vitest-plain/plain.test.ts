import { startSim } from "phx-sim";
import { test as withSim } from "phx-sim/vitest";
import { expect, test } from "vitest";
import { openShop } from "../shop-app/shop.js";

test("the matchers know a sim of one's own", async () => {
  await using sim = await startSim();
  const shop = openShop(sim);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();

  await expect(sim).toHaveCaptured("signup_completed", { plan: "pro" });
});

withSim("without a global setup each worker has a sim of its own", async ({ sim, ph }) => {
  expect((await sim.info()).scenario).toBe("shop");
  await expect(ph).toHaveCapturedOnly([]);
});
