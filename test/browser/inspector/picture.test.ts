import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import type { Sim } from "../../../src/index.ts";
import { inspectorStage } from "./support.ts";

const { open } = inspectorStage();

/** The README's picture of the page. */
const picture = join(import.meta.dirname, "../../../docs/images/inspector.png");

/** What a day in a web shop sends: a customer, a visitor who signs up, and two mistakes. */
async function visitShop({ url, apiKey }: Sim): Promise<void> {
  const posthog = new PostHog(apiKey, { host: url });
  const capture = (distinctId: string, event: string, properties: object = {}) =>
    posthog.capture({ distinctId, event, properties: { ...properties } });
  capture("customer-1001", "product_viewed", { sku: "fern-large", price: 39 });
  capture("customer-1001", "basket_opened", { items: 2 });
  await posthog.getFeatureFlag("hero-banner", "customer-1001");
  capture("visitor-7", "signup_started", { plan: "pro" });
  posthog.identify({ distinctId: "anna", properties: { plan: "pro", $anon_distinct_id: "visitor-7" } });
  capture("anna", "signup_completed", { plan: "pro" });
  await posthog.getFeatureFlag("new-checkout", "anna");
  capture("anna", "product_viewed", { sku: "atlas-of-trees", price: 24 });
  capture("customer-1001", "order_completed", { amount: 78, items: 2 });
  posthog.groupIdentify({ groupType: "company", groupKey: "acme", properties: { seats: 12 } });
  await posthog.flush();
  const batch = [
    { event: "checkout", properties: { amount: 24 } },
    { event: "$identify", distinct_id: "ben", properties: { $anon_distinct_id: "undefined" } },
  ];
  await fetch(`${url}/batch/`, { method: "POST", body: JSON.stringify({ api_key: apiKey, batch }) });
  capture("anna", "order_completed", { amount: 24, items: 1 });
  await posthog.shutdown();
}

test("the README's picture of the page", async () => {
  await using stage = await open("#/events", {
    sim: { scenario: "shop" },
    theme: "light",
    width: 1400,
    height: 560,
  });
  const { sim, page } = stage;
  await visitShop(sim);
  const dropped = page.locator(".list-window [role=row]").filter({ hasText: "missing_distinct_id" });
  await dropped.click();
  await page.getByText("Fix:").waitFor();
  await page
    .locator(".shell-status")
    .filter({ hasText: /12\s*kept/ })
    .waitFor();
  const image = await page.screenshot({ animations: "disabled" });
  expect(image.length).toBeLessThan(200_000);
  if (process.env.UPDATE_DOCS) {
    mkdirSync(join(picture, ".."), { recursive: true });
    writeFileSync(picture, image);
  }
});
