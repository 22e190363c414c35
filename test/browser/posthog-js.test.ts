import type { Page } from "playwright-core";
import type { PostHog } from "posthog-js";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../src/index.ts";
import { chromiumOfFile } from "../support/chromium.ts";
import { type Loader, loaders, openPageServer, type PageServer } from "./page-server.ts";

/** The page's own `window`, inside functions that run there. */
declare const window: { posthog: PostHog };

const scenario: SimOptions["scenario"] = {
  version: 1,
  organizations: [
    {
      name: "Org",
      projects: [
        {
          id: 3,
          name: "Shop",
          api_key: "phc_browser",
          flags: {
            "beta-feature": { payloads: { true: { color: "blue" } } },
            "three-ways": { variants: { control: 0, test: 100 } },
            "off-for-everyone": { rollout: 0 },
          },
          remote_config: { sessionRecording: true, capturePerformance: true, heatmaps: true },
          surveys: [
            {
              id: "0195a000-0000-7000-8000-000000000001",
              name: "How was it?",
              description: "",
              type: "popover",
              start_date: "2024-01-01T00:00:00Z",
              end_date: null,
              schedule: "once",
              questions: [{ id: "q1", type: "open", question: "How was it?", optional: false }],
              conditions: null,
              appearance: null,
              current_iteration: null,
              current_iteration_start_date: null,
            },
          ],
          early_access_features: [{ id: "e1", name: "Beta", description: "", stage: "beta", flagKey: "beta-feature" }],
        },
      ],
    },
  ],
  personal_api_keys: [{ key: "phx_browser", scopes: ["*"] }],
};

const browser = chromiumOfFile();
let server: PageServer;
let sim: Sim;
let page: Page;
let complaints: string[] = [];

beforeAll(async () => {
  server = await openPageServer();
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

beforeEach(async () => {
  sim = await startSim({ scenario });
  complaints = [];
  page = await (await browser().newContext()).newPage();
  page.on("pageerror", (error) => complaints.push(`page error: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()} (${message.location().url})`);
  });
});

afterEach(async () => {
  await page.context().close();
  await sim.close();
});

/** `debug` has the SDK say on the console whatever it does not like; bots are not captured unless allowed. */
const config = () => ({
  api_host: sim.url,
  debug: true,
  opt_out_useragent_filter: true,
  request_queue_config: { flush_interval_ms: 250 },
});

/** Opens the page and returns when the flags are there: then the remote config is, too. */
async function open(load: Loader): Promise<void> {
  server.show(load(sim, config()));
  await page.goto(server.url);
  await page.waitForFunction(() => window.posthog?.__loaded === true);
  await page.evaluate(() => new Promise<void>((resolve) => window.posthog.onFeatureFlags(() => resolve())));
}

const patient = { timeoutMs: 60_000 };

/** A header of a request in the journal. */
async function headerOf(request: number, name: string): Promise<string | undefined> {
  const response = await fetch(`${sim.url}/__sim/requests/${request}`);
  const { headers } = (await response.json()) as { headers: [name: string, value: string][] };
  return headers.find(([key]) => key.toLowerCase() === name)?.[1];
}

async function expectNothingWrong(): Promise<void> {
  const requests = await sim.requests.list({ limit: 1_000 });
  const failed = requests.filter((it) => it.outcome !== "answered" || Number(it.status) >= 300);
  expect(failed).toEqual([]);
  expect(await sim.events.dropped()).toEqual([]);
  expect(complaints).toEqual([]);
}

describe.each(Object.entries(loaders))("posthog-js as %s", (_name, load) => {
  test("pageview, click, identify, group and a beacon at the end", async () => {
    await open(load);
    const pageview = await sim.events.waitFor("$pageview", undefined, patient);
    expect(pageview.properties).toMatchObject({ $current_url: server.url, $lib: "web", title: "Shop" });
    await sim.events.waitFor("called before loading", undefined, patient);

    await page.click("#buy");
    const click = await sim.events.waitFor("$autocapture", { $event_type: "click" }, patient);
    expect(click.properties.$el_text).toBe("Buy now");

    await page.evaluate(() => {
      window.posthog.identify("u1", { plan: "pro" });
      window.posthog.group("company", "acme", { tier: "gold" });
    });
    await sim.events.waitFor("$identify", undefined, patient);
    await sim.events.waitFor("$groupidentify", { $group_key: "acme" }, patient);
    const [person] = await sim.persons.list({ distinct_id: "u1" });
    expect(person).toMatchObject({ properties: { plan: "pro" } });
    expect(await sim.persons.list({ distinct_id: pageview.distinct_id })).toEqual([person]);
    expect(await sim.groups.list()).toMatchObject([{ key: "acme", properties: { tier: "gold" } }]);

    await page.close({ runBeforeUnload: true });
    const leaving = await sim.events.waitFor("$pageleave", undefined, patient);
    expect(leaving.distinct_id).toBe("u1");
    // A beacon is the one request that a page sends without CORS.
    expect(await headerOf(leaving.request, "sec-fetch-mode")).toBe("no-cors");
    await sim.settle(patient);
    await expectNothingWrong();
  });

  test("flags: values, payload, and the event that reports about the check", async () => {
    await open(load);
    const seen = await page.evaluate(() => ({
      beta: window.posthog.isFeatureEnabled("beta-feature"),
      payload: window.posthog.getFeatureFlagResult("beta-feature")?.payload,
      ways: window.posthog.getFeatureFlag("three-ways"),
      off: window.posthog.getFeatureFlag("off-for-everyone"),
    }));
    expect(seen).toEqual({ beta: true, payload: { color: "blue" }, ways: "test", off: false });
    await sim.events.waitFor(
      "$feature_flag_called",
      { $feature_flag: "three-ways", $feature_flag_response: "test" },
      patient,
    );
    await expectNothingWrong();
  });

  test("session recording starts, surveys and early access features load", async () => {
    await open(load);
    await sim.events.waitFor("$snapshot_items", undefined, patient);
    expect(await page.evaluate(() => window.posthog.sessionRecordingStarted())).toBe(true);

    const surveys = await page.evaluate(
      () =>
        new Promise<string[]>((resolve) =>
          window.posthog.getActiveMatchingSurveys((them: { name: string }[]) => resolve(them.map((it) => it.name))),
        ),
    );
    expect(surveys).toEqual(["How was it?"]);

    const features = await page.evaluate(
      () =>
        new Promise<string[]>((resolve) =>
          window.posthog.getEarlyAccessFeatures((them: { name: string }[]) => resolve(them.map((it) => it.name)), true),
        ),
    );
    expect(features).toEqual(["Beta"]);
    await sim.settle(patient);
    await expectNothingWrong();
  });
});
