import { connectSim, startSim } from "phx-sim";
import t from "tap";
import { openShop } from "../shop-app/shop.js";

const sim = process.env.PHX_SIM_URL ? await connectSim() : await startSim();
t.teardown(() => sim.close());

t.test("a signup is tracked", async (t) => {
  const ph = await sim.project({ name: t.fullname });
  t.teardown(() => ph.dispose());
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();

  const event = await ph.events.waitFor("signup_completed", { plan: "pro" });
  t.equal(event.distinct_id, "anna");
});

t.test("an empty cart is not tracked", async (t) => {
  const ph = await sim.project({ name: t.fullname });
  t.teardown(() => ph.dispose());
  const shop = openShop(ph);
  shop.buy("anna", []);
  await shop.close();

  await ph.events.expectNone("checkout_completed");
});
