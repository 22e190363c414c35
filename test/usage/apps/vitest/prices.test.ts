import { expect, flagCombinations, test } from "phx-sim/vitest";
import { openShop } from "../shop-app/shop.js";

const prices = flagCombinations({
  flags: {
    "new-prices": ["monthly", "yearly"],
    "free-shipping": [true, false],
    "hero-banner": ["photo", "video"],
  },
});

for (const { flags, title } of prices) {
  test.extend({ phxProject: { flags } })(`the price page with ${title}`, async ({ ph }) => {
    const shop = openShop(ph);
    const price = flags["new-prices"] === "yearly" ? "120 a year" : "12 a month";
    expect(await shop.pricePage("anna")).toBe(price);
    await shop.close();
  });
}
