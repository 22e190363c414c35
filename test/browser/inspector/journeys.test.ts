import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sim, SimOptions } from "../../../src/index.ts";
import { type Inspector, inspectorStage } from "./support.ts";

const { open } = inspectorStage();

const hostile = '<img src=x onerror="globalThis.hacked=1">\u202e{{1}}';

const scenario: SimOptions["scenario"] = {
  version: 1,
  api_key: "phc_walk",
  flags: {
    banner: true,
    "new-checkout": {
      filters: {
        groups: [{ rollout_percentage: 50 }],
        multivariate: {
          variants: [
            { key: "control", rollout_percentage: 50 },
            { key: hostile, rollout_percentage: 50 },
          ],
        },
      },
    },
    [hostile]: {
      filters: { groups: [{ properties: [{ key: hostile, value: [hostile] }] }, { rollout_percentage: 30 }] },
    },
  },
};

const start = (hash: string, more: object = {}): Promise<Inspector> => open(hash, { sim: { scenario }, ...more });

const post = (sim: Sim, path: string, body: object) =>
  fetch(`${sim.url}${path}`, { method: "POST", body: JSON.stringify(body) });

/** Two sessions with a break, flags, an error, and a request to a wrong path. */
async function walk(sim: Sim, id = "ines"): Promise<void> {
  const now = Date.now();
  const event = (name: string, seconds: number, properties: object, of = id) => ({
    event: name,
    distinct_id: of,
    timestamp: new Date(now + seconds * 1_000).toISOString(),
    properties,
  });
  const [first, second] = [{ $session_id: "session-1" }, { $session_id: "session-2" }];
  const batch = [
    event("$pageview", -1_900, { $pathname: "/", ...first }, `anon ${id}`),
    event("list_viewed", -1_880, first, `anon ${id}`),
    event("$identify", -60, { $anon_distinct_id: `anon ${id}`, $set: { email: `${id}@shop.test` }, ...second }),
    event("$pageview", -58, { $current_url: "https://shop.test/basket", ...second }),
    event("$autocapture", -50, { $el_text: "Buy", ...second }),
    event("$feature_flag_called", -45, { $feature_flag: "banner", $feature_flag_response: true, ...second }),
    event("$exception", -40, { $exception_list: [{ type: "TypeError", value: "no price" }], ...second }),
    event("order_completed", -5, { total: 4, ...second }),
  ];
  await post(sim, "/batch/", { api_key: "phc_walk", batch });
  await post(sim, "/ingest/e/", { api_key: "phc_walk", event: "lost", distinct_id: id });
  await post(sim, "/flags/?v=2", { token: "phc_walk", distinct_id: id });
}

const lane = (it: Inspector, name: RegExp) => it.page.getByRole("img", { name });

describe("a journey", () => {
  let it: Inspector;
  beforeAll(async () => {
    it = await start("#/people");
    await walk(it.sim);
  });
  afterAll(() => it?.[Symbol.asyncDispose]());

  test("a person's page leads to it; it begins at the first error, and arrows step through the moments", async () => {
    const { page } = it;
    await it.go("#/people/ines");
    await page.getByRole("link", { name: "Journey" }).click();
    await page.getByRole("heading", { name: /^\$exception at/ }).waitFor();
    await lane(it, /2 page views: \/, \/basket/).waitFor();
    await lane(it, /Clicks, 1: click “Buy”/).waitFor();
    await lane(it, /1 rejected or with losses.*\/ingest\/e\/ 404/).waitFor();
    expect(await page.locator(".swim-fold").innerText()).toMatch(/min/);
    await page.locator(".swim").focus();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("heading", { name: /^order_completed at/ }).waitFor();
    await page.keyboard.press("Home");
    await page.getByRole("heading", { name: /^\$pageview at/ }).waitFor();
    await page.keyboard.press("End");
    await page.getByRole("heading", { name: /^POST \/flags\/ at/ }).waitFor();
    await page.getByText("Flags in force at that moment").waitFor();
    await page.locator(".journey-force").getByText("banner").waitFor();
    await page.keyboard.press("h");
    await page.getByRole("heading", { name: /^POST \/ingest\/e\/ at/ }).waitFor();
    await page.getByText("not_found").waitFor();
    // the chosen moment is part of the address
    expect(page.url()).toContain("at=r");
    await page.getByRole("button", { name: "Zoom in" }).click();
    await page.getByText("2 ×").waitFor();
    await it.axe();
  });

  test("a session shows itself alone", async () => {
    await it.go("#/people/ines?part=journey");
    await it.page.getByRole("navigation", { name: "Sessions" }).getByRole("link").first().click();
    await lane(it, /1 page view: \//).waitFor();
    await lane(it, /Own events, 1: list_viewed/).waitFor();
    expect(it.page.url()).toContain("session=session-1");
    await it.page.getByRole("link", { name: "All sessions of this person" }).click();
    await lane(it, /2 page views/).waitFor();
  });

  test.each([
    ["light", 1440],
    ["dark", 1024],
    ["light", 390],
  ] as const)("%s, %i px wide", async (theme, width) => {
    await it.dress(width, theme);
    await it.go("#/people/ines?part=journey");
    await it.page.getByRole("heading", { name: /^\$exception at/ }).waitFor();
    await it.look(`journey-${theme}-${width}`);
    await it.axe();
    expect(await it.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });
});

test("hostile ids, names, texts, flag keys and variants stay text; damaged times are named", async () => {
  await using it = await start("#/people", { allow: /Content Security Policy/ });
  const { page, sim } = it;
  await walk(sim, hostile);
  const bad = (name: string, properties: object, timestamp: string) => ({
    event: name,
    distinct_id: hostile,
    timestamp,
    properties: { $session_id: hostile, ...properties },
  });
  const batch = [
    bad(hostile, { [hostile]: hostile }, "2999-01-01T00:00:00Z"),
    bad("$pageview", { $current_url: "javascript:globalThis.hacked=1" }, "1970-01-01T00:00:00Z"),
    bad("$autocapture", { $el_text: hostile }, "nonsense"),
    bad("$exception", { $exception_list: [{ type: hostile, value: hostile }] }, new Date().toISOString()),
    bad("$feature_flag_called", { $feature_flag: hostile, $feature_flag_response: hostile }, new Date().toISOString()),
  ];
  await post(sim, "/batch/", { api_key: "phc_walk", batch });
  for (let i = 0; i < 8; i++) await post(sim, "/flags/?v=2", { token: "phc_walk", distinct_id: `${hostile}${i}` });
  const inert = async () => {
    expect(await page.locator("main img, main iframe, main script").count()).toBe(0);
    expect(await page.locator("body").innerText()).not.toContain("\u202e");
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    expect(await page.evaluate("globalThis.hacked")).toBeUndefined();
  };
  await it.go(`#/people/${encodeURIComponent(hostile)}?part=journey`);
  await page.getByText("1 event with a time in the future").waitFor();
  await page.getByText("1 event with a time before 2000").waitFor();
  await inert();
  await page.locator(".swim").focus();
  for (const key of ["Home", "ArrowRight", "ArrowRight", "End", "ArrowLeft", "ArrowLeft"]) {
    await page.keyboard.press(key);
    await inert();
  }
  await it.axe();
  for (const key of ["new-checkout", hostile]) {
    await it.go(`#/flags/${encodeURIComponent(key)}`);
    await page.getByRole("img", { name: /hashes of the \d+ distinct ids seen/ }).waitFor();
    await page.getByRole("heading", { name: "Newest decisions" }).waitFor();
    await inert();
    await it.axe();
  }
});

describe("a flag's page", () => {
  test.each([
    ["light", 1440],
    ["dark", 1024],
    ["dark", 390],
  ] as const)("shows where hashes lie and how variants are split, %s, %i px wide", async (theme, width) => {
    await using it = await start("#/flags/new-checkout", { theme, width });
    const { page, sim } = it;
    for (let i = 0; i < 40; i++) await post(sim, "/flags/?v=2", { token: "phc_walk", distinct_id: `id-${i}` });
    const figure = page.getByRole("img", { name: /Set 1: hashes of the 40 distinct ids seen/ });
    await figure.waitFor();
    await page.getByText("asked for 40 ids").waitFor();
    await page.getByRole("img", { name: /^control: \d+ seen, .* expected/ }).waitFor();
    expect(await figure.getAttribute("aria-label")).toMatch(/\d+ lie below the threshold 0\.5/);
    await page.getByText(/^\d+ of 40$/).waitFor();
    await it.look(`flag-seen-${theme}-${width}`);
    await it.axe();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await page.getByLabel("Distinct id to explain").fill("id-1");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByText("The trace").waitFor();
  });
});

declare const document: { documentElement: { scrollWidth: number } };
declare const innerWidth: number;
