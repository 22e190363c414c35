import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { http, passthrough } from "msw";
import { setupServer } from "msw/node";
import { project } from "phx-sim/jest";
import { openShop } from "../../shop-app/shop.js";

const server = setupServer(http.all(`${process.env.PHX_SIM_URL}/*`, () => passthrough()));
beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
afterAll(() => server.close());

test("MSW lets the SDK pass", async () => {
  const ph = await project();
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "pro");
  // Not awaited: MSW keeps a copy of the answer, and posthog-node waits until all copies are read.
  void shop.close();
  await expect(ph).toHaveCaptured("signup_completed");
});

test("MSW refuses everything else", async () => {
  server.resetHandlers(http.get("https://api.example.com/", () => new Response("stub")));
  const ph = await project();
  await expect(fetch(ph.host)).rejects.toThrow();
  expect(await (await fetch("https://api.example.com/")).text()).toBe("stub");
  await expect(ph).not.toHaveBeenContacted();
});
