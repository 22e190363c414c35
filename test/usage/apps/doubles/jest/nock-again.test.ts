import { beforeAll, expect, test } from "@jest/globals";
import nock from "nock";
import { project } from "phx-sim/jest";
import { openShop } from "../../shop-app/shop.js";

// And leaves it so: other files of the process run after this one.
beforeAll(() => nock.disableNetConnect());

test("nock refuses every connection, but not this package's own", async () => {
  const ph = await project();
  await expect(fetch(ph.host)).rejects.toThrow();
  await expect(ph).not.toHaveBeenContacted();
});

test("nock lets the SDK pass", async () => {
  nock.enableNetConnect("127.0.0.1");
  const ph = await project();
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  await shop.close();
  await expect(ph).toHaveCaptured("signup_completed");
  nock.disableNetConnect();
});
