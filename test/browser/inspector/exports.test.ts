import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import type { SimOptions } from "../../../src/index.ts";
import { inspectorStage } from "./support.ts";

const stage = inspectorStage();

const scenario: SimOptions["scenario"] = {
  version: 1,
  personal_api_keys: [{ key: "phx_test", scopes: ["*"] }],
  clock: { now: "2026-03-01T10:30:00Z", frozen: true },
  organizations: [
    {
      name: "Org",
      projects: [
        {
          id: 3,
          name: "Shop",
          api_key: "phc_exports",
          batch_exports: [
            {
              name: "Hourly",
              interval: "hour",
              destination: {
                type: "S3",
                config: {
                  bucket_name: "b",
                  region: "us-east-1",
                  prefix: "p",
                  aws_access_key_id: "a",
                  aws_secret_access_key: "s",
                },
              },
            },
          ],
        },
        { id: 4, name: "Empty", api_key: "phc_empty" },
      ],
    },
  ],
};

test("events are captured, the clock is moved on, the run's file is downloaded", async () => {
  await using it = await stage.open("#/exports?project=4", { sim: { scenario }, allow: /400/ });
  const { page, sim } = it;
  await page.getByRole("heading", { name: "There are no batch exports here" }).waitFor();
  await it.look("exports-empty");
  await it.axe();

  await it.go("#/exports");
  await page.getByText("next due 2026-03-01 11:00:00: Hourly").waitFor();
  const sdk = new PostHog("phc_exports", { host: sim.url });
  for (const event of ["one", "two", "three"]) sdk.capture({ distinctId: "u1", event });
  await sdk.shutdown();
  await page.getByText("stands still").waitFor();
  await page.getByRole("button", { name: "To what is due next" }).click();
  await page.getByRole("status").filter({ hasText: "a run completed" }).waitFor();
  expect((await sim.info()).clock).toMatchObject({ now: "2026-03-01T11:00:00.000Z" });
  await it.look("exports-advanced");
  await page
    .getByRole("link", { name: /Completed/ })
    .first()
    .click();
  await page.getByRole("heading", { name: "Run of Hourly" }).waitFor();
  const saved = page.waitForEvent("download");
  await page
    .getByRole("button", { name: /^Download / })
    .first()
    .click();
  expect((await saved).suggestedFilename()).toMatch(/jsonl|parquet/);
  await it.look("exports-run");
  await it.axe();

  // a wrong duration is said; freeze and run on
  await it.dress(1280, "light");
  await page.getByLabel("Advance by").fill("soon");
  await page.getByRole("button", { name: "Advance", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "duration" }).waitFor();
  await page.getByRole("button", { name: "Run on" }).click();
  await page.getByRole("button", { name: "Freeze" }).click();
  await page.getByRole("button", { name: "Run on" }).waitFor();
  expect((await sim.info()).clock).toMatchObject({ frozen: true });
  await it.look("exports-light");
  await it.axe();
});

test("runs in every status, narrow and wide", async () => {
  await using it = await stage.open("#/exports", { sim: { scenario: "exports" }, width: 400 });
  await it.page.getByRole("heading", { name: "Runs" }).waitFor();
  await it.look("exports-400");
  await it.axe();
  await it.dress(2560, "dark");
  await it.look("exports-2560");
});
