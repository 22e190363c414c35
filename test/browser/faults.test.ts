import type { Page } from "playwright-core";
import type { PostHog } from "posthog-js";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type FaultOptions, type FaultPresetName, type Sim, type SimOptions, startSim } from "../../src/index.ts";
import { chromiumOfFile } from "../support/chromium.ts";
import { loaders, openPageServer, type PageServer } from "./page-server.ts";

/** The page's own `window`, inside functions that run there. */
declare const window: { posthog: PostHog };

const scenario: SimOptions["scenario"] = {
  version: 1,
  organizations: [
    {
      name: "Org",
      projects: [
        { id: 3, name: "Shop", api_key: "phc_browser", flags: { alpha: { rollout: 100 }, beta: { rollout: 100 } } },
      ],
    },
  ],
  personal_api_keys: [{ key: "phx_browser", scopes: ["*"] }],
};

const browser = chromiumOfFile();
let server: PageServer;
let sim: Sim;
let page: Page;

beforeAll(async () => {
  server = await openPageServer();
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

beforeEach(async () => {
  sim = await startSim({ scenario });
  page = await (await browser().newContext()).newPage();
});

afterEach(async () => {
  await page.context().close();
  await sim.close();
});

async function open(): Promise<void> {
  const config = {
    api_host: sim.url,
    opt_out_useragent_filter: true,
    request_queue_config: { flush_interval_ms: 250 },
  };
  server.show(loaders["npm bundle"](sim, config));
  await page.goto(server.url);
  await page.waitForFunction(() => window.posthog?.__loaded === true);
}

const untilFlags = () =>
  page.evaluate(() => new Promise<void>((resolve) => window.posthog.onFeatureFlags(() => resolve())));

const flags = () =>
  page.evaluate(() => [window.posthog.isFeatureEnabled("alpha"), window.posthog.isFeatureEnabled("beta")]);

/** Path, status and fault of the requests to these paths, oldest first. */
async function journal(path: RegExp) {
  const lines = (await sim.requests.list({ limit: 1_000 })).reverse();
  return lines.filter(({ target }) => path.test(String(target))).map(({ status, fault }) => [status, fault]);
}

const events = /^\/(?:e|i\/v0\/e)\//;
const evaluation = /^\/flags/;

/** posthog-js waits for six seconds and more before it sends again. */
const veryPatient = { timeoutMs: 15_000 };

describe("flags", () => {
  const rows: [preset: FaultPresetName, options: FaultOptions, value: unknown[], statuses: number[]][] = [
    // A flag that failed is as if it had not been reported: what the client had before would stay.
    ["flags-partial", {}, [undefined, true], [200]],
    ["flags-down", {}, [undefined, undefined], [503]],
    ["flags-slow", { effect: { latency: 20 } }, [true, true], [200]],
    ["garbage-json", { match: { route: "flags" } }, [undefined, undefined], [200]],
  ];
  test.each(rows)("%s %j: %j", async (preset, options, value, statuses) => {
    await sim.faults.apply(preset, options);
    await open();
    await untilFlags();
    expect(await flags()).toEqual(value);
    expect(await journal(evaluation)).toEqual(statuses.map((status) => [status, preset]));
  });

  test("quota-exhausted: the client does not even call back", async () => {
    await sim.faults.apply("quota-exhausted");
    const answered = page.waitForResponse((it) => /^\/flags/.test(new URL(it.url()).pathname));
    await open();
    expect(await (await answered).json()).toMatchObject({ flags: {}, quotaLimited: ["feature_flags"] });
    expect(await flags()).toEqual([undefined, undefined]);
    expect(await journal(evaluation)).toEqual([[200, "quota-exhausted"]]);
  });
});

describe("captures", () => {
  test("capture-503: sent again seconds later, and kept once", async () => {
    await open();
    await untilFlags();
    // Nothing else is on its way that the fault could hit.
    await sim.events.waitFor("$pageview", undefined, veryPatient);
    await sim.settle();
    await sim.faults.apply("capture-503", { times: 1 });
    await page.evaluate(() => window.posthog.capture("stubborn"));
    await sim.events.waitFor("stubborn", undefined, veryPatient);
    expect((await journal(events)).filter(([, fault]) => fault !== null)).toEqual([[503, "capture-503"]]);
    const again = (await sim.requests.list()).filter(({ target }) => String(target).includes("retry_count=1"));
    expect(again).toMatchObject([{ status: 200, fault: null }]);
    expect(await sim.events.list({ event: "stubborn" })).toHaveLength(1);
  });

  test("connection-reset: kept once, whether the browser or the client sends it again", async () => {
    await open();
    await untilFlags();
    // Nothing else is on its way that the fault could hit.
    await sim.events.waitFor("$pageview", undefined, veryPatient);
    await sim.settle();
    await sim.faults.apply("connection-reset", { match: { route: "capture" }, times: 1 });
    await page.evaluate(() => window.posthog.capture("stubborn"));
    await sim.events.waitFor("stubborn", undefined, veryPatient);
    expect((await journal(events)).filter(([, fault]) => fault !== null)).toEqual([[0, "connection-reset"]]);
    expect(await sim.events.list({ event: "stubborn" })).toHaveLength(1);
  });

  test("rate-limited: given up at once", async () => {
    await open();
    await untilFlags();
    // Nothing else is on its way that the fault could hit.
    await sim.events.waitFor("$pageview", undefined, veryPatient);
    await sim.settle();
    await sim.faults.apply("rate-limited", { match: { route: "capture" }, times: 1 });
    await page.evaluate(() => window.posthog.capture("unlucky"));
    await expect.poll(async () => (await sim.faults.list())[0]?.state).toBe("used_up");
    await page.evaluate(() => window.posthog.capture("lucky"));
    await sim.events.waitFor("lucky", undefined, veryPatient);
    expect(await sim.events.list({ event: "unlucky" })).toEqual([]);
  });
});
