import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { visitShop } from "./shop-day.ts";
import { inspectorStage } from "./support.ts";

const { open } = inspectorStage();

const folder = join(import.meta.dirname, "../../../docs/images");

/** The pictures of the docs: what is opened, and what is on it. */
const pictures: readonly (readonly [name: string, hash: string, shows: string])[] = [
  ["inspector", "#/events?f=", "CheckoutError"],
  ["start", "#/start", "What is lost, and why"],
  ["exception", "#/events?f=event:$exception", "CheckoutError"],
  ["ai", "#/events?f=event:$ai_generation", "gpt-4o-mini"],
  ["flag", "#/flags/new-checkout", "Who gets it"],
  ["journey", "#/people/customer-1001?part=journey", "order_completed"],
];
const withDetails = new Set(["exception", "ai"]);

test.each(pictures)("the picture %s", async (name, hash, shows) => {
  await using stage = await open("#/world", {
    sim: { scenario: "shop" },
    theme: "light",
    width: 1400,
    height: 760,
  });
  const { sim, page, go } = stage;
  await visitShop(sim);
  await go(hash);
  if (withDetails.has(name)) await page.locator(".list-window [role=row]").first().click();
  await page.getByText(shows).first().waitFor();
  await page.waitForLoadState("networkidle");
  const image = await page.screenshot({ animations: "disabled" });
  expect(image.length).toBeLessThan(250_000);
  if (process.env.UPDATE_DOCS) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.png`), image);
  }
});
