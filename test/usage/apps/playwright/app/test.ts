import { test as base } from "phx-sim/playwright";
import { serveShop } from "./serve.ts";

/** The suite's own fixture: the app, where its `baseURL` says. */
export const test = base.extend<object, { shop: Awaited<ReturnType<typeof serveShop>> }>({
  shop: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern which fixtures are needed
    async ({}, use) => {
      const shop = await serveShop();
      await use(shop);
      await shop.close();
    },
    { scope: "worker" },
  ],
  baseURL: ({ shop }, use) => use(shop.url),
});
export { expect } from "phx-sim/playwright";
