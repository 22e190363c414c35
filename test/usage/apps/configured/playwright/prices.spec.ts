import { expect, test } from "phx-sim/playwright";

test("the flags of the config file's scenario", async ({ ph }) => {
  expect((await ph.flags.get("new-prices")).variants).toEqual(["yearly"]);
});
