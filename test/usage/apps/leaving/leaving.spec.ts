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
        const { searchParams } = new URL(url, "http://app");
        const [script, worker] = ["page", "worker"].map((it) => searchParams.get(it));
        if (worker !== undefined && worker !== null)
          response.writeHead(200, { "content-type": "text/javascript" }).end(worker);
        else if (script !== undefined && script !== null)
          response
            .writeHead(200, {
              "content-type": "text/html",
              ...(searchParams.has("csp") && { "content-security-policy": csp }),
            })
            .end(`<!doctype html><link rel="icon" href="data:,"><script>${script}</script>`);
        else if (url.startsWith("/past?"))
          response
            .writeHead(307, { location: `https://us.i.posthog.com/e/${url.slice("/past".length)}` })
            .end();
        else if (url === "/posthog.js")
          response.writeHead(200, { "content-type": "text/javascript" }).end(sdk);
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

const event = `JSON.stringify({ api_key: "phc_TheKeyOfTheRealProject0123456789abcdefghijk", event: "left", distinct_id: "u" })`;
const to = "https://us.i.posthog.com/e/?ver=1";
const whenLeft = (code: string) => `addEventListener("pagehide", () => { ${code} })`;
const asJson = `headers: { "content-type": "application/json" }`;

/** What a page may do, and no route of Playwright sees; or what Chromium holds for its preflight. */
const ways: Readonly<Record<string, string>> = {
  "a beacon of JSON": whenLeft(
    `navigator.sendBeacon("${to}", new Blob([${event}], { type: "application/json" }))`,
  ),
  "a fetch of JSON": whenLeft(
    `fetch("${to}", { method: "POST", keepalive: true, body: ${event}, ${asJson} })`,
  ),
  "a Request": whenLeft(
    `fetch(new Request("${to}", { method: "POST", keepalive: true, body: ${event}, ${asJson} }))`,
  ),
  "a host with the dot of the root": whenLeft(
    `navigator.sendBeacon("https://us.i.posthog.com./e/?ver=1", ${event})`,
  ),
  "an image": whenLeft(`new Image().src = "${to}&data=" + btoa(${event})`),
  "a redirect": whenLeft(`navigator.sendBeacon("/past?ver=1", ${event})`),
  "a fetch for later": `if ("fetchLater" in globalThis) fetchLater("${to}", { method: "POST", body: ${event} });
    else addEventListener("pagehide", () => navigator.sendBeacon("${to}", ${event}))`,
};

for (const [way, script] of Object.entries(ways))
  test(`what no route sees arrives: ${way}`, async ({ page, ph, app }) => {
    await page.goto(`${app}/?${new URLSearchParams({ page: script })}`);
    await page.goto(`${app}/?page=`);
    await expect(ph).toHaveCaptured("left");
  });

test.describe("a path of the app's own", () => {
  test.use({ phxAttach: { hosts: ["/own"] } });

  for (const way of ["a beacon of JSON", "a fetch of JSON", "a Request"])
    test(`arrives: ${way}`, async ({ page, ph, app }) => {
      const script = (ways[way] ?? "").replace(to, `${app}/own/e/?ver=1`);
      await page.goto(`${app}/?${new URLSearchParams({ page: script })}`);
      await page.goto(`${app}/?page=`);
      await expect(ph).toHaveCaptured("left");
    });
});

test("the only request of a page whose policy allows the service only", async ({ page, ph, app }) => {
  const script = whenLeft(`navigator.sendBeacon("${to}", ${event})`);
  await page.goto(`${app}/?${new URLSearchParams({ page: script, csp: "" })}`);
  await page.goto(`${app}/?page=`);
  await expect(ph).toHaveCaptured("left");
});

test("a page of a public address", async ({ page, context, ph, app }) => {
  const body = `<script>${whenLeft(`navigator.sendBeacon("${to}", ${event})`)}</script>`;
  await context.route("https://shop.example/**", (it) => it.fulfill({ contentType: "text/html", body }));
  await page.goto("https://shop.example/");
  await page.goto(`${app}/?page=`);
  await expect(ph).toHaveCaptured("left");
});

test("a browser that the test launches itself", async ({ playwright, ph, app }) => {
  const browser = await playwright.chromium.launch();
  const page = await browser.newPage();
  await page.goto(
    `${app}/?${new URLSearchParams({ page: `fetch("${to}", { method: "POST", body: ${event} })` })}`,
  );
  await expect(ph).toHaveCaptured("left");
  await browser.close();
});

test("a shared worker, which no route sees", async ({ page, ph, app }) => {
  const script = `new SharedWorker("/?worker=" + encodeURIComponent(\`fetch("${to}", { method: "POST", body: '\${${event}}' })\`))`;
  await page.goto(`${app}/?${new URLSearchParams({ page: script })}`);
  await expect(ph).toHaveCaptured("left");
});

test("a redirect of a request that is not left is no escape", async ({ page, ph, app }) => {
  await page.goto(
    `${app}/?${new URLSearchParams({ page: `fetch("/past?ver=1", { method: "POST", body: ${event} })` })}`,
  );
  await expect(ph).toHaveCaptured("left");
});

test("what a service worker passes on is no escape", async ({ page, ph, app }) => {
  const worker = `addEventListener("activate", (it) => it.waitUntil(clients.claim()));
    addEventListener("fetch", (it) => it.respondWith(fetch(it.request)))`;
  const script = `(async () => {
    navigator.serviceWorker.register("/?worker=" + encodeURIComponent(\`${worker}\`), { scope: "/" });
    if (!navigator.serviceWorker.controller)
      await new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve));
    await fetch("${to}", { method: "POST", body: ${event} });
  })()`;
  await page.goto(`${app}/?${new URLSearchParams({ page: script })}`);
  await expect(ph).toHaveCaptured("left");
});
