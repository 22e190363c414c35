import { expect, test } from "phx-sim/vitest";
import { openShop } from "../../shop-app/shop.js";

test("the flags of the config file's scenario", async ({ ph }) => {
  const shop = openShop(ph);
  expect(await shop.pricePage("anna")).toBe("120 a year");
  await shop.close();
  await expect(ph).toHaveServedFlag("new-prices", "yearly");
});
