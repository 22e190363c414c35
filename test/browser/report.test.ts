import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { reportPage, trafficOf } from "../../src/testing/run-report/report-client.ts";
import { chromiumOfFile } from "../support/chromium.ts";
import { newFolder } from "../support/folder.ts";
import { openSim } from "../support/sim.ts";
import { drop, tallyOf, verdict } from "../testing/run-report/facts.ts";

const shots = join(import.meta.dirname, "../../.bench/shots");
const hostile = `</script><script>globalThis.hacked = 1</script><img src=x onerror="globalThis.hacked = 2">\u202e`;

const browser = chromiumOfFile();

const folder = newFolder();

const { sim } = await openSim();

const send = (path: string, api_key: string, body: object) =>
  fetch(`${sim.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key, ...body }),
  });

/** A report of what the sim has, as a file, opened without a network. */
async function open(given: Parameters<typeof verdict>[0], width = 1280, theme: "dark" | "light" = "light") {
  const file = join(folder, "report.html");
  writeFileSync(file, await reportPage(await trafficOf(sim), verdict(given)));
  const page = await browser().newPage({ viewport: { width, height: 900 }, colorScheme: theme });
  const trouble: string[] = [];
  page.on("console", (it) => it.type() === "error" && trouble.push(it.text()));
  page.on("pageerror", (it) => trouble.push(it.message));
  page.on("request", (it) => it.url().startsWith("file:") || trouble.push(it.url()));
  await page.goto(pathToFileURL(file).href);
  return { page, trouble, bytes: statSync(file).size };
}

const isWithin = (page: Page) =>
  page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth");

describe("the report", () => {
  test("shows each test with its events, what was dropped and why, and finds them", async () => {
    const buys = await sim.project({ name: "shop › buys" });
    const loses = await sim.project({ name: `shop › ${hostile}` });
    await send("/capture/", buys.apiKey, { event: "bought", distinct_id: "ada", properties: { sku: "A-1" } });
    await send("/flags/?v=2", buys.apiKey, { distinct_id: "ada" });
    await send("/capture/", loses.apiKey, { event: hostile, properties: { [hostile]: hostile } });
    await send("/nowhere", loses.apiKey, {});
    const traffic = tallyOf(
      { project: buys.id, projectName: buys.name, kept: ["bought"] },
      { project: loses.id, projectName: loses.name, dropped: [drop(hostile)] },
    );
    const { page, trouble } = await open({
      traffic,
      failOn: ["dropped"],
      title: hostile,
      sections: [
        {
          name: "baseline",
          title: "Analytics diff",
          failed: true,
          summary: hostile,
          total: 0,
          items: [],
          left_out: 0,
          text: null,
        },
      ],
    });
    await expect.poll(() => page.locator("h1").innerText()).toContain("failed");
    expect(await page.locator("h2").allInnerTexts()).toEqual(
      expect.arrayContaining(["Next steps", "Dropped events (1)", "Analytics diff (0)", "Tests (2)"]),
    );
    // tests with mishaps come first, and are open
    const [first, second] = await page.locator(".report-test").all();
    expect(await first?.innerText()).toContain("missing_distinct_id");
    await second?.locator("summary h3").click();
    await page.getByRole("searchbox").fill("a-1");
    expect(await page.locator("output").innerText()).toMatch(/^1 of /);
    await page.locator(".report-entry summary").click();
    expect(await page.locator(".report-content").innerText()).toContain("sku");
    await page.getByRole("searchbox").fill("");
    await page.getByLabel("Outcome").selectOption("rejected");
    expect(await page.locator(".report-entry").count()).toBe(1);
    expect(await page.evaluate("globalThis.hacked")).toBeUndefined();
    expect(trouble).toEqual([]);
    await page.close();
  });

  test.each([
    [390, "dark"],
    [390, "light"],
    [1440, "dark"],
    [1440, "light"],
  ] as const)("fits %i px, %s", async (width, theme) => {
    const { page, trouble } = await open(
      { failOn: ["dropped"], traffic: tallyOf({ dropped: [drop("a".repeat(200))] }) },
      width,
      theme,
    );
    await page.locator("h1").waitFor();
    for (const it of await page.locator(".report-test > summary h3").all()) await it.click();
    await page.locator(".report-entry summary").first().click();
    expect(await isWithin(page)).toBe(true);
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: join(shots, `report-${width}-${theme}.png`), fullPage: true });
    expect(trouble).toEqual([]);
    await page.close();
  });

  test("an event of any other origin stays data: code that is not its own does not run", async () => {
    const { page } = await open({});
    const refused = await page.evaluate(`new Promise((done) => {
      addEventListener("securitypolicyviolation", ({ effectiveDirective }) => done(effectiveDirective));
      try { document.body.append(Object.assign(document.createElement("script"), { text: "globalThis.hacked = 3" })); }
      catch { done("trusted types") }
    })`);
    expect(refused).toMatch(/script-src|trusted/);
    expect(await page.evaluate("globalThis.hacked")).toBeUndefined();
    await page.close();
  });
});
