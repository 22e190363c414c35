import { startSim } from "phx-sim";
import { openShop } from "../../shop-app/shop.js";

Deno.test("expects what is not captured", async () => {
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

Deno.test("lets a call leave the process", async () => {
  const sim = await startSim();
  try {
    using _guard = sim.guard();
    await fetch("https://us.i.posthog.com/batch/", { method: "POST" }).catch(() => {});
  } finally {
    await sim.close();
  }
});
