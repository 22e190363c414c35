import { join } from "node:path";
import { PostHog } from "posthog-node";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../src/index.ts";
import { readTape } from "../../../src/lab/tapes/format/read.ts";
import { newFolder } from "../../support/folder.ts";
import { type Inspector, inspectorStage } from "./support.ts";

const stage = inspectorStage();
const folder = newFolder();
const sims: Sim[] = [];
afterEach(async () => {
  for (const it of sims.splice(0)) await it.close();
});

/** The service, as far as these tests go. */
async function far(options: SimOptions = {}): Promise<Sim> {
  const sim = await startSim(options);
  sims.push(sim);
  return sim;
}

const flagsOf = (sim: Sim, distinctId = "ada") =>
  fetch(`${sim.url}/flags/?v=2`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: "phc_sim_default", distinct_id: distinctId }),
  });

/** What the management API is asked; the tape has it with a limit of 5. */
const dashboardsOf = (sim: Sim, limit: number) =>
  fetch(`${sim.url}/api/projects/1/dashboards/?limit=${limit}`, {
    headers: { authorization: `Bearer ${sim.personalApiKey}` },
  });

/** A tape of an SDK's session, a flag request and two that are not asked for again. */
async function recorded(): Promise<string> {
  const upstream = await far();
  const file = join(folder, "checkout.tape.ndjson");
  const near = await far({ upstream: upstream.url, tape: file });
  const client = new PostHog("phc_sim_default", { host: near.url, flushAt: 1, flushInterval: 0 });
  client.capture({ distinctId: "ada", event: "signed_up" });
  await client.flush();
  await client.shutdown();
  await flagsOf(near);
  await dashboardsOf(near, 5);
  await fetch(`${near.url}/array/phc_sim_default/config`);
  await near.settle({ idleMs: 0 });
  await near.close();
  return file;
}

let file: string;
beforeAll(async () => {
  file = await recorded();
});

const numberOf = ({ page }: Inspector, label: string) =>
  page.locator(".tile").filter({ hasText: label }).first().locator(".tile-value");
const shows = (it: Inspector, label: string, value: number) =>
  expect.poll(() => numberOf(it, label).innerText()).toBe(String(value));

describe("no tape", () => {
  test("says who answers, and how to record and replay; a tape that is none is refused in words", async () => {
    await using it = await stage.open("#/tapes", { allow: /400/ });
    const { page } = it;
    await it.page.getByRole("heading", { name: "Mode: emulate" }).waitFor();
    await it.page.getByRole("heading", { name: "Record once, replay in every test" }).waitFor();
    await it.page.getByText("phx-sim replay checkout -- npm test").waitFor();
    await it.axe();
    await it.page.getByRole("link", { name: "On the tape" }).click();
    await it.page.getByRole("heading", { name: "No tape is loaded" }).waitFor();
    await it.go("#/tapes");
    await page.getByRole("button", { name: "Load a tape" }).click();
    const dialog = page.getByRole("dialog", { name: "Load a tape" });
    expect(await dialog.getByRole("button", { name: "Load", exact: true }).isDisabled()).toBe(true);
    await dialog.getByLabel("Tape").fill(join(folder, "nowhere.tape.ndjson"));
    await dialog.getByRole("button", { name: "Load", exact: true }).click();
    await dialog.getByRole("alert").filter({ hasText: "nowhere.tape.ndjson" }).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
  });
});

describe("a tape in force", () => {
  test("is loaded here; hits, a miss with where it differs, and what is unused are reported live", async () => {
    await using it = await stage.open("#/tapes");
    const { page, sim } = it;
    await page.getByRole("button", { name: "Load a tape" }).click();
    const dialog = page.getByRole("dialog", { name: "Load a tape" });
    await dialog.getByLabel("Tape").fill(file);
    await it.look("tapes-load");
    await it.axe();
    await dialog.getByRole("button", { name: "Load", exact: true }).click();
    await page.getByRole("heading", { name: "Mode: replay" }).waitFor();
    await shows(it, "exchanges", 3);
    await shows(it, "misses", 0);

    expect((await flagsOf(sim)).status).toBe(200);
    await shows(it, "hits", 1);
    expect((await dashboardsOf(sim, 50)).status).toBe(599);
    await shows(it, "misses", 1);
    await page.getByRole("heading", { name: "Not on the tape" }).waitFor();
    const differing = page.locator(".tapes-differing tbody tr").first();
    expect(await differing.innerText()).toMatch(/limit\s+5\s+50/);
    const unused = page.locator("section").filter({ hasText: "Not used yet" }).last();
    await unused.getByText("/array/").first().waitFor();
    await it.look("tapes-replay");
    await it.axe();

    await page
      .getByRole("link", { name: /^#\d+ GET \/api/ })
      .first()
      .click();
    const details = page.getByRole("complementary");
    await details.getByText("status 200").waitFor();
    await details.getByRole("treeitem").filter({ hasText: "results" }).first().waitFor();
    await it.look("tapes-exchange");
    await it.axe();
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "detached" });

    await it.go("#/requests");
    await page
      .getByRole("link", { name: /^tape checkout #\d+$/ })
      .first()
      .click();
    await details.getByText("status 200").waitFor();
  });

  test("is rewound and unloaded, each asked first", async () => {
    await using it = await stage.open("#/tapes", { sim: { tape: file } });
    const { page, sim } = it;
    await flagsOf(sim);
    await shows(it, "hits", 1);
    await page.getByRole("button", { name: "Rewind" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rewind" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Unload" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("heading", { name: "Mode: replay" }).waitFor();
    await page.getByRole("button", { name: "Unload" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Emulate" }).click();
    await page.getByRole("heading", { name: "Mode: emulate" }).waitFor();
    expect((await flagsOf(sim)).headers.get("x-phx-source")).toBe("emulator");
  });
});

describe("a recording", () => {
  test("is started, followed and stopped here; the tape has what passed", async () => {
    const upstream = await far();
    await using it = await stage.open("#/tapes");
    const { page, sim } = it;
    await page.getByRole("button", { name: "Record", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Record" });
    await dialog.getByText("Requests will reach the real service.").waitFor();
    await dialog.getByLabel("Upstream").fill(upstream.url);
    await it.look("tapes-record-dialog");
    await dialog.getByRole("button", { name: "Start recording" }).click();
    await page.getByRole("heading", { name: "Mode: record" }).waitFor();
    await flagsOf(sim);
    await shows(it, "forwarded", 1);
    await page.getByText("none", { exact: true }).waitFor();
    await it.look("tapes-recording");
    await it.axe();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
    await page.getByRole("heading", { name: "Mode: emulate" }).waitFor();
    await page.getByRole("heading", { name: "Last recording" }).waitFor();
  });

  test("of the options writes its tape; secrets are counted", async () => {
    const upstream = await far();
    const file = join(folder, "reported.tape.ndjson");
    await using it = await stage.open("#/tapes", { sim: { upstream: upstream.url, tape: file } });
    await fetch(`${it.sim.url}/api/projects/@current/`, {
      headers: { authorization: `Bearer ${upstream.personalApiKey}` },
    });
    await shows(it, "taped", 1);
    await expect.poll(async () => Number(await numberOf(it, "secrets removed").innerText())).toBeGreaterThan(0);
    await it.page.getByText("reported.tape.ndjson").waitFor();
    await it.page.getByRole("button", { name: "Stop" }).click();
    await it.page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
    await it.page.getByRole("heading", { name: "Last recording" }).waitFor();
    const routes: string[] = [];
    for await (const { route } of readTape(file)) routes.push(route);
    expect(routes).toHaveLength(1);
  });
});

test("looks well in each size", async () => {
  await using it = await stage.open("#/tapes", { height: 1400 });
  await it.look("tapes-empty-dark-1280");
  await it.sim.tapes.load(file, { onMiss: "emulate" });
  await dashboardsOf(it.sim, 50);
  await flagsOf(it.sim);
  await shows(it, "misses", 1);
  for (const [theme, width] of [
    ["light", 400],
    ["light", 2560],
  ] as const) {
    await it.go("#/tapes");
    await it.dress(width, theme);
    await shows(it, "misses", 1);
    await it.look(`tapes-${theme}-${width}`);
    await it.axe();
    await it.go("#/tapes/exchanges/2");
    await it.page.getByRole("complementary").getByText("status 200").waitFor();
    await it.look(`tapes-exchange-${theme}-${width}`);
    await it.axe();
  }
});
