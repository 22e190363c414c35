import { expect, test } from "phx-sim/vitest";

test("the suite's own scenario comes before the config file's", async ({ ph }) => {
  expect((await ph.flags.get("new-prices")).variants).toEqual(["monthly"]);
});
