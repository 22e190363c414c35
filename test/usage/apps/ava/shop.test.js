import test from "ava";
import { connectSim, startSim } from "phx-sim";
import { openShop } from "../shop-app/shop.js";

let sim;
test.before(async () => {
  sim = process.env.PHX_SIM_URL ? await connectSim() : await startSim();
});
test.after.always(() => sim.close());

// tests of a file run at the same time: each has its own project
test.beforeEach(async (t) => {
  t.context.ph = await sim.project({ name: t.title });
});
test.afterEach.always((t) => t.context.ph.dispose());

test("a signup is tracked", async (t) => {
  const { ph } = t.context;
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();

  const event = await ph.events.waitFor("signup_completed", { plan: "pro" });
  t.is(event.distinct_id, "anna");
});

test("an empty cart is not tracked", async (t) => {
  const { ph } = t.context;
  const shop = openShop(ph);
  shop.buy("anna", []);
  await shop.close();

  await t.notThrowsAsync(ph.events.expectNone("checkout_completed"));
});
