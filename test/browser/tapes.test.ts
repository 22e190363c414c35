import { join } from "node:path";
import type { PostHog } from "posthog-js";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../src/index.ts";
import { readTape } from "../../src/lab/tapes/format/read.ts";
import { chromiumOfFile } from "../support/chromium.ts";
import { newFolder } from "../support/folder.ts";
import { type Loader, loaders, openPageServer, type PageServer } from "./page-server.ts";

/** The page's own `window`, inside functions that run there. */
declare const window: { posthog: PostHog };

const flags = {
  "beta-feature": { payloads: { true: { color: "blue" } } },
  "three-ways": { variants: { control: 0, test: 100 } },
};
const project = { id: 3, name: "Shop", api_key: "phc_browser", flags };
const scenario: SimOptions["scenario"] = {
  version: 1,
  organizations: [{ name: "Org", projects: [project] }],
  personal_api_keys: [{ key: "phx_browser", scopes: ["*"] }],
};

const folder = newFolder();
const sims: Sim[] = [];
const browser = chromiumOfFile();
let server: PageServer;

beforeAll(async () => {
  server = await openPageServer();
});
afterEach(async () => {
  for (const it of sims.splice(0).reverse()) await it.close();
});
afterAll(() => server?.[Symbol.asyncDispose]());

async function started(options: SimOptions): Promise<Sim> {
  const sim = await startSim(options);
  sims.push(sim);
  return sim;
}

/** Bots are not captured unless allowed; recordings of the screen come in pieces of any number. */
const config = {
  opt_out_useragent_filter: true,
  disable_session_recording: true,
  request_queue_config: { flush_interval_ms: 250 },
};
const patient = { timeoutMs: 60_000 };

/** A new visitor's page; returns what its flags were, before and after it was known who it is. */
async function session(sim: Sim, load: Loader): Promise<unknown[]> {
  const page = await (await browser().newContext()).newPage();
  const flagsSeen = () =>
    page.evaluate(() => ({
      beta: window.posthog.isFeatureEnabled("beta-feature"),
      payload: window.posthog.getFeatureFlagResult("beta-feature")?.payload,
      ways: window.posthog.getFeatureFlag("three-ways"),
    }));
  const flagsLoaded = () =>
    page.evaluate(() => new Promise<void>((resolve) => window.posthog.onFeatureFlags(() => resolve())));

  server.show(load({ url: sim.url, apiKey: project.api_key }, { ...config, api_host: sim.url }));
  await page.goto(server.url);
  await page.waitForFunction(() => window.posthog?.__loaded === true);
  await flagsLoaded();
  const before = await flagsSeen();
  // Digits with the check digit of a card, in an id; a time; a fraction of 16 digits.
  await page.evaluate(() =>
    window.posthog.capture("bought", {
      items: [1, 2],
      order_id: 4111111111111111,
      at: 1767323045006,
      rate: 0.4111111111111111,
    }),
  );
  await sim.events.waitFor("$pageview", undefined, patient);
  await sim.events.waitFor("bought", undefined, patient);

  await page.evaluate(() => {
    window.posthog.identify("u1", { plan: "pro" });
    window.posthog.group("company", "acme", { tier: "gold" });
  });
  await sim.events.waitFor("$identify", undefined, patient);
  await sim.events.waitFor("$groupidentify", undefined, patient);
  await sim.settle({ idleMs: 400, ...patient });
  const after = await flagsSeen();
  // Two flags that were read twice: a request that is under way when the page is left may be cancelled.
  await sim.events.waitForCount("$feature_flag_called", 4, patient);
  // Leaving for another page: whether a closed one still sends its beacon is the browser's mood.
  await page.goto("about:blank");
  await sim.events.waitFor("$pageleave", undefined, patient);
  await sim.settle(patient);
  await page.context().close();
  return [before, after];
}

const seen = { beta: true, payload: { color: "blue" }, ways: "test" };
/** posthog-js reports a flag again after each load of the flags, and how many loads there are is a matter of timing. */
const names = async (sim: Sim) => {
  const all = (await sim.events.list()).map(({ event }) => event).toSorted();
  return all.filter((it, i) => it !== "$feature_flag_called" || all[i - 1] !== it);
};

/** A session on a tape of this name, with a cloud of its own. */
async function recorded(name: string, load: Loader) {
  const tape = join(folder, `${name}.tape.ndjson`);
  const cloud = await started({ scenario });
  const near = await started({ mode: "record", upstream: cloud.url, tape });
  expect(await session(near, load)).toEqual([seen, seen]);
  expect(await near.recording.stop()).toMatchObject({ failed: 0, trouble: null, in_flight: 0 });
  expect(await names(near)).toEqual(await names(cloud));
  return { tape, events: await names(near) };
}

/** How many exchanges of a tape are to be given as responses: receipts for events come from the emulator. */
async function countAnswered(tape: string): Promise<number> {
  let count = 0;
  for await (const { route } of readTape(tape)) count += route === "capture" ? 0 : 1;
  return count;
}

/** The kinds of secrets that were taken for some, wherever they are. */
async function kindsOn(tape: string): Promise<Set<string | undefined>> {
  const kinds = new Set<string | undefined>();
  for await (const exchange of readTape(tape, { bodies: "whole" })) {
    for (const [, kind] of JSON.stringify(exchange).matchAll(/secret(?::|%3A)([a-z\d_]+)(?:#|%23)\d/g)) kinds.add(kind);
  }
  return kinds;
}

/** Who answered. */
async function sourcesOf(sim: Sim): Promise<Set<string>> {
  const requests = await sim.requests.list({ limit: 1_000 });
  return new Set(
    requests.map(
      ({ source, events }) => source?.replace(/:.*/, "") ?? `emulator (${events > 0 ? "capture" : "other"})`,
    ),
  );
}

describe.each(Object.entries(loaders).slice(0, 2))("posthog-js as %s, recorded twice", (name, load) => {
  test("each tape answers the other session: nothing missed, nothing unused", async () => {
    const slug = name.replaceAll(/\W+/g, "-");
    for (const turn of ["first", "second"]) {
      const { tape, events } = await recorded(`${slug}-${turn}`, load);
      expect(await kindsOn(tape)).toEqual(new Set(["project_key", "cookie"]));
      const replaying = await started({ tape, mode: "replay" });
      expect(await session(replaying, load)).toEqual([seen, seen]);
      expect(await names(replaying)).toEqual(events);
      const ledger = (await replaying.tapes.get())?.ledger;
      expect(ledger).toMatchObject({ misses: [], unused: [], total: expect.any(Number) });
      expect(ledger?.hits).toBe(await countAnswered(tape));
      expect(await sourcesOf(replaying)).toEqual(new Set(["emulator (capture)", "tape"]));
    }
  });
});
