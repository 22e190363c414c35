import { HttpResponse, http, passthrough } from "msw";
import { setupServer } from "msw/node";
import nock from "nock";
import { expect, test } from "phx-sim/vitest";
import { afterAll, beforeAll, inject } from "vitest";
import { openShop } from "../../shop-app/shop.js";

nock.restore();
const server = setupServer(http.all(`${inject("phxSimUrl")}/*`, () => passthrough()));
beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
afterAll(() => server.close());

test("MSW lets the SDK pass", async ({ ph }) => {
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  // Not awaited: MSW keeps a copy of the answer, and posthog-node waits until all copies are read.
  void shop.close();
  await expect(ph).toHaveCaptured("signup_completed");
});

test("MSW refuses everything else", async ({ ph }) => {
  server.resetHandlers(http.get("https://api.example.com/", () => HttpResponse.text("stub")));
  await expect(fetch(ph.host)).rejects.toThrow();
  expect(await (await fetch("https://api.example.com/")).text()).toBe("stub");
  await expect(ph).not.toHaveBeenContacted();
});
