import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { inspectorStage } from "./support.ts";

const stage = inspectorStage();

const grid = (page: Page) => page.getByRole("grid").first();
/** The row that the grid says it is at, and its name. */
const active = (page: Page) =>
  grid(page).evaluate((it) => document.getElementById(it.getAttribute("aria-activedescendant"))?.textContent ?? "");
const scrollTop = (page: Page) => grid(page).evaluate((it) => it.scrollTop);

test("a list is moved in by the keys, keeps its place, and lies below its details where there is little room", async () => {
  await using it = await stage.open("#/events", { width: 700 });
  const { page, sim } = it;
  const send = (from: number, to: number) =>
    fetch(`${sim.url}/batch/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        api_key: sim.apiKey,
        batch: Array.from({ length: to - from }, (_, i) => ({ event: `event-${from + i}`, distinct_id: "u" })),
      }),
    });
  await send(0, 400);
  await expect.poll(() => grid(page).getAttribute("aria-rowcount")).toMatch(/^40[01]$/);
  expect(await page.locator("[role=row]").count()).toBeLessThan(80);
  await grid(page).focus();
  await page.keyboard.press("ArrowDown");
  expect(await active(page)).toContain("event-399");
  await page.keyboard.press("ArrowDown");
  expect(await active(page)).toContain("event-398");
  await page.keyboard.press("End");
  await expect.poll(() => active(page)).toContain("event-0");
  await page.keyboard.press("PageUp");
  const before = await active(page);
  const top = await scrollTop(page);
  // what comes at the top moves nothing of what is read
  await send(400, 450);
  await expect.poll(() => grid(page).getAttribute("aria-rowcount")).toMatch(/^45[01]$/);
  expect(await active(page)).toBe(before);
  expect(await scrollTop(page)).toBe(top + 50 * 28);
  await it.axe();

  await page.keyboard.press("Enter");
  const back = page.getByRole("button", { name: "Back" });
  await back.waitFor();
  expect(await page.getByRole("grid").count()).toBe(0);
  await it.look("parts-details-700-dark");
  await back.click();
  await page.getByRole("grid").waitFor();
  expect(await scrollTop(page)).toBe(top + 50 * 28);
  await page.keyboard.press("Home");
  await expect.poll(() => active(page)).toContain("event-449");
  expect(await scrollTop(page)).toBe(0);
});

test("the details are as wide as they were left", async () => {
  await using it = await stage.open("#/events", { width: 1600 });
  const { page, sim } = it;
  await fetch(`${sim.url}/i/v0/e/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: sim.apiKey, event: "x", distinct_id: "u" }),
  });
  await it.go("#/events/1");
  const divider = page.getByRole("separator", { name: "Width of the details" });
  const share = () => divider.getAttribute("aria-valuenow");
  expect(await share()).toBe("45");
  await divider.focus();
  for (const _ of "123") await page.keyboard.press("ArrowLeft");
  expect(await share()).toBe("51");
  await page.reload();
  await divider.waitFor();
  expect(await share()).toBe("51");
  await divider.dblclick();
  expect(await share()).toBe("45");
});

// biome-ignore lint/suspicious/noExplicitAny: the browser's, where these functions run
declare const document: any;
