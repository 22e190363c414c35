import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sim } from "../../../src/index.ts";
import { isCampaignParameter } from "../../../src/state/journal/sdk-properties.ts";
import { loaders, openPageServer } from "../page-server.ts";
import { type Inspector, inspectorStage } from "./support.ts";

const stage = inspectorStage();

/** What runs in the page; this process has no DOM. */
interface Measured {
  /** Numbers that stand on more than one line. */
  broken: string[];
  /** Text with a backtick that is no code, also in tooltips. */
  ticks: string[];
  /** What is wider than its place: the page itself, and boxes that cut text off without a sign of it. */
  wide: string[];
  headings: string[];
}

const measure = `(() => {
  const isSeen = (it) => {
    const { width, height } = it.getBoundingClientRect();
    return width > 1 && height > 1 && getComputedStyle(it).visibility !== "hidden";
  };
  const all = [...document.querySelectorAll("body *")].filter(isSeen);
  const broken = [], ticks = [], wide = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (!isSeen(node.parentElement) || node.parentElement.closest("pre, code, .mono, bdi")) continue;
    if (node.data.includes("\`")) ticks.push(node.data);
    // a number by itself: keys and ids may be long
    for (const { 0: text, index } of node.data.matchAll(/(?<![\\w-])\\d[\\d,.:]*\\d(?![\\w-])/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + text.length);
      if (new Set([...range.getClientRects()].map((it) => Math.round(it.top))).size > 1) broken.push(text);
    }
  }
  for (const it of all) {
    if (it.getAttribute("title")?.includes("\`")) ticks.push(it.title);
    const { overflowX, textOverflow, display } = getComputedStyle(it);
    const isCut = /hidden|clip/.test(overflowX) && textOverflow !== "ellipsis" && display !== "inline";
    const isWide = it.scrollWidth > it.clientWidth + 1;
    const isFrame = it.matches("main, .split-list, .split-details");
    if (isWide && (isCut || isFrame) && !it.matches(".events-names")) wide.push(
      it.tagName + "." + it.className + ": " +
        [...it.querySelectorAll("*")]
          .filter((inner) => isSeen(inner) && inner.getBoundingClientRect().right > it.getBoundingClientRect().right + 1)
          .map((inner) => inner.tagName + "." + inner.className + " " + inner.textContent.slice(0, 60))
          .slice(0, 2),
    );
  }
  if (document.documentElement.scrollWidth > innerWidth) wide.push("the page");
  const headings = [...document.querySelectorAll("h1")].map((it) => it.textContent);
  return { broken, ticks, wide, headings };
})()`;

const measured = ({ page }: Inspector) => page.evaluate<Measured>(measure);

async function post(sim: Sim, path: string, body: unknown): Promise<void> {
  await fetch(sim.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

const sendBatch = (sim: Sim, ...batch: object[]) => post(sim, "/batch/", { api_key: sim.apiKey, batch });

const kept = { event: "kept", distinct_id: "u", properties: { plan: "pro" } };
const warned = { event: "doubtful", distinct_id: "u", properties: { $process_person_profile: "perhaps" } };
const dropped = { event: "nobody's", properties: { a: 1 } };

/** A page with posthog-js captures an event. */
async function captureInBrowser({ sim, context }: Inspector): Promise<void> {
  await using server = await openPageServer();
  server.show(
    loaders["npm bundle"](sim, {
      api_host: sim.url,
      request_batching: false,
      opt_out_useragent_filter: true,
      disable_session_recording: true,
      person_profiles: "always",
    }),
  );
  const shop = await context.newPage();
  await shop.goto(`${server.url}?utm_source=news`);
  await shop.evaluate(
    `posthog.capture("order paid", { total: 49.9, plan: "pro", coupon: null, $set: { tier: "gold" } })`,
  );
  await sim.events.waitFor("order paid");
  await shop.close();
}

const lines = ({ page }: Inspector) => page.getByRole("tree", { name: "Properties" }).getByRole("treeitem");

describe("properties of an event of posthog-js", () => {
  test("the app's own first, empty campaign parameters last and folded", async () => {
    await using it = await stage.open("#/events");
    await captureInBrowser(it);
    const { page, sim } = it;
    const { seq, properties } = await sim.events.waitFor("order paid");
    await it.go(`#/events/${seq}`);
    await lines(it).first().waitFor();
    const texts = (await lines(it).allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim());
    const names = texts.map((text) => text.replace(/^[▾▸] /, ""));
    expect(names.slice(0, 4)).toEqual([
      "Own properties 3",
      expect.stringContaining("total"),
      expect.stringContaining("plan"),
      expect.stringContaining("coupon"),
    ]);
    expect(names[4]).toMatch(/^Person and groups \d set\b/);
    const nulls = Object.entries(properties).filter(([name, value]) => value === null && isCampaignParameter(name));
    expect(nulls.length).toBeGreaterThan(20);
    expect(names.at(-1)).toMatch(new RegExp(`^Empty campaign parameters ${nulls.length}\\b`));
    expect(names.find((text) => text.startsWith("Campaign"))).toBe("Campaign 1 utm_source news");

    await page.getByRole("searchbox", { name: "Search keys and values" }).fill("gclid");
    await page.getByRole("treeitem", { name: "null gclid: null", exact: true }).last().waitFor();
    await page.getByRole("searchbox", { name: "Search keys and values" }).fill("");
    await page.getByRole("treeitem", { name: /^.? ?Empty/ }).click();

    await it.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await lines(it).first().click();
    await page.getByRole("button", { name: "Copy value" }).click();
    await page.getByText("Copied").waitFor();
    const copied: string = await page.evaluate("navigator.clipboard.readText()");
    // with its keys in their order
    expect(JSON.stringify(JSON.parse(copied))).toBe(JSON.stringify(properties));
    await it.axe();
  });
});

describe("an outcome", () => {
  test("has one sign and one word, in each view", async () => {
    await using it = await stage.open("#/events");
    const { page, sim } = it;
    await sendBatch(sim, kept, warned, dropped);
    await post(sim, "/batch/", { api_key: "phc_unknown", batch: [kept] });
    /** Sign and word of what stands beside a text. */
    const signs = async (row: string) => {
      const badge = page.locator(row).locator(".badge:has([data-outcome])").first();
      await badge.waitFor();
      const sign = await badge.locator("[data-outcome]").getAttribute("data-outcome");
      return [sign, (await badge.innerText()).replace(/\s+/g, " ").trim()];
    };
    const words = ["dropped", "warned", "kept"];
    const cells = page.locator(".list-row .events-sign");
    await cells.nth(2).waitFor();
    expect(await cells.locator("[data-outcome]").evaluateAll((all) => all.map((it) => it.dataset.outcome))).toEqual(
      words,
    );
    expect(await cells.allTextContents()).toEqual(words);
    for (const [i, word] of words.entries()) {
      await it.go(`#/events/${3 - i}`);
      await page.getByRole("article", { name: `Event ${3 - i}` }).waitFor();
      expect(await signs(".event-head")).toEqual([word, word]);
    }
    await it.go("#/requests/1");
    await page.getByRole("heading", { name: "3 events, 1 dropped" }).waitFor();
    for (const [i, word] of words.entries()) {
      expect(await signs(`.requests-details tbody tr >> nth=${2 - i}`)).toEqual([word, word]);
    }
    await it.go("#/requests/2");
    await page.getByRole("heading", { name: "Request 2" }).waitFor();
    const code = /^rejected: invalid_api_key$/;
    expect(await signs(".requests-badges")).toEqual(["rejected", expect.stringMatching(code)]);
    await it.go("#/start");
    await page.getByText("missing_distinct_id").first().waitFor();
    for (const name of ["kept", "dropped", "rejected"])
      await page.locator(`.shell-totals [data-outcome=${name}]`).waitFor();
    const text = await page.locator("main").innerText();
    expect(text).not.toMatch(/\bodd\b|refused/i);
  });
});

describe("while stepping with j", () => {
  test("the tabs of an event stay where they are", async () => {
    await using it = await stage.open("#/events", { width: 1440 });
    const { page, sim } = it;
    await sendBatch(
      sim,
      kept,
      warned,
      { event: `a name that is far too long ${"x".repeat(250)}`, distinct_id: `id-${"y".repeat(190)}` },
      dropped,
      kept,
    );
    await it.go("#/events/5");
    await page.getByRole("article", { name: "Event 5" }).waitFor();
    // from now on each place that the tabs have is kept, also those of a moment; -1: there were none
    await page.evaluate(`
      window.places = new Set();
      new MutationObserver(() => {
        const tabs = document.querySelector(".event .tabs");
        places.add(tabs ? Math.round(tabs.getBoundingClientRect().top) : -1);
      }).observe(document.querySelector("main"), { childList: true, subtree: true, characterData: true, attributes: true });
    `);
    for (const seq of [4, 3, 2, 1]) {
      await page.keyboard.press("j");
      await page.getByRole("article", { name: `Event ${seq}` }).waitFor();
    }
    const places = await page.evaluate<number[]>("[...places]");
    expect(places).toHaveLength(1);
    expect(places[0]).toBeGreaterThan(0);
  });

  test("a request stays until the next one is there", async () => {
    await using it = await stage.open("#/requests");
    const { page, sim } = it;
    for (let i = 0; i < 3; i++) await sendBatch(sim, kept);
    await it.go("#/requests/3");
    await page.getByRole("heading", { name: "Request body" }).waitFor();
    await page.evaluate(`
      window.isLost = false;
      new MutationObserver(() => {
        isLost ||= document.querySelector(".requests-details .facts") === null;
      }).observe(document.querySelector("main"), { childList: true, subtree: true });
    `);
    for (const n of [2, 1]) {
      await page.keyboard.press("j");
      await page.getByRole("article", { name: `Request ${n}` }).waitFor();
    }
    expect(await page.evaluate("isLost")).toBe(false);
  });
});

describe("the details say", () => {
  test("when, to the millisecond and with the zone", async () => {
    await using it = await stage.open("#/events");
    await sendBatch(it.sim, kept);
    const exact = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC/;
    await it.go("#/events/1");
    await it.page.getByRole("article", { name: "Event 1" }).waitFor();
    // of today: without the date; the zone stands in the bar
    const times = it.page.locator(".event-head time");
    expect(await times.allInnerTexts()).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3}$/),
      expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3}$/),
    ]);
    expect(await times.first().getAttribute("title")).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    await it.go("#/events/1?tab=request");
    await it.page.locator(".event-part time").first().waitFor();
    expect(await it.page.locator(".event-part time").first().innerText()).toMatch(exact);
    await it.go("#/requests/1");
    await it.page.getByRole("heading", { name: "Request body" }).waitFor();
    expect(await it.page.locator(".requests-details .facts time").first().innerText()).toMatch(exact);
  });

  test("that an empty object is JSON, also where nothing read it", async () => {
    await using it = await stage.open("#/requests");
    await post(it.sim, "/ingest/e/", {});
    await post(it.sim, "/i/v0/e/", {});
    await post(it.sim, "/nothing/", "{bad");
    const chain = async (n: number) => {
      await it.go(`#/requests/${n}`);
      await it.page.getByRole("article", { name: `Request ${n}` }).waitFor();
      return (await it.page.locator(".chain").first().innerText()).replace(/\s+/g, " ");
    };
    expect(await chain(1)).toMatch(/application\/json ?JSON/);
    expect(await chain(2)).toMatch(/application\/json ?JSON/);
    expect(await chain(3)).toMatch(/application\/json ?not JSON/);
  });

  test("how to fix a path with a prefix, as Start does", async () => {
    await using it = await stage.open("#/start");
    await post(it.sim, "/ingest/e/", kept);
    const fix = /without \/ingest; the rest is POST \/e/;
    await it.page.getByText(fix).waitFor();
    await it.go("#/requests/1");
    await expect(it.page.locator(".callout").getByText(fix).waitFor()).resolves.toBeUndefined();
  });

  test("each mistake in a body by itself, on Start", async () => {
    await using it = await stage.open("#/start");
    await post(it.sim, "/i/v0/e/", "{bad");
    await post(it.sim, "/i/v0/e/", '{"event": "a"');
    const shown = it.page.locator("main").getByText(/failed to parse request/);
    await expect.poll(() => shown.count()).toBe(2);
    expect(new Set(await shown.allInnerTexts()).size).toBe(2);
  });
});

/** Places of the page, and what is seen there once all of it is. */
const states: readonly (readonly [name: string, hash: string, seen: string | RegExp])[] = [
  ["start", "#/start", "What is lost, and why"],
  ["events", "#/events", "1,203 events"],
  ["events, none", "#/events?f=event:none", "No event matches the filter"],
  ["events, by a filter that is none", "#/events?f=is:nothing", "the filter is wrong"],
  ["a kept event", "#/events/1", "Own properties"],
  ["a warned event", "#/events/2", "$process_person_profile"],
  ["a dropped event", "#/events/3", "missing_distinct_id"],
  ["an event with a long name", "#/events/999", "999 of"],
  ["an event that is gone", "#/events/99999", "there is no event 99999"],
  ["its findings", "#/events/2?tab=warnings", "invalid_process_person_profile"],
  ["two events", "#/events/1/compare/2", "Back to event 1"],
  ["requests", "#/requests", "/ingest/e/"],
  ["a request with many events", "#/requests/1", "1,203 events, 1 dropped"],
  ["a rejected request", "#/requests/2", "Request 2"],
  ["a request that is gone", "#/requests/99999", /99999/],
  ["people", "#/people", "anonymous"],
  ["a person", "#/people/u?in=1", "Timeline"],
  ["a person that is gone", "#/people/nobody?in=1", "no person has"],
  ["groups", "#/people/groups", "No group yet"],
  ["flags", "#/flags", "beta-feature"],
  ["a flag", "#/flags/beta-feature", "As JSON"],
  ["a flag that does not exist", "#/flags/none", 'There is no flag "none"'],
  ["exports", "#/exports", "No batch exports"],
  ["faults", "#/faults", "Presets"],
  ["tapes", "#/tapes", "Modes"],
  ["the tape", "#/tapes/exchanges", "No tape is loaded"],
  ["world", "#/world", "E-mail"],
  ["mistakes of the scenario", "#/world/scenario", "No mistakes"],
  ["keys", "#/world/keys", "Personal keys"],
  ["dashboards", "#/dashboards", "1 dashboard"],
  ["a dashboard", "#/dashboards/1", "TrendsQuery"],
  ["a dashboard that is gone", "#/dashboards/99", "There is no dashboard 99"],
  ["a new insight", "#/dashboards/new?f=event:a%20is:own", "They are left out"],
  ["dialect", "#/world/dialect", /dialect is active$/],
  ["no such page", "#/nothing", "Page not found"],
];

const looks = [
  [1440, "dark", "all"],
  [900, "dark", "none"],
  [390, "light", "colours"],
] as const;

describe("every state is legible", () => {
  let it: Inspector;
  beforeAll(async () => {
    it = await stage.open("#/start", { allow: /40[04]/ });
    const long = { event: `a name of many words ${"and more ".repeat(15)}`, distinct_id: "z".repeat(150) };
    const many = Array.from({ length: 1_200 }, () => long);
    await sendBatch(it.sim, kept, warned, dropped, ...many);
    await post(it.sim, "/i/v0/e/", "{bad");
    await post(it.sim, "/ingest/e/", kept);
  });
  afterAll(() => it?.[Symbol.asyncDispose]());

  test.each(states)("%s", async (_, hash, seen) => {
    await it.go(hash);
    await it.page.locator("main").getByText(seen).filter({ visible: true }).first().waitFor();
    for (const [width, theme, checks] of looks) {
      await it.dress(width, theme);
      const found = await measured(it);
      expect({ width, ...found }).toEqual({ width, broken: [], ticks: [], wide: [], headings: [expect.any(String)] });
      if (checks !== "none") await it.axe(checks);
    }
  });
});
