import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { connectSim, startSim } from "phx-sim";
import { openShop } from "../shop-app/shop.js";

let sim, ph;
beforeAll(async () => {
  sim = process.env.PHX_SIM_URL ? await connectSim() : await startSim();
});
afterAll(() => sim.close());

beforeEach(async () => {
  ph = await sim.project();
});
afterEach(() => ph.dispose());

test("a signup is tracked", async () => {
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();

  const event = await ph.events.waitFor("signup_completed", { plan: "pro" });
  expect(event.distinct_id).toBe("anna");
});

test("an empty cart is not tracked, and nothing leaves the process", async () => {
  using _guard = sim.guard();
  const shop = openShop(ph);
  shop.buy("anna", []);
  await shop.close();

  await ph.events.expectNone("checkout_completed");
});
