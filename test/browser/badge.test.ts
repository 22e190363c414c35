import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";
import { chromiumOfFile } from "../support/chromium.ts";
import { openPageServer, type PageServer } from "./page-server.ts";

const example = (name: string) => readFileSync(join(import.meta.dirname, "../usage/apps/badge", name), "utf8");
const scriptText = example("badge.html");
const policyText = example("policy.txt");

const browser = chromiumOfFile();
let server: PageServer;
beforeAll(async () => {
  server = await openPageServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

interface Stage extends AsyncDisposable {
  sim: Sim;
  page: Page;
  context: BrowserContext;
  complaints: string[];
}

/** An app on another port, with the badge in it. The closed shadow root is opened, so that the test sees into it. */
async function open(attributes = "", head = (_: Sim) => ""): Promise<Stage> {
  const sim = await startSim();
  const context = await browser().newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  await page.addInitScript(
    "const real = Element.prototype.attachShadow; Element.prototype.attachShadow = function (it) { window.badgeMode = it.mode; return real.call(this, { ...it, mode: 'open' }); };",
  );
  server.show(`${head(sim)}<script src="${sim.url}/__sim/badge.js" async ${attributes}></script>`);
  return {
    sim,
    page,
    context,
    complaints,
    async [Symbol.asyncDispose]() {
      await context.close();
      await sim.close();
    },
  };
}

const send = (sim: Sim, body: object) =>
  fetch(`${sim.url}/batch/`, { method: "POST", body: JSON.stringify({ api_key: sim.apiKey, ...body }) });

test("the badge follows what arrives, and leads to the inspector", async () => {
  await using it = await open('data-corner="top-left"');
  const { sim, page, complaints } = it;
  await page.goto(server.url);
  await page.getByText("0 events").waitFor();
  const before = await page.evaluate("Object.keys(window).filter((it) => it !== 'badgeMode').length");
  await send(sim, { batch: [{ event: "a", distinct_id: "u" }, { event: "<img src=x onerror=alert(1)>" }] });
  await page.getByText("2 events").waitFor();
  await page.getByText("1 dropped").waitFor();
  await page.getByText("missing_distinct_id").waitFor();
  expect(await page.evaluate("Object.keys(window).filter((it) => it !== 'badgeMode').length")).toBe(before);
  expect(await page.evaluate("window.badgeMode")).toBe("closed");
  expect(await page.evaluate("document.cookie + JSON.stringify({ ...localStorage })")).toBe("{}");
  const box = await page.locator("phx-sim-badge section").boundingBox();
  expect([Math.round(box?.x ?? 0), Math.round(box?.y ?? 0)]).toEqual([12, 12]);

  const [inspector] = await Promise.all([
    it.context.waitForEvent("page"),
    page.getByRole("link", { name: "2 events" }).click(),
  ]);
  await inspector.getByText("missing_distinct_id").first().waitFor();
  expect(inspector.url()).toBe(`${sim.url}/__sim/#/start`);
  expect(complaints).toEqual([]);
});

test("folded, it stays so, and the app does not see the clicks", async () => {
  await using it = await open();
  const { page, complaints } = it;
  await page.goto(server.url);
  await page.evaluate("window.clicks = 0; document.addEventListener('click', () => window.clicks++)");
  await page.getByRole("button", { name: "Fold the phx-sim badge" }).click();
  await page.getByText("0 events").waitFor({ state: "hidden" });
  expect(await page.evaluate("window.clicks")).toBe(0);
  await page.reload();
  await page.getByRole("button", { name: "Show the phx-sim badge" }).focus();
  expect(await page.getByText("0 events").isVisible()).toBe(false);
  await page.keyboard.press("Enter");
  await page.getByText("0 events").waitFor();
  expect(await page.evaluate("localStorage.length")).toBe(0);
  expect(complaints).toEqual([]);
});

test("two lines of a strict policy are enough, and a second script adds nothing", async () => {
  const at = (text: string, { url }: Sim) => text.trim().replaceAll("http://localhost:7490", url);
  // as the docs have them
  const policy = (sim: Sim) =>
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ${at(policyText, sim)}; require-trusted-types-for 'script'; trusted-types 'none'">
     ${at(scriptText, sim)}`;
  await using it = await open("", policy);
  await it.page.goto(server.url);
  await it.page.getByText("0 events").waitFor();
  expect(await it.page.locator("phx-sim-badge").count()).toBe(1);
  // a framework replaces everything
  await it.page.evaluate("document.querySelector('phx-sim-badge').remove()");
  await it.page.getByText("0 events").waitFor();
  expect(it.complaints).toEqual([]);
});

test("it goes with the sim, and does not come to a page of another name", async () => {
  await using it = await open();
  const { sim, page } = it;
  await page.goto(server.url);
  await page.getByText("0 events").waitFor();
  await sim.close();
  await page.locator("phx-sim-badge").waitFor({ state: "detached" });

  await using _ = await open();
  // a page of a name in the network
  const foreign = await browser().newPage();
  // the load event waits for the script
  await foreign.goto(server.url.replace("127.0.0.1", "shop.test"));
  expect(await foreign.getByRole("heading", { name: "Shop" }).count()).toBe(1);
  expect(await foreign.locator("phx-sim-badge").count()).toBe(0);
});
