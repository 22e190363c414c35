import { expect, test } from "phx-sim/vitest";
import { openPage } from "../shop-app/page.js";

const beta = test.extend({ phxProject: { flags: { "new-checkout": "test" } } });

beta("a page tracks its visitor and asks for flags", async ({ ph }) => {
  const page = openPage(ph);
  page.visit("anna");
  expect(await page.button()).toBe("Pay now");

  await expect(ph).toHaveCaptured("page_seen", { title: "Mugs" }, { distinctId: "anna" });
  await expect(ph).toHaveIdentified("anna");
  await expect(ph).toHaveServedFlag("new-checkout", "test", { distinctId: "anna" });
  await expect(ph).toHaveNoDroppedEvents();
});
