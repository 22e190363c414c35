import { PostHog } from "posthog-node";
import { describe, expect, test } from "vitest";
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
      ],
    },
  ],
};

describe("exports", () => {
  test("events are captured, the clock is moved on, the run's file is downloaded", async () => {
    await using it = await stage.open("#/exports", { sim: { scenario } });
    const { page } = it;
    const sdk = new PostHog("phc_exports", { host: it.sim.url });
    for (const event of ["one", "two", "three"]) sdk.capture({ distinctId: "u1", event });
    await sdk.shutdown();
    await page.getByText("stands still").waitFor();
    await page.getByRole("button", { name: "+1h" }).click();
    await page.getByRole("status").filter({ hasText: "a run completed" }).waitFor();
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
  });

  test("a wrong duration is said; freeze and run on", async () => {
    await using it = await stage.open("#/exports", { sim: { scenario }, theme: "light", allow: /400/ });
    const { page, sim } = it;
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
    await it.page.setViewportSize({ width: 2560, height: 1300 });
    await it.look("exports-2560");
  });

  test("without exports it says how to get one", async () => {
    await using it = await stage.open("#/exports");
    await it.page.getByRole("heading", { name: "There are no batch exports here" }).waitFor();
    await it.look("exports-empty");
    await it.axe();
  });
});
