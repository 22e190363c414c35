import { expect, test } from "@jest/globals";
import { project } from "phx-sim/jest";
import { openPage } from "../shop-app/page.js";

test("a page tracks its visitor and asks for flags", async () => {
  const ph = await project({ flags: { "new-checkout": "test" } });
  const page = openPage(ph);
  page.visit("anna");
  expect(await page.button()).toBe("Pay now");

  await expect(ph).toHaveCaptured("page_seen", { title: "Mugs" }, { distinctId: "anna" });
  await expect(ph).toHaveIdentified("anna");
  await expect(ph).toHaveServedFlag("new-checkout", "test", { distinctId: "anna" });
  await expect(ph).toHaveNoDroppedEvents();
});
