import nock from "nock";
import { expect, test } from "phx-sim/vitest";
import { openShop } from "../../shop-app/shop.js";

test("nock refuses every connection, but not this package's own", async ({ ph }) => {
  await expect(fetch(ph.host)).rejects.toThrow();
  await expect(ph).not.toHaveBeenContacted();
});

test("nock lets the SDK pass", async ({ ph }) => {
  nock.enableNetConnect("127.0.0.1");
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();
  await expect(ph).toHaveCaptured("signup_completed");
});
