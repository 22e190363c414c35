import { expect, test } from "@jest/globals";
import { project } from "phx-sim/jest";
import { openShop } from "../../shop-app/shop.js";

test("the flags of the config file's scenario", async () => {
  const ph = await project();
  const shop = openShop(ph);
  expect(await shop.pricePage("anna")).toBe("120 a year");
  await shop.close();
});
