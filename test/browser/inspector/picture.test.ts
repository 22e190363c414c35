import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SimOptions } from "../../../src/index.ts";
import { askForFlags, sellPlants, visitShop } from "./shop-day.ts";
import { inspectorStage, settling } from "./support.ts";

const { open } = inspectorStage();

const folder = join(import.meta.dirname, "../../../docs/images");

/** The pictures of the docs: what is opened, and what is on it. */
const pictures: readonly (readonly [name: string, hash: string, shows: string])[] = [
  ["inspector", "#/events?f=", "CheckoutError"],
  ["start", "#/start", "What is lost, and why"],
  ["exception", "#/events/17", "priceOf"],
  ["ai", "#/events/20", "Where is my order"],
  ["flag", "#/flags/product-page", "seen against expected"],
  ["dashboard", "#/dashboards/1", "dashed: not over yet"],
  ["journey", "#/people/customer-1001?part=journey&at=e14", "149.9"],
];

/** The shop, with an experiment. */
const scenario: SimOptions["scenario"] = {
  version: 1,
  extends: "shop",
  organizations: [
    {
      name: "Fern & Fable",
      projects: [
        { name: "Web shop", flags: { "product-page": { rollout: 60, variants: { control: 50, gallery: 50 } } } },
      ],
    },
  ],
};

test.each(pictures)("the picture %s", async (name, hash, shows) => {
  await using stage = await open("#/world", { sim: { scenario }, theme: "light", width: 1400, height: 760 });
  const { sim, page, go } = stage;
  const settled = settling(page);
  await visitShop(sim);
  if (name === "flag") await askForFlags(sim, 200);
  if (name === "dashboard") await sellPlants(sim, 42);
  await go(hash);
  await page.getByText(shows).first().waitFor();
  await settled();
  const image = await page.screenshot({ animations: "disabled" });
  expect(image.length).toBeLessThan(250_000);
  if (process.env.UPDATE_DOCS) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.png`), image);
  }
});
