import { expect, test } from "vitest";
import { inspectorStage } from "./support.ts";

const stage = inspectorStage();

test("after a reload figures are those of everything that arrived: of a filter, of a project, and as more comes", async () => {
  await using it = await stage.open("#/events");
  const { sim, page } = it;
  const other = await sim.project();
  const post = (path: string, body: unknown) =>
    fetch(`${sim.url}${path}`, { method: "POST", body: JSON.stringify(body) });
  const send = (api_key: string, count: number, event: string) =>
    post("/batch/", {
      api_key,
      batch: Array.from({ length: count }, (_, i) => ({
        event: i % 10 === 0 ? "" : event,
        distinct_id: `user-${i % 5}`,
        properties: { i },
      })),
    });
  // the problems are older than what the page reads, as are the decisions
  for (let i = 0; i < 34; i++) await post("/flags/?v=2", { token: sim.apiKey, distinct_id: `user-${i}` });
  await send(sim.apiKey, 2_000, "viewed");
  await send(other.apiKey, 1_000, "clicked");
  for (let i = 0; i < 200; i++) await post("/capture/", { api_key: sim.apiKey, event: "seen", distinct_id: "u" });
  await post("/batch/", {
    api_key: sim.apiKey,
    batch: Array.from({ length: 800 }, () => ({ event: "seen", distinct_id: "u" })),
  });

  const total = page.locator(".events-total");
  const isTotal = (text: string) => total.filter({ hasText: new RegExp(`^${text}$`) }).waitFor();
  const chip = (text: string) => page.locator(".events-histogram").getByRole("button", { name: text }).waitFor();
  await page.reload();
  await isTotal("4,000 events");
  await chip("3,700 kept");
  await chip("300 dropped");
  await it.look("figures-events-dark");

  await it.go("#/events?f=is%3Adropped");
  await isTotal("300 events");
  await it.go(`#/events?f=${encodeURIComponent("prop.i:<100")}`);
  await isTotal("200 events");
  await it.go(`#/events?project=${other.id}`);
  await isTotal("1,000 events");
  await page.locator(".shell-totals").getByText("900 kept").waitFor();
  await send(other.apiKey, 10, "clicked");
  await isTotal("1,010 events");
  await page.locator(".shell-totals").getByText("909 kept").waitFor();

  await it.go(`#/requests?project=${sim.projectId}`);
  await page.getByText("236 requests", { exact: true }).waitFor();

  await it.go("#/start");
  await page.reload();
  await page.getByText("What is lost, and why").waitFor();
  await page.getByText("301 events", { exact: true }).waitFor();
  await page.getByRole("row", { name: /^viewed 1,800/ }).waitFor();
  await it.dress(1280, "light");
  await it.look("figures-start-light");

  await it.go(`#/flags?project=${sim.projectId}`);
  await page
    .getByRole("row", { name: /beta-feature/ })
    .getByText("×34")
    .waitFor();
  expect(await page.getByText("no decisions").count()).toBe(0);
  await it.look("figures-flags-light");
  await it.go(`#/flags/beta-feature?project=${sim.projectId}&tab=decisions`);
  await page.getByRole("button", { name: /user-33/ }).waitFor();
});
