import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { PostHog } from "posthog-node";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Sim } from "../../../src/index.ts";
import { type Inspector, inspectorStage } from "./support.ts";

const stage = inspectorStage();

const post = (sim: Sim, path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(sim.url + path, { method: "POST", body, headers });

const postV1 = (sim: Sim, items: { event: string; distinct_id?: string }[]) => {
  const time = new Date().toISOString();
  const batch = items.map((it, i) => ({
    uuid: `018f3b6e-0000-7000-8000-00000000000${i}`,
    distinct_id: "ada",
    timestamp: time,
    properties: {},
    ...it,
  }));
  return post(sim, "/i/v1/analytics/events", JSON.stringify({ created_at: time, batch }), {
    authorization: `Bearer ${sim.apiKey}`,
    "content-type": "application/json",
    "posthog-sdk-info": "test/1",
    "posthog-attempt": "1",
    "posthog-request-id": "018f3b6e-0000-7000-8000-000000000009",
    "posthog-request-timestamp": time,
  });
};

/** What an app sends in a day, and what goes wrong with it. */
async function traffic(sim: Sim): Promise<void> {
  const client = new PostHog(sim.apiKey, { host: sim.url, flushAt: 2, flushInterval: 0 });
  client.capture({ distinctId: "ada", event: "signed_up", properties: { plan: "pro", $set: { name: "Ada" } } });
  client.capture({ distinctId: "ada", event: "paid", properties: { amount: 12.5 } });
  await client.flush();
  await client.getAllFlags("ada");
  const stranger = new PostHog("phc_of_nobody", { host: sim.url, flushAt: 1, fetchRetryCount: 0 });
  stranger.on("error", () => {});
  stranger.capture({ distinctId: "bob", event: "lost" });
  await stranger.flush().catch(() => {});
  await post(sim, "/batch/", gzipSync(mixed(sim)), { "content-encoding": "gzip", "x-test-id": "worker-1" });
  await post(sim, "/batch/", Buffer.from("1f8b0011223344", "hex"), { "content-encoding": "gzip" });
  await fetch(`${sim.url}/api/projcts/1/dashboards/?limit=5`, {
    headers: { authorization: "Bearer phx_a_secret_of_somebody" },
  });
  await sim.faults.apply("flags-down", { times: 1 });
  await post(sim, "/flags/?v=2", JSON.stringify({ api_key: sim.apiKey, distinct_id: "ada" }));
  await Promise.all([client.shutdown(), stranger.shutdown().catch(() => {})]);
}

const mixed = (sim: Sim): string =>
  JSON.stringify({ api_key: sim.apiKey, batch: [{ event: "seen", distinct_id: "ada" }, { distinct_id: "ada" }] });

const grid = ({ page }: Inspector) => page.getByRole("grid");
const rowWith = (it: Inspector, text: string | RegExp) =>
  grid(it).locator(".list-row").filter({ hasText: text }).first();
const count = (it: Inspector, rows: number) => expect.poll(() => grid(it).locator(".list-row").count()).toBe(rows);
const details = ({ page }: Inspector) => page.getByRole("complementary", { name: "The request" });

/** The page with the day's traffic in it. */
async function opened(options: Parameters<typeof stage.open>[1] = {}): Promise<Inspector> {
  const it = await stage.open("#/requests", options);
  await it.page.getByRole("heading", { name: "No requests yet" }).waitFor();
  await traffic(it.sim);
  await rowWith(it, "fault flags-down").or(rowWith(it, "503")).waitFor();
  return it;
}

interface Har {
  log: { version: string; entries: { request: { method: string; url: string; headers: object[] } }[] };
}

async function saved(it: Inspector, click: () => Promise<void>): Promise<{ name: string; har: Har; text: string }> {
  const [download] = await Promise.all([it.page.waitForEvent("download"), click()]);
  const text = await readFile(await download.path(), "utf8");
  return { name: download.suggestedFilename(), har: JSON.parse(text), text };
}

describe("a day's traffic", () => {
  let it: Inspector;
  beforeAll(async () => {
    it = await opened({ allow: /404/ });
  });
  afterAll(() => it?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await it.dress(1280, "dark");
    await it.go("#/requests");
    await count(it, 7);
  });

  test("turns live with the first request and has all, the newest first", async () => {
    await it.dress(2560, "dark");
    const texts = await grid(it).locator(".list-row").allTextContents();
    for (const [i, words] of [
      ["7", "/flags/", "503", "fault flags-down"],
      ["6", "/api/projcts/1/dashboards/", "404", "not emulated"],
      ["5", "400", "undecodable_payload"],
      ["4", "200", "1 dropped", "2, 1 dropped", "worker-1"],
      ["3", "401", "invalid_api_key"],
      ["2", "/flags/", "200", "answered", "emulator", "Default project"],
      ["1", "POST", "/batch/", "200", "answered"],
    ].entries())
      for (const word of words) expect(texts[i]).toContain(word);
    await it.axe();
  });

  test("is filtered by what is typed and by chips; the address says so", async () => {
    const { page } = it;
    await page.getByRole("button", { name: "Unknown" }).click();
    await count(it, 1);
    await page.waitForURL(/f=is%3Aunmatched/);
    await page.getByRole("button", { name: "Unknown" }).click();
    await count(it, 7);
    await page.getByRole("button", { name: "Rejected" }).click();
    await page.getByLabel("Route").selectOption("/batch");
    await count(it, 2);
    await expect
      .poll(() => page.getByRole("combobox", { name: "Filter requests" }).inputValue())
      .toBe("is:rejected route:/batch");
    await page.getByRole("combobox", { name: "Filter requests" }).fill("status:>=400 status:<402");
    await count(it, 2);
    await page.getByRole("combobox", { name: "Filter requests" }).fill("status:teapot");
    await page.getByText('"status" is a number').waitFor();
    await page.getByRole("combobox", { name: "Filter requests" }).fill("nothing_has_this_word");
    await page.getByRole("heading", { name: "No request matches the filter" }).waitFor();
    await page.getByText("Clear the filter", { exact: true }).click();
    await count(it, 7);
  });

  test("details of an unknown path: not emulated, what is nearest, and the key masked", async () => {
    await it.page.getByText("not emulated").click();
    const shown = details(it);
    await shown.getByText("This path is not emulated.").waitFor();
    await shown
      .getByText(/check the path: it does not exist; nearest: GET \/api\/projects\/:project_id\/dashboards,/)
      .waitFor();
    await shown.getByText("Bearer phx_***").last().waitFor();
    await shown.getByText("masked").waitFor();
    await shown.getByRole("heading", { name: "Response headers" }).waitFor();
    expect(await it.page.content()).not.toContain("phx_a_secret");
    await it.look("requests-unknown");
    await it.axe();
  });

  test("details of a wrong key: why, and what to do", async () => {
    await it.page.getByText("invalid_api_key").click();
    const shown = details(it);
    await shown
      .getByText(/Project API key invalid/)
      .first()
      .waitFor();
    await shown.getByText(`Use the project key ${it.sim.apiKey}`).waitFor();
    await shown.getByText(/not found by the key in its body, phc_of_nobody/).waitFor();
    await shown.getByText(/^posthog-node \d/).waitFor();
  });

  test("details of a broken body: how far it was decoded, and its bytes", async () => {
    await it.page.getByText("undecodable_payload").click();
    const shown = details(it);
    await shown.getByText("000000 1f 8b 00 11 22 33 44").waitFor();
    expect(await shown.locator(".chain").first().innerText()).toMatch(/no content type\W+gzip\W+not JSON/);
  });

  test("details of a batch: each event with its outcome, and the body as tree and as it came", async () => {
    await rowWith(it, "1 dropped").click();
    const shown = details(it);
    await shown.getByRole("heading", { name: "2 events, 1 dropped" }).waitFor();
    await shown.getByText("the event has no name").waitFor();
    expect(await shown.getByRole("link", { name: "seen" }).getAttribute("href")).toBe("#/events/3");
    await shown.getByRole("treeitem").filter({ hasText: "api_key" }).waitFor();
    await shown.getByRole("button", { name: "Raw" }).click();
    await shown.getByText("000000 1f 8b 08").waitFor();
    await it.axe();
  });

  test("details of a fault, or of nothing", async () => {
    await rowWith(it, "503").click();
    await details(it).getByRole("link", { name: "fault flags-down" }).waitFor();
    await it.go("#/requests/999");
    await details(it).getByText("there is no request 999").waitFor();
  });

  test("HAR of all, of a filter with a range, of one", async () => {
    const { page } = it;
    const dialog = page.getByRole("dialog", { name: "Download as HAR" });
    const go = () => dialog.getByRole("button", { name: "Download" }).click();
    await page.getByRole("button", { name: "HAR…" }).click();
    const all = await saved(it, go);
    expect(all.har.log.version).toBe("1.2");
    expect(all.har.log.entries.map(({ request }) => request.url.replace(it.sim.url, ""))).toEqual([
      "/batch/",
      "/flags/?v=2",
      "/batch/",
      "/batch/",
      "/batch/",
      "/api/projcts/1/dashboards/?limit=5",
      "/flags/?v=2",
    ]);
    expect(all.text).not.toContain("phx_a_secret");
    expect(all.text).toContain("phx_***");

    await page.getByRole("button", { name: "Rejected" }).click();
    await page.getByRole("button", { name: "HAR…" }).click();
    await dialog.getByLabel("From number").fill("the first");
    await go();
    await dialog.getByRole("alert").filter({ hasText: '"the first" is not the number of a request' }).waitFor();
    await dialog.getByLabel("From number").fill("");
    await dialog.getByLabel("To number").fill("5");
    await it.look("requests-har");
    const some = await saved(it, go);
    expect(some.har.log.entries).toHaveLength(2);

    await it.page.getByText("undecodable_payload").click();
    const one = await saved(it, () => details(it).getByRole("button", { name: "HAR" }).click());
    expect(one.name).toBe("phx-sim-request-5.har");
    expect(one.har.log.entries).toHaveLength(1);
  });

  test.each([
    ["dark", 1280],
    ["light", 400],
    ["light", 2560],
  ] as const)("looks well: %s, %i px", async (theme, width) => {
    await it.dress(width, theme);
    await it.look(`requests-${theme}-${width}`);
    await it.axe();
    await rowWith(it, "1 dropped").click();
    await details(it).getByText("Source", { exact: true }).waitFor();
    await it.look(`requests-${theme}-${width}-details`);
    await it.axe();
  });
});

test("details of capture v1: the result of each event, with its reason and what it means", async () => {
  await using it = await stage.open("#/requests");
  await postV1(it.sim, [
    { event: "bought" },
    { event: "seen", distinct_id: "null" },
    { event: "lost", distinct_id: "" },
  ]);
  await it.sim.faults.apply("events-retried", { times: 1 });
  await postV1(it.sim, [{ event: "refunded" }]);
  await rowWith(it, "3, 1 dropped").click();
  const title = it.page.getByRole("heading", { name: "Results in the response" });
  const shown = details(it).locator("section").filter({ has: title });
  await expect
    .poll(() => shown.locator("tbody tr").allInnerTexts())
    .toEqual([
      expect.stringMatching(/^bought\s+018f3b6e-0000-7000-8000-000000000000\s+ok\s*$/),
      expect.stringMatching(/^seen\s.*000001\s+ok\s+person_processing_disabled: the distinct_id is a placeholder/s),
      expect.stringMatching(/^lost\s.*000002\s+drop\s+missing_distinct_id: the event has no distinct_id/s),
    ]);
  await shown.scrollIntoViewIfNeeded();
  await it.look("requests-results");
  await it.axe();
  await it.dress(400, "light");
  await shown.locator("tr").last().scrollIntoViewIfNeeded();
  await it.look("requests-results-light-400");
  await it.axe();
  await it.go("#/requests/2");
  await shown.getByText("not_persisted").waitFor();
  await shown.getByText("a fault gave this result").waitFor();
  await it.go("#/requests/1");
  const { har } = await saved(it, () => details(it).getByRole("button", { name: "HAR" }).click());
  expect(har.log.entries[0]).toMatchObject({
    _phx_sim: { results: [{ event: "bought", result: "ok" }, { event: "seen" }, { event: "lost" }] },
  });
});

test("is read with the keyboard, and copied as curl", async () => {
  await using it = await opened();
  const { page } = it;
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await details(it).getByRole("heading", { name: "Request 6" }).waitFor();
  await page.keyboard.press("k");
  await details(it).getByRole("heading", { name: "Request 7" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await details(it).getByRole("heading", { name: "Request 5" }).waitFor();
  await page.keyboard.press("Escape");
  await details(it).waitFor({ state: "detached" });
  await page.keyboard.press("p");
  await page.getByRole("button", { name: "Paused, 0 new" }).waitFor();
  await post(it.sim, "/capture/", "{}");
  await page.getByRole("button", { name: "Paused, 1 new" }).waitFor();
  await count(it, 7);
  await page.keyboard.press("p");
  await count(it, 8);
  await page.keyboard.press("/");
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Filter requests");

  // copied as curl: sent again, the same happens
  await it.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await it.go("#/requests");
  await it.page.getByText("invalid_api_key").click();
  await details(it).getByRole("button", { name: "Copy as curl" }).click();
  await details(it).getByText("Copied").waitFor();
  const copied = await it.page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain(`curl '${it.sim.url}/batch/'`);
  // the sim lives in this process: nothing may block it
  const { stdout } = await promisify(execFile)("sh", ["-c", `${copied} -s`]);
  expect(stdout).toContain("invalid_api_key");
});

test("hostile text stays text", async () => {
  await using it = await stage.open("#/requests");
  const nasty = `<img src=x onerror=alert(1)>\u202e"'`;
  await post(it.sim, `/nowhere/${encodeURIComponent(nasty)}?q=${encodeURIComponent(nasty)}`, nasty, {
    "user-agent": "<b>agent</b>",
    "x-test-id": "</script><script>alert(1)</script>",
  });
  await it.page.getByText("not emulated").click();
  await details(it).getByText("<b>agent</b>").first().waitFor();
  expect(await it.page.locator("img, b b, .shell-view script").count()).toBe(0);
});

declare const document: { activeElement: { getAttribute(name: string): string } | null };
declare const navigator: { clipboard: { readText(): Promise<string> } };
