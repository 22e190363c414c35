import assert from "node:assert/strict";
import { connectSim, startSim } from "phx-sim";
import { openShop } from "../shop-app/shop.js";

let sim, ph;
Deno.test.beforeAll(async () => {
  sim = Deno.env.get("PHX_SIM_URL") ? await connectSim() : await startSim();
});
Deno.test.afterAll(() => sim.close());

Deno.test.beforeEach(async () => {
  ph = await sim.project();
});
Deno.test.afterEach(() => ph.dispose());

Deno.test("a signup is tracked", async () => {
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();

  const event = await ph.events.waitFor("signup_completed", { plan: "pro" });
  assert.equal(event.distinct_id, "anna");
});

Deno.test("an empty cart is not tracked, and nothing leaves the process", async () => {
  using _guard = sim.guard();
  const shop = openShop(ph);
  shop.buy("anna", []);
  await shop.close();

  await ph.events.expectNone("checkout_completed");
});
