import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import { inspectorStage } from "./support.ts";

const stage = inspectorStage();

test("a preset is applied here and felt by the SDK; the banner says so until it is cleared", async () => {
  await using it = await stage.open("#/faults", { sim: { scenario: "flags-gallery" }, allow: /400/ });
  const sdk = new PostHog(it.sim.apiKey, { host: it.sim.url });
  const { page } = it;
  await page.getByLabel("Limit (requests)").first().fill("1");
  await page.getByRole("button", { name: "Apply flags-down" }).click();
  const banner = page.getByRole("alert").filter({ hasText: "A fault is active" });
  await banner.getByText("flags-down").waitFor();
  await it.look("faults-active");
  await it.axe();
  expect(await sdk.getAllFlags("u1")).toEqual({});
  await page.getByText("used up", { exact: true }).waitFor();
  await page.getByRole("link", { name: "1 request affected" }).waitFor();
  await banner.waitFor({ state: "detached" });
  expect(Object.keys(await sdk.getAllFlags("u1")).length).toBeGreaterThan(0);
  await page.getByRole("button", { name: "Clear all" }).click();
  await page.getByRole("heading", { name: "No active faults" }).waitFor();
  expect(await it.sim.faults.list()).toEqual([]);
  await sdk.shutdown();

  // a rule of one's own; what is wrong with it is said
  await it.dress(1280, "light");
  await page.getByLabel("Effect").selectOption("status");
  for (const wrong of ["42", "teapot"]) {
    await page.getByRole("textbox", { name: "Status" }).fill(wrong);
    await page.getByRole("button", { name: "Apply the fault" }).click();
    await page.getByRole("alert").filter({ hasText: "/effect/status" }).filter({ hasText: wrong }).waitFor();
  }
  await page.getByRole("textbox", { name: "Status" }).fill("418");
  await page.getByLabel("Requests", { exact: true }).fill("/batch/");
  await page.getByRole("button", { name: "Apply the fault" }).click();
  await page.getByText("status 418 on /batch/").waitFor();
  await it.look("faults-rule-light");
  expect(await it.sim.faults.list()).toMatchObject([{ match: { route: "/batch/" }, effect: { status: 418 } }]);
  await it.dress(400, "light");
  await it.look("faults-400");
  await it.axe();
});
