import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import { type SimOptions, startSim } from "../../../src/index.ts";
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
  await page.getByRole("heading", { name: "No batch exports" }).waitFor();
  await it.look("exports-empty");
  await it.axe();

  await it.go("#/exports");
  await page.getByText("next due 2026-03-01 11:00:00: Hourly").waitFor();
  const sdk = new PostHog("phc_exports", { host: sim.url });
  for (const event of ["one", "two", "three"]) sdk.capture({ distinctId: "u1", event });
  await sdk.shutdown();
  await page.getByText(/frozen$/).waitFor();
  await page.getByRole("button", { name: "To the next due run" }).click();
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
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Freeze" }).click();
  await page.getByRole("button", { name: "Resume" }).waitFor();
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

test("older runs are a step away, and each step has an address", async () => {
  const [batchExport] = scenario.organizations?.[0]?.projects?.[0]?.batch_exports ?? [];
  const projects = [
    { name: "Shop", api_key: "phc_shop", batch_exports: [{ ...batchExport, interval: "every 5 minutes" as const }] },
  ];
  await using it = await stage.open("#/exports", {
    sim: { scenario: { ...scenario, organizations: [{ name: "Org", projects }] } },
    allow: /WebSocket|ERR_CONNECTION/,
  });
  const { page, sim } = it;
  const link = (name: string) => page.getByRole("link", { name, exact: true });
  await sim.clock.advance("17h");
  await link("Older runs").last().click();
  await page.getByRole("heading", { name: "Older runs" }).waitFor();
  await expect.poll(() => link("Older runs").count()).toBe(0);
  const runs = (await sim.exports.runs()).map(({ id }) => id).slice(200);
  await expect.poll(() => page.locator(".exports-table tbody tr").count()).toBe(runs.length);
  await it.look("exports-older");
  await it.axe();

  // through them by the keyboard; the address leads here again
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.reload();
  await page.locator(".split-details code").getByText(String(runs[1])).waitFor();
  await page.locator("tr[aria-current]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".split-details").waitFor({ state: "detached" });
  await link("Newest runs").click();
  await expect.poll(() => page.locator(".exports-table tbody tr").count()).toBe(200);

  // what was asked while the sim was away is no trouble once it is there again
  const port = Number(new URL(sim.url).port);
  await sim.close();
  await page.getByRole("button", { name: "Resume" }).click();
  const trouble = page.getByText("the sim does not respond");
  await trouble.waitFor();
  await using again = await startSim({ port });
  await page.getByRole("heading", { name: "No batch exports" }).waitFor();
  await trouble.waitFor({ state: "detached" });
  expect(again.url).toBe(sim.url);
});
