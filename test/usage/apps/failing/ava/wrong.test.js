import test from "ava";
import { startSim } from "phx-sim";
import { openShop } from "../../shop-app/shop.js";

test("expects what is not captured", async () => {
  const sim = await startSim();
  const shop = openShop(sim);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();
  try {
    await sim.events.waitFor("signup_completed", { plan: "free" }, { timeoutMs: 0 });
  } finally {
    await sim.close();
  }
});
