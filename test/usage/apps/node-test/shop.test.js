import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connectSim, startSim } from "phx-sim";
import { openShop } from "../shop-app/shop.js";

let sim;
// The sim of `phx-sim exec -- node --test`, else one in this process.
before(async () => {
  sim = process.env.PHX_SIM_URL ? await connectSim() : await startSim();
});
after(() => sim.close());

test("a signup is tracked", async (t) => {
  const ph = await sim.project({ name: t.name });
  t.after(() => ph.dispose());
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();

  const event = await ph.events.waitFor("signup_completed", { plan: "pro" });
  assert.equal(event.distinct_id, "anna");
  await ph.events.waitForSequence(["signup_started", "signup_completed"]);
  const person = await ph.persons.get("visitor-1");
  assert.deepEqual(person.distinct_ids.toSorted(), ["anna", "visitor-1"]);
  assert.deepEqual(await ph.events.dropped(), []);
});

test("an empty cart is not tracked", async (t) => {
  const ph = await sim.project({ name: t.name });
  t.after(() => ph.dispose());
  const shop = openShop(ph);
  shop.buy("anna", []);
  await shop.close();

  await ph.events.expectNone("checkout_completed");
});

test("the new prices are shown", async (t) => {
  const ph = await sim.project({ name: t.name, flags: { "new-prices": "yearly" } });
  t.after(() => ph.dispose());
  const shop = openShop(ph);
  assert.equal(await shop.pricePage("anna"), "120 a year");
  await shop.close();
});
