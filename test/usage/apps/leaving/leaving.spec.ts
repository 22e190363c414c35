import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { test as base, expect } from "phx-sim/playwright";

/** `LEAVES=100` for the soak; a few in the usual run. */
const leaves = Number(process.env.LEAVES ?? 5);

const sdk = readFileSync(createRequire(import.meta.url).resolve("posthog-js/dist/array.full.js"));

const init = `posthog.init("phc_TheKeyOfTheRealProject0123456789abcdefghijk", {
  api_host: "https://us.i.posthog.com", capture_pageview: false, capture_pageleave: false, autocapture: false,
});`;

/** How the page gets posthog-js. */
const loaders = {
  bundle: `<script src="/posthog.js"></script><script>${init}</script>`,
  snippet: `<script>
    window.posthog = Object.assign([], {
      __SV: 1, _i: [],
      init(...args) { this._i.push(args.length < 3 ? [...args, "posthog"] : args); },
      capture(...args) { this.push(["capture", ...args]); },
    });
    ${init}
  </script><script async src="https://us-assets.i.posthog.com/static/array.js"></script>`,
};
type Loader = keyof typeof loaders;

const page = (
  loader: Loader,
  n: string,
) => `<!doctype html><title>Page ${n}</title><link rel="icon" href="data:,">
${loaders[loader]}
<button onclick="posthog.capture('left', { n: ${n}, how: 'batch' })">Batch</button>
<a href="/${loader}/${Number(n) + 1}" onclick="posthog.capture('left', { n: ${n}, how: 'link' }, { send_instantly: true })">Next</a>
<button id="route" onclick="posthog.capture('left', { n: ${n}, how: 'spa' }); history.pushState({}, '', '/${loader}/spa-${n}')">Route</button>`;

const test = base.extend<object, { app: string }>({
  app: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern which fixtures are needed
    async ({}, use) => {
      const server = createServer(({ url = "/" }, response) => {
        const [, loader, n = "0"] = url.split("/");
        if (url === "/posthog.js") response.writeHead(200, { "content-type": "text/javascript" }).end(sdk);
        else
          response
            .writeHead(200, {
              "content-type": "text/html",
              ...(url.includes("csp") && { "content-security-policy": csp }),
            })
            .end(page(loader as Loader, /\d+/.exec(n)?.[0] ?? "0"));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      server.closeAllConnections();
      server.close();
    },
    { scope: "worker" },
  ],
});

const csp = "default-src 'self' 'unsafe-inline' https://*.i.posthog.com";

const isReady = () =>
  (globalThis as unknown as { posthog?: { __loaded?: boolean } }).posthog?.__loaded === true;

for (const loader of Object.keys(loaders) as Loader[])
  test.describe(`posthog-js by ${loader}`, () => {
    test("what a page sends while it is left arrives", async ({ page, ph, app, context }) => {
      for (let n = 0; n < leaves; n++) {
        await page.goto(`${app}/${loader}/${n}`);
        await page.waitForFunction(isReady);
        await page.getByText("Batch").click();
        if (n % 3 === 0) await page.reload();
        if (n % 3 === 1) await page.goto(`${app}/${loader}/${n}?other`);
        await page.waitForFunction(isReady);
        await page.getByText("Next").click();
        await page.waitForURL(`${app}/${loader}/${n + 1}`);
        await page.waitForFunction(isReady);
        await page.getByText("Route").click();
        if (n % 2 === 0) {
          await page.close({ runBeforeUnload: true });
          page = await context.newPage();
        }
      }
      for (const how of ["batch", "link"]) await expect(ph).toHaveCapturedTimes("left", leaves, { how });
      // Chromium itself loses some beacons of tabs that are closed
      const others = await ph.events.list({ where: { properties: { how: "spa" } }, limit: 1000 });
      expect(others.length).toBeGreaterThanOrEqual(Math.floor(leaves / 2));
    });
  });

test("a page whose policy allows the service only", async ({ page, ph, app }) => {
  await page.goto(`${app}/bundle/1?csp`);
  await page.waitForFunction(isReady);
  await page.getByText("Batch").click();
  await page.goto(`${app}/bundle/2?csp`);
  await page.waitForFunction(isReady);
  await expect(ph).toHaveCaptured("left", { n: 1 });
});
