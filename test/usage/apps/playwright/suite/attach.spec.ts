import { gzipSync } from "node:zlib";
import type { Page } from "@playwright/test";
import { attach, EscapeError } from "phx-sim/playwright";
import type { PostHog } from "posthog-js";
import { expect, test } from "../app/test.ts";

/** The page's own, inside functions that run there. */
declare const posthog: PostHog;
declare const navigator: {
  userAgent: string;
  webdriver: boolean;
  userAgentData?: { brands: { brand: string }[] };
  sendBeacon(url: string, body: Blob): boolean;
  serviceWorker: { register(url: string): Promise<unknown> };
};
declare const XMLHttpRequest: new () => {
  open(method: string, url: string): void;
  send(body: Uint8Array): void;
};
declare const Worker: new (url: string) => object;
declare const window: { open(url: string): unknown };

const cloud = "https://us.i.posthog.com";

test("posthog-js finds no driven browser", async ({ page }) => {
  await page.goto("/");
  const seen = await page.evaluate(() => {
    const { userAgent, webdriver } = navigator;
    return { userAgent, webdriver, brands: JSON.stringify(navigator.userAgentData?.brands) };
  });
  expect(seen).toEqual({
    userAgent: expect.stringMatching(/ Chrome\//),
    webdriver: false,
    brands: expect.not.stringContaining("Headless"),
  });
});

test.describe("undisguised", () => {
  test.use({ phxAttach: { disguise: false } });

  test("its bot filter captures nothing", async ({ page, ph }) => {
    await page.goto("/");
    expect(await page.evaluate(() => navigator.webdriver)).toBe(true);
    await page.getByRole("button").click();
    await expect(ph).not.toHaveCaptured("checkout_completed");
  });
});

test("bodies arrive byte for byte, however they are sent", async ({ page, ph }) => {
  await page.goto("/");
  const packed = (event: string) => [
    ...gzipSync(JSON.stringify({ api_key: "phc_any", event, distinct_id: "u1", properties: { text: "ä" } })),
  ];
  const ways = {
    fetch: packed("by fetch"),
    keepalive: packed("by keepalive"),
    beacon: packed("by beacon"),
    xhr: packed("by xhr"),
  };
  await page.evaluate(async (bodies) => {
    const url = "https://us.i.posthog.com/e/?compression=gzip-js&ver=1";
    const bytes = (it: number[]) => new Uint8Array(it);
    await fetch(url, { method: "POST", body: bytes(bodies.fetch) });
    await fetch(url, { method: "POST", body: new Blob([bytes(bodies.keepalive)]), keepalive: true });
    navigator.sendBeacon(url, new Blob([bytes(bodies.beacon)], { type: "text/plain" }));
    const xhr = new XMLHttpRequest();
    xhr.open("POST", url);
    xhr.send(bytes(bodies.xhr));
  }, ways);
  for (const way of Object.keys(ways)) await expect(ph).toHaveCaptured(`by ${way}`, { text: "ä" });
});

test("a body of two megabytes arrives", async ({ page, ph }) => {
  await page.goto("/");
  await page.evaluate(async () => {
    const text = "x".repeat(2_000_000);
    const body = new Blob([
      JSON.stringify({ api_key: "phc_any", event: "big", distinct_id: "u1", properties: { text } }),
    ]);
    await fetch("https://us.i.posthog.com/capture/", { method: "POST", body });
  });
  const { properties } = await ph.events.waitFor("big");
  expect(String(properties.text)).toHaveLength(2_000_000);
});

test("answers can be read across origins, and say what the sim says", async ({ page, ph }) => {
  await page.goto("/");
  const answers = await page.evaluate(async () => {
    const ask = async (path: string, init: RequestInit) => {
      const answer = await fetch(`https://us.i.posthog.com${path}`, init);
      return { status: answer.status, body: await answer.text() };
    };
    return Promise.all([
      ask("/e/", { method: "POST", body: "{" }),
      ask("/flags/?v=2", {
        method: "POST",
        body: '{"token":"phc_any","distinct_id":"u1"}',
        headers: { "content-type": "application/json" },
      }),
    ]);
  });
  expect(answers.map(({ status }) => status)).toEqual([400, 200]);
  expect(JSON.parse(answers[1]?.body ?? "")).toHaveProperty("flags");
  expect((await ph.requests.list()).map(({ target }) => target)).toContain("/flags/?v=2");
});

test("a fault of the sim is a fault of the page", async ({ page, ph }) => {
  await ph.faults.apply("connection-reset");
  await page.goto("/");
  const reach = () =>
    fetch("https://us.i.posthog.com/e/", { method: "POST", body: "{}" }).then(String, String);
  expect(await page.evaluate(reach)).toContain("Failed to fetch");
});

test("web workers and service workers are covered", async ({ page, ph, shop }) => {
  const capture = (event: string) =>
    `fetch("${cloud}/e/", { method: "POST", body: JSON.stringify({ api_key: "phc_any", event: "${event}", distinct_id: "w" }) })`;
  await page.context().route(`${shop.url}sw.js`, (route) =>
    route.fulfill({
      contentType: "text/javascript",
      body: `addEventListener("install", (event) => event.waitUntil(${capture("by service worker")}))`,
    }),
  );
  await page.goto("/");
  await page.evaluate((code) => {
    new Worker(URL.createObjectURL(new Blob([code])));
    return navigator.serviceWorker.register("/sw.js").then(() => {});
  }, capture("by web worker"));
  await expect(ph).toHaveCaptured("by web worker");
  await expect(ph).toHaveCaptured("by service worker");
});

test("a page that closes while it sends is no trouble", async ({ page, ph, context }) => {
  await ph.faults.apply({ match: { route: "capture" }, effect: { latency: 300 } });
  await page.goto("/");
  await page.getByRole("button").click();
  await page.close();
  const next = await context.newPage();
  await next.goto("/");
  await next.getByRole("button").click();
});

test("a popup and a second context", async ({ page, ph, browser, shop }) => {
  await page.goto("/");
  const [popup] = await Promise.all([page.waitForEvent("popup"), page.evaluate(() => void window.open("/"))]);
  await popup.getByRole("button").click();
  const other = await browser.newContext();
  const second = await other.newPage();
  await second.goto(shop.url);
  await second.getByRole("button").click();
  await expect(ph).toHaveCapturedTimes("checkout_completed", 2);
  await other.close();
});

test.describe("a reverse proxy of the app's own", () => {
  test.use({ phxAttach: { hosts: ["/ingest"] } });

  test("is rerouted, its path taken off", async ({ page, ph, shop }) => {
    await page.goto("/");
    await page.evaluate(() => {
      posthog.set_config({ api_host: "/ingest" });
      posthog.capture("by proxy");
    });
    await expect(ph).toHaveCaptured("by proxy");
    expect(shop.elsewhere.filter((it) => it.includes("/ingest"))).toEqual([]);
  });
});

test("an app that points at the sim, with another key, is the test's, too", async ({ page, ph, sim }) => {
  await page.goto("/");
  const init = {
    method: "POST",
    body: JSON.stringify({ api_key: sim.apiKey, event: "by another key", distinct_id: "u1" }),
  };
  await page.evaluate(([url, it]) => fetch(url, it).then(() => {}), [`${ph.host}/capture/`, init] as const);
  await expect(ph).toHaveCaptured("by another key");
});

test("what goes past the sim is reported", async ({ page, ph, browser, shop }) => {
  const other = await browser.newContext();
  const attachment = await attach(other, ph);
  const second = await other.newPage();
  await second.goto(shop.url);
  await second.evaluate(() => fetch("/past/e/?ver=1", { method: "POST", body: "{}" }).then(() => {}));
  expect(attachment.escapes()[0]).toMatchObject({
    method: "POST",
    url: expect.stringContaining("/past/e/"),
    page: shop.url,
  });
  expect(() => attachment.verify()).toThrow(EscapeError);
  await attachment.detach();
  await attachment.detach();
  await other.close();
  await page.goto("/");
});

test("an attachment of one's own takes the place of the fixture's", async ({ page, ph }) => {
  await ph.attach(page, { hosts: ["/ingest"] });
  await page.goto("/");
  await page.evaluate(() => {
    posthog.set_config({ api_host: "/ingest" });
    posthog.capture("by proxy");
  });
  await expect(ph).toHaveCaptured("by proxy");
});

test.describe("pages that tests share", () => {
  test.describe.configure({ mode: "serial" });
  let shared: Page;
  test.beforeAll(async ({ browser }) => {
    shared = await browser.newPage();
  });
  test.afterAll(() => shared.close());

  for (const time of ["first", "second"])
    test(`are attached to the ${time} test`, async ({ ph, shop }) => {
      await shared.goto(shop.url);
      await shared.getByRole("button").click();
      await expect(ph).toHaveCapturedTimes("checkout_completed", 1);
    });
});

test.describe("allowed escapes", () => {
  test.use({ phxAttach: { allowEscapes: ["/mine"] } });

  test("do not fail the test", async ({ page }) => {
    await page.goto("/");
    await page.evaluate(() => fetch("/mine/e/?ver=1", { method: "POST", body: "{}" }).then(() => {}));
  });
});

test("requests of the app that only resemble them are let be", async ({ page }) => {
  await page.goto("/");
  await page.evaluate(async () => {
    await fetch("/flags/de.svg");
    await fetch("/s/", { method: "POST", body: "q=shoes" });
    await fetch("/api/surveys");
    await fetch("/batch/", { method: "POST", body: '{"ids":[1]}' });
  });
});

test("each test sees its own traffic only", async ({ ph }) => {
  expect(await ph.events.list()).toEqual([]);
});

test("rules of a filter list block in the browser, and are listed", async ({ page, ph }) => {
  const attachment = await ph.attach(page, { adBlocked: ["||i.posthog.com/e/", "/past/*/x^"] });
  await page.goto("/");
  const send = (url: string) =>
    page.evaluate((it) => fetch(it, { method: "POST", body: "{}" }).then(() => "sent", String), url);
  expect(await send(`${cloud}/e/?ver=1`)).toMatch(/TypeError/);
  expect(await send("/past/e/x/?ver=1")).toMatch(/TypeError/);
  expect(await send(`${cloud}/flags/?v=2`)).toBe("sent");
  expect(attachment.blocked().map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toEqual(
    expect.arrayContaining(["POST /e/", "POST /past/e/x/"]),
  );
  expect(attachment.escapes()).toEqual([]);
  await ph.settle();
});

test("rules that are not supported are refused", async ({ page, ph }) => {
  for (const rule of ["@@||posthog.com^", "||posthog.com^$third-party", "##.ad", "", 1])
    await expect(ph.attach(page, { adBlocked: [rule as string] })).rejects.toThrow(
      /is not a rule that can be used/,
    );
});

test("what removes all routes does not remove the sim's", async ({ page, ph }) => {
  await page.context().unrouteAll();
  await page.goto("/");
  await page.getByRole("button").click();
  await expect(ph).toHaveCaptured("checkout_completed");
});

test("an offline context sends nothing", async ({ page, ph, context }) => {
  await page.goto("/");
  await context.setOffline(true);
  const answer = () =>
    fetch("https://us.i.posthog.com/flags/?v=2", { method: "POST", body: "{}" }).then(
      () => 0,
      () => 1,
    );
  expect(await page.evaluate(answer)).toBe(1);
  await context.setOffline(false);
  await page.evaluate(() => posthog.capture("online again"));
  await expect(ph).toHaveCaptured("online again");
});

test("an app that points at a sim by its default address is the test's", async ({ page, ph }) => {
  await page.goto("/");
  for (const host of ["127.0.0.1", "localhost"])
    await page.evaluate(
      ([at, body]) => fetch(`http://${at}:7490/capture/`, { method: "POST", body }).then(() => {}),
      [host, JSON.stringify({ api_key: "phc_sim_default", event: `by ${host}`, distinct_id: "u" })] as const,
    );
  await expect(ph).toHaveCapturedInOrder(["by 127.0.0.1", "by localhost"]);
});

test.describe("the test's own process", () => {
  test.use({ phxGuard: "reroute" });

  test("calls the real service, which is the sim", async ({ ph }) => {
    const body = JSON.stringify({ api_key: "phc_other", event: "ordered", distinct_id: "anna" });
    await fetch("https://us.i.posthog.com/capture/", { method: "POST", body });
    await expect(ph).toHaveCaptured("ordered");
  });
});
