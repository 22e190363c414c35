import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import { waysFor } from "../../../ui/views/start/snippets.ts";
import { openPageServer } from "../page-server.ts";
import { inspectorStage } from "./support.ts";

const stage = inspectorStage();

test("a new user sees what to paste, with their own keys, and sees the first event arrive", async () => {
  await using it = await stage.open("");
  const { sim, page } = it;
  await page.getByText("Nothing has arrived yet").waitFor();
  const code = page.locator("main pre");
  expect(await code.allTextContents()).toEqual(
    expect.arrayContaining([expect.stringContaining(`"${sim.apiKey}", { api_host: "${sim.url}" }`)]),
  );
  expect(await page.locator("main").textContent()).not.toContain(sim.personalApiKey);
  await page.getByRole("button", { name: "Show the personal key" }).click();
  await page.getByText(sim.personalApiKey).waitFor();
  await it.look("start-empty-1280-dark");
  await it.axe();

  const posthog = new PostHog(sim.apiKey, { host: sim.url });
  posthog.capture({ distinctId: "anna", event: "signed_up" });
  await posthog.shutdown();

  await page.getByRole("heading", { name: "The one event is kept" }).waitFor();
  await page.getByRole("link", { name: "signed_up" }).waitFor();
  await page.getByRole("link", { name: /^kept/ }).waitFor();
  await page.getByRole("row", { name: /^posthog-node \d/ }).waitFor();
  await it.axe();
});

test("each way to send has an address, and the HTML snippet works as it stands", async () => {
  await using it = await stage.open("#/start");
  for (const { id, snippets } of waysFor({ host: "http://127.0.0.1", projectKey: "", personalKey: "", projectId: 1 })) {
    await it.go(`#/start?with=${id}`);
    await it.page.locator("main figcaption", { hasText: snippets.at(-1)?.where ?? "" }).waitFor();
    await it.page.locator("main pre").getByText(it.sim.apiKey).first().waitFor();
    expect(await it.page.locator(".start-pick[aria-current]").count()).toBe(1);
    await it.look(`start-${id}-1280-dark`);
  }
  await it.go("#/start?with=html");
  await it.page.locator("main pre").getByText("<script>").waitFor();
  const html = await it.page.locator("main pre").first().textContent();
  await using server = await openPageServer();
  // the browser is one that a test drives
  server.show((html ?? "").replace("{ api_host:", "{ opt_out_useragent_filter: true, api_host:"));
  const app = await it.context.newPage();
  await app.goto(server.url);
  expect(await it.sim.events.waitFor("hello")).toMatchObject({ outcome: "kept" });
});

test("of a project that does not exist, no keys are reported", async () => {
  await using it = await stage.open("#/start?project=99");
  await it.page.getByRole("heading", { name: "Project not found" }).waitFor();
  expect(await it.page.locator("main").textContent()).not.toContain(it.sim.apiKey);
  await it.page.getByRole("link", { name: "Show all projects" }).click();
  await it.page.getByText("Nothing has arrived yet").waitFor();
});

test("a test event goes the way of all events", async () => {
  await using it = await stage.open("");
  await it.page.getByRole("button", { name: "Send a test event" }).click();
  await it.page.getByRole("heading", { name: "The one event is kept" }).waitFor();
  expect((await it.sim.events.list()).map(({ event }) => event)).toEqual(["test event"]);
});

test("requests with a wrong key are reported with the key that came, and the ones that are known", async () => {
  await using it = await stage.open("");
  const body = JSON.stringify({ api_key: "phc_typo", event: "x", distinct_id: "u" });
  await fetch(`${it.sim.url}/i/v0/e/`, { method: "POST", headers: { "content-type": "application/json" }, body });
  await fetch(`${it.sim.url}/ingest/e/`, { method: "POST", body: "{}" });
  await it.page.getByText("Requests arrive, but all are rejected").waitFor();
  await it.page.getByText("phc_typo").waitFor();
  await it.page.locator(".start-finding").getByText(it.sim.apiKey).first().waitFor();
  await it.page.getByText("POST /ingest/e/, 404").waitFor();
  await it.look("start-refused-1280-dark");
  await it.axe();
});

const looks = [
  [400, "light"],
  [1280, "light"],
  [2560, "dark"],
  [400, "dark"],
] as const;

test("looked at narrow and wide, in both colours", async () => {
  await using it = await stage.open("");
  const { page, sim } = it;
  await page.getByText("Nothing has arrived yet").waitFor();
  const lookAround = async (name: string) => {
    for (const [width, theme] of looks) {
      await it.dress(width, theme);
      expect(
        await page.evaluate(() => {
          const { scrollWidth, clientWidth } = document.documentElement;
          return scrollWidth - clientWidth;
        }),
      ).toBeLessThanOrEqual(0);
      await it.look(`start-${name}-${width}-${theme}`);
    }
  };
  await lookAround("empty");
  const posthog = new PostHog(sim.apiKey, { host: sim.url });
  for (const event of ["signed_up", "plan chosen", "checkout_completed", "signed_up"]) {
    posthog.capture({ distinctId: `user-${event.length}`, event, properties: { amount: 49 } });
  }
  await posthog.shutdown();
  const batch = [{ event: "lost" }, { event: "", distinct_id: "u" }];
  const body = JSON.stringify({ api_key: sim.apiKey, batch });
  await fetch(`${sim.url}/batch/`, { method: "POST", headers: { "content-type": "application/json" }, body });
  await fetch(`${sim.url}/ingest/e/`, { method: "POST", body: "{}" });
  await page.getByRole("heading", { name: "Events arrive, but 33.3 % are lost" }).waitFor();
  await page.getByRole("heading", { name: "POST /ingest/e/ is answered with 404" }).waitFor();
  await lookAround("live");
  await it.axe();
  await it.dress(1280, "light");
  await it.axe();
  // figures are those of all events, whatever the page has read
  const many = Array.from({ length: 600 }, () => ({ event: "many", distinct_id: "u" }));
  await fetch(`${sim.url}/batch/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: sim.apiKey, batch: many }),
  });
  await page.reload();
  await page.getByRole("row", { name: /^many 600/ }).waitFor();
  await page.getByRole("link", { name: /^kept 604/ }).waitFor();
  await page.getByText("What is lost, and why").waitFor();
  // until a person clears them
  await page.getByRole("button", { name: "Clear problems" }).click();
  await page.getByText("What is lost, and why").waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("link", { name: /^kept 604/ }).waitFor();
  expect(await page.getByText("What is lost, and why").count()).toBe(0);
});

const post = (url: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });

test("a new problem is reported in every view, until Start has shown it", async () => {
  await using it = await stage.open("#/events");
  const { page, sim } = it;
  const title = (text: string) => page.waitForFunction((wanted) => document.title === wanted, text);
  await title("Events · phx-sim");
  await post(sim.url, "/batch/", { api_key: sim.apiKey, batch: [{ event: "lost" }] });
  await title("(1 problem) Events · phx-sim");
  await page.getByRole("link", { name: /\b1 new problem$/ }).waitFor();
  await post(sim.url, "/ingest/e/", {});
  await title("(2 problems) Events · phx-sim");
  await it.look("start-badge-1280-dark");
  await it.axe();

  await page.getByRole("link", { name: /\b2 new problems$/ }).click();
  await page.getByText("2 are new since you looked.").waitFor();
  expect(await page.locator(".start-finding .badge-accent").count()).toBe(2);
  await title("Start · phx-sim");
  await it.go("#/flags");
  await title("Flags · phx-sim");
  await page.reload();
  await page.locator("[data-connection=live]").waitFor();
  await post(sim.url, "/batch/", { api_key: sim.apiKey, batch: [{ event: "", distinct_id: "u" }] });
  await title("(1 problem) Flags · phx-sim");
  // the same in the project alone: what all projects showed is seen
  await it.go(`#/flags?project=${sim.projectId}`);
  await title("(1 problem) Flags · phx-sim");
  await it.go("#/start");
  await page.getByText("1 is new since you looked.").waitFor();
  expect(await page.locator(".start-finding .badge-accent").count()).toBe(1);
});

test("hostile names and odd bodies are text, and the linter, SDKs and flags are reported", async () => {
  await using it = await stage.open("");
  const { page, sim } = it;
  const evil = "<img src=x onerror=alert(1)>\u202e`code`";
  const properties = { $lib: evil, $lib_version: evil, $feature_flag: "new-chekout", $feature_flag_response: null };
  await post(sim.url, "/batch/", {
    api_key: sim.apiKey,
    batch: [
      { event: "$feature_flag_called", distinct_id: evil, properties },
      { event: evil, distinct_id: evil, properties },
      { event: "signed_up", distinct_id: "u", properties: { amount: 1 } },
      { event: "Signed_Up", distinct_id: "u", properties: { amount: "1" } },
      null,
    ],
  });
  await post(sim.url, `/${encodeURIComponent(evil)}/e/`, { api_key: evil }, { "user-agent": `${"x".repeat(9_000)}/1` });
  await post(
    sim.url,
    "/decide/?v=3",
    { token: sim.apiKey, distinct_id: "u" },
    { "user-agent": "posthog-python/3.6.1" },
  );
  await page.getByText("posthog-python 3.6.1 asks").waitFor();
  await page.getByText("two event names differ", { exact: false }).waitFor();
  await page.getByRole("link", { name: "new-chekout" }).waitFor();
  await page
    .getByRole("row", { name: /^<img src=x/ })
    .first()
    .waitFor();
  expect(await page.locator("main img").count()).toBe(0);
  expect(await page.locator("main").textContent()).not.toContain("\u202e");
  for (const [width, theme] of looks) {
    await it.dress(width, theme);
    await it.axe("colours");
    await it.look(`start-hostile-${width}-${theme}`);
    expect(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(0);
  }
  await it.axe();
});

declare const document: { title: string; documentElement: { scrollWidth: number; clientWidth: number } };
