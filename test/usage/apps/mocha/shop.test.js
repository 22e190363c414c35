import assert from "node:assert/strict";
import { connectSim, startSim } from "phx-sim";
import { openShop } from "../shop-app/shop.js";

// mocha ends a test after 2 s: a shorter wait leaves time for the report
const waitMs = 1_000;

describe("the shop", () => {
  let sim, ph;

  before(async () => {
    const { PHX_SIM_URL: url } = process.env;
    sim = url ? await connectSim(url, { waitMs }) : await startSim({ waitMs });
  });
  after(() => sim.close());

  beforeEach(async function () {
    ph = await sim.project({ name: this.currentTest.fullTitle() });
  });
  afterEach(() => ph.dispose());

  it("tracks a signup", async () => {
    const shop = openShop(ph);
    shop.signUp("visitor-1", "anna", "pro");
    await shop.close();

    const event = await ph.events.waitFor("signup_completed", { plan: "pro" });
    assert.equal(event.distinct_id, "anna");
    await ph.events.waitForSequence(["signup_started", "signup_completed"]);
    assert.deepEqual(await ph.events.dropped(), []);
  });

  it("does not track an empty cart", async () => {
    const shop = openShop(ph);
    shop.buy("anna", []);
    await shop.close();

    await ph.events.expectNone("checkout_completed");
  });
});
