import type { PostHog as PostHogJs } from "posthog-js";
import { PostHog } from "posthog-node";
import { describe, expect, test } from "vitest";
import type { Sim } from "../../../src/index.ts";
import { posthogJs } from "../../../ui/copy/send.ts";
import { meantProperties } from "../../../ui/copy/subject.ts";
import { sent } from "../../ui/copy/sim.ts";
import { spokenItems } from "../../ui/copy/spoken.ts";
import { openPageServer } from "../page-server.ts";
import { type Inspector, inspectorStage } from "./support.ts";

const stage = inspectorStage({ sharesTab: true });

/** Captures with the real SDK, one event after the other. */
async function capture(sim: Sim, ...events: { event: string; distinctId: string; properties?: object }[]) {
  const posthog = new PostHog(sim.apiKey, { host: sim.url, flushAt: 100 });
  for (const it of events) posthog.capture(it as Parameters<PostHog["capture"]>[0]);
  await posthog.shutdown();
}

/** Sends items as they are. */
async function send(sim: Sim, ...batch: unknown[]): Promise<void> {
  const answer = await fetch(`${sim.url}/batch/`, {
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: JSON.stringify({ api_key: sim.apiKey, batch }),
  });
  expect(answer.ok).toBe(true);
}

const tree = ({ page }: Inspector, label = "Properties") => page.getByRole("tree", { name: label });

describe("an event", () => {
  test("of the real SDK: what it is, who it was, how it came", async () => {
    await using it = await stage.open("#/events");
    const { sim, page } = it;
    await capture(
      sim,
      { event: "signed_up", distinctId: "u1", properties: { plan: "free", seats: 1 } },
      {
        event: "signed_up",
        distinctId: "u1",
        properties: {
          plan: "pro",
          seats: "3",
          $set: { name: "Ann" },
          items: [{ sku: "mug" }],
          $groups: { company: "acme" },
        },
      },
    );
    await it.go("#/events/2");
    await page.getByRole("heading", { name: "signed_up" }).waitFor();
    const details = page.getByRole("article", { name: "Event 2" });
    await details.getByText(/^✓?kept$/).waitFor();
    // by the id: the uuid of an anonymous person is gone when it is merged
    expect(await details.getByRole("link", { name: "u1" }).getAttribute("href")).toBe("#/people/u1?in=1");
    await it.look("event-payload-dark");
    await it.axe();

    await page.getByRole("link", { name: /^Person/ }).click();
    await details.getByRole("row", { name: /sets name text Ann unchanged/ }).waitFor();
    await it.look("event-person-dark");

    await page.getByRole("link", { name: "Request", exact: true }).click();
    await details.getByText("posthog-node", { exact: false }).first().waitFor();
    expect(await details.getByRole("list", { name: "Decoding steps" }).innerText()).toMatch(
      /application\/json\s+gzip\s+JSON/,
    );
    await it.look("event-request-dark");

    await page.getByRole("link", { name: /^Findings/ }).click();
    await details.getByText("property_type_flip").waitFor();
    expect(await details.getByText("properties.seats was number first").count()).toBe(1);
    await it.look("event-findings-dark");
    await it.axe();

    await page.getByRole("link", { name: "As sent" }).click();
    await tree(it, "Item as sent").getByText("signed_up").waitFor();
  });

  test("dropped: the reason and its fix", async () => {
    await using it = await stage.open("#/events", { theme: "light" });
    await send(it.sim, { event: "checkout", properties: { a: 1 } }, { event: "x".repeat(210), distinct_id: "u" });
    await it.go("#/events/1");
    const details = it.page.getByRole("article", { name: "Event 1" });
    await details.getByText("missing_distinct_id").waitFor();
    await details.getByText("Fix: send distinct_id", { exact: false }).waitFor();
    await it.look("event-dropped-light");
    await it.axe();
    await it.go("#/events/2");
    await it.page.getByText("Fix: shorten it").waitFor();
    await it.look("event-warned-light");
  });

  test("that does not exist says so", async () => {
    await using it = await stage.open("#/events/99", { allow: /404/ });
    await expect(it.page.getByText("there is no event 99").waitFor()).resolves.toBeUndefined();
  });

  test("steps to the one before and the next, by key and by link", async () => {
    await using it = await stage.open("#/events");
    const event = (name: string, distinctId: string) => ({ event: name, distinctId });
    await capture(it.sim, event("a", "u1"), event("b", "u1"), event("a", "u2"), event("b", "u2"), event("a", "u1"));
    const shows = (seq: number) => it.page.getByRole("article", { name: `Event ${seq}` }).waitFor();
    const step = (name: RegExp) => it.page.getByRole("link", { name });
    await it.go("#/events/3");
    await shows(3);
    await step(/^Previous event of the same name.*event 1/).waitFor();
    await it.page.keyboard.press("]");
    await shows(5);
    await step(/^Previous event of the same person.*event 2/).click();
    await shows(2);
    await expect(step(/^Previous event of the same person.*event 1/).waitFor()).resolves.toBeUndefined();
    await it.page.keyboard.press("{");
    await shows(1);
  });

  test("two are compared, by default with the one before", async () => {
    await using it = await stage.open("#/events");
    await capture(
      it.sim,
      { event: "bought", distinctId: "u1", properties: { amount: 49, plan: "pro", old: true, list: [1, 2] } },
      { event: "other", distinctId: "u1" },
      { event: "bought", distinctId: "u2", properties: { amount: "49", plan: "pro", fresh: null, list: [1, 3, 2] } },
    );
    await it.go("#/events/3/compare");
    const table = it.page.getByRole("table");
    await table.getByRole("row", { name: "changed properties.amount number 49 text 49" }).waitFor();
    const rows = await table.getByRole("row").allInnerTexts();
    expect(rows.map((row) => row.split(/\s+/).slice(0, 3).join(" "))).toEqual([
      expect.stringContaining("Field"),
      expect.stringContaining("distinct_id"),
      expect.stringContaining("properties.amount"),
      expect.stringContaining("properties.fresh"),
      expect.stringContaining("properties.list[1]"),
      expect.stringContaining("properties.old"),
    ]);
    await it.look("event-compare-dark");
    await it.axe();
    await it.page.getByRole("button", { name: /^Show equal and volatile/ }).click();
    await table.getByRole("row", { name: /volatile uuid/ }).waitFor();
    await it.look("event-compare-all-dark");
    await it.go("#/events/1/compare/3");
    await table.getByRole("row", { name: /properties.amount/ }).waitFor();
    await it.go("#/events/1/compare");
    await it.page.getByText("There is no earlier event with this name.").waitFor();
  });
});

describe("the payload tree", () => {
  test("is driven by keys", async () => {
    await using it = await stage.open("#/events");
    await send(it.sim, { event: "x", distinct_id: "u", properties: { a: { b: [1, 2] }, c: "last", $lib: "web" } });
    await it.go("#/events/1");
    const focused = () => it.page.evaluate(() => document.activeElement?.textContent ?? "");
    await tree(it).getByRole("treeitem").first().focus();
    const press = async (key: string) => {
      await it.page.keyboard.press(key);
      return focused();
    };
    expect(await focused()).toContain("Own properties");
    expect(await press("ArrowDown")).toContain("a:");
    await press("ArrowRight");
    expect(await press("ArrowRight")).toContain("b:");
    await press("Enter");
    expect(await press("ArrowDown")).toContain("0:");
    expect(await press("ArrowLeft")).toContain("b:");
    expect(await press("End")).toContain("Library");
    await press("ArrowRight");
    await press("End");
    expect(await press("Home")).toContain("Own properties");
    expect(it.page.url()).toMatch(/#\/events\/1$/);
    const b = tree(it).getByRole("treeitem", { name: /list b:/ });
    expect(await b.getAttribute("aria-expanded")).toBe("true");
    expect(await b.getAttribute("aria-level")).toBe("3");
  });

  test("searches inside, opens the way, and goes from hit to hit", async () => {
    await using it = await stage.open("#/events");
    const deep = { one: { two: { three: ["hay", "Needle"] } } };
    await send(it.sim, { event: "x", distinct_id: "u", properties: { deep, $lib: "needle.js", other: 1 } });
    await it.go("#/events/1");
    const box = it.page.getByRole("searchbox", { name: "Search keys and values" });
    await box.fill("needle");
    await it.page.getByText("1 of 2").waitFor();
    expect(await tree(it).locator("mark").allInnerTexts()).toEqual(["Needle", "needle"]);
    await it.look("event-search-dark");
    await box.press("Enter");
    await it.page.getByText("2 of 2").waitFor();
    expect(await tree(it).getByRole("treeitem", { selected: true }).innerText()).toContain("$lib");
    await box.fill("nowhere");
    await it.page.getByText("nothing found").waitFor();
  });

  test("copies values and paths", async () => {
    await using it = await stage.open("#/events");
    await it.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const clip = () => it.page.evaluate(() => navigator.clipboard.readText());
    await send(it.sim, {
      event: "x",
      distinct_id: "u",
      properties: { "my key": ["it's"], link: "https://example.com/a" },
    });
    await it.go("#/events/1");
    await tree(it)
      .getByRole("treeitem", { name: /my key/ })
      .click();
    await it.page.getByRole("button", { name: "Copy path" }).click();
    expect(await clip()).toBe('$["my key"]');
    await it.page.getByRole("button", { name: "Copy value" }).click();
    expect(JSON.parse(await clip())).toEqual(["it's"]);
    await tree(it).getByRole("treeitem", { name: /link/ }).click();
    const open = it.page.getByRole("link", { name: "Open link" });
    expect(await open.getAttribute("href")).toBe("https://example.com/a");
    expect(await open.getAttribute("rel")).toBe("noopener noreferrer");
  });

  test("10,000 keys, 5 MB of text and depth 100 are drawn as far as they are asked for", async () => {
    await using it = await stage.open("#/events");
    let depth: unknown = "bottom";
    for (let i = 0; i < 100; i++) depth = { down: depth };
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key_${i}`, i]));
    await send(it.sim, {
      event: "big",
      distinct_id: "u",
      properties: { big: `${"word ".repeat(1_000_000)}end of it`, depth, many },
    });
    await it.go("#/events/1");
    const lines = tree(it).getByRole("treeitem");
    await tree(it).getByRole("button", { name: "… show all 5,000,009 characters" }).waitFor();
    expect((await tree(it).innerText()).length).toBeLessThan(6_000);
    await tree(it)
      .getByRole("treeitem", { name: /many: 10,000 keys/ })
      .click();
    await tree(it).getByRole("button", { name: "show 100 more of 10,000" }).click();
    await lines.filter({ hasText: /key_199:/ }).waitFor();
    expect(await lines.count()).toBeLessThan(220);
    await it.page.getByRole("searchbox").fill("key_9999");
    await lines.filter({ hasText: "key_9999" }).waitFor();
    await it.page.getByRole("searchbox").fill("bottom");
    await lines.filter({ hasText: "bottom" }).waitFor();
    await it.look("event-big-dark");
    await it.page.getByRole("link", { name: "Copy as" }).click();
    await it.page.getByText(/of which 20,000 are shown/).waitFor();
  });
});

const hostile = {
  html: "<img src=x onerror=\"document.title='owned'\">",
  script: "</script><script>document.title='owned'</script>",
  link: "javascript:document.title='owned'",
  tricky: "https://example.com/\u202egpj.exe",
  ansi: "\u001b[31mred\u001b[0m\u0007",
  bidi: "user\u202etxt.exe",
  hidden: "a\u200bb\ufeffc\u0000d",
  "<b onclick=alert(1)>": 1,
};

test("hostile payloads are text that can be read", async () => {
  await using it = await stage.open("#/events");
  const own = JSON.parse('{"__proto__": {"polluted": "yes"}, "constructor": {"prototype": 1}}') as object;
  const name = "<img src=x onerror=alert(1)>\u202e";
  const properties = JSON.parse(
    `${JSON.stringify({ ...hostile, $set: hostile }).slice(0, -1)},${JSON.stringify(own).slice(1)}`,
  );
  const item = { event: name, distinct_id: "\u001b[2J<u>", properties };
  await send(it.sim, item, { ...item, properties: { ...properties, html: "<b>other</b>" } });
  await it.go("#/events/1");
  await tree(it).getByText("__proto__").waitFor();
  const text = await tree(it).innerText();
  for (const shown of ["<img src=x", "</script>", "javascript:", "\\u202e", "\\x1b", "\\u200b", "\\0", "\\x07"])
    expect(text).toContain(shown);
  expect(await it.page.locator(".event-title h2").innerText()).toBe("<img src=x onerror=alert(1)>\\u202e");
  await tree(it)
    .getByRole("treeitem", { name: /^.*__proto__/ })
    .click();
  await tree(it).getByText("polluted").waitFor();
  for (const key of ["link:", "tricky:"]) {
    await tree(it)
      .getByRole("treeitem", { name: new RegExp(key) })
      .first()
      .click();
    expect(await it.page.getByRole("link", { name: "Open link" }).count()).toBe(0);
  }
  await it.look("event-hostile-dark");
  await it.axe();
  for (const place of ["1?tab=person", "1?tab=request", "1?tab=warnings", "1?tab=raw", "1?tab=copy", "2/compare"]) {
    await it.go(`#/events/${place}`);
    await it.page.getByRole("article", { name: /Event 1|Comparison/ }).waitFor();
    await it.look(`event-hostile-${place.replace(/\W/g, "-")}`);
    const seen = await it.page.evaluate(() => ({
      images: document.querySelectorAll("img, #page script, iframe").length,
      links: [...document.querySelectorAll("a")].filter((a) => /^javascript:/i.test(a.getAttribute("href") ?? ""))
        .length,
      raw: /[\p{Cf}\p{Cc}]/u.test((document.querySelector("article")?.textContent ?? "").replaceAll("\n", "")),
      title: document.title,
      polluted: "polluted" in {},
    }));
    expect(seen).toEqual({
      images: 0,
      links: 0,
      raw: false,
      title: expect.not.stringContaining("owned"),
      polluted: false,
    });
  }
});

test("copies as each language, and what is copied works", async () => {
  await using it = await stage.open("#/events");
  await it.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await capture(it.sim, { event: "it's bought", distinctId: "u1", properties: { plan: "pro" } });
  await it.go("#/events/1");
  await it.page.getByRole("heading", { name: "it's bought" }).waitFor();
  await it.page.keyboard.press("c");
  const figure = it.page.locator(".event-part figure.code");
  await figure.getByText("curl").first().waitFor();
  await it.look("event-copy-dark");
  await it.axe();
  for (const [name, part] of [
    ["vitest", 'await expect(ph).toHaveCaptured("it\'s bought", { plan: "pro" }, { distinctId: "u1" });'],
    ["Python", 'event="it\'s bought"'],
    ["Link", `${it.sim.url}/__sim/#/events/1`],
    ["fetch", "await fetch("],
  ] as const) {
    await it.page.getByRole("button", { name, exact: true }).click();
    await figure.getByText(part).first().waitFor();
    await figure.getByRole("button", { name: "Copy" }).click();
    const copied = await it.page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain(part);
  }
  const code = await it.page.evaluate(() => navigator.clipboard.readText());
  await new Function(`return (async () => { ${code} })()`)();
  const again = await it.sim.events.list({ since: 1 });
  expect(again.map((event) => [event.event, event.properties.plan])).toEqual([["it's bought", "pro"]]);
});

test("what is copied for posthog-js does the same again there", async () => {
  await using server = await openPageServer();
  await using it = await stage.open("#/events");
  server.show('<script src="/bundle.js"></script>');
  const items = [
    ...spokenItems.map(([, { item }]) => item),
    { event: "bought", distinct_id: "u1", properties: { plan: "pro" } },
  ];
  const shop = await it.context.newPage();
  await shop.goto(server.url);
  for (const [i, item] of items.entries()) {
    await using ph = await it.sim.project();
    const first = await sent(it.sim, ph, item);
    const code = posthogJs(first, { url: it.sim.url, apiKey: ph.apiKey, item: undefined });
    await shop.evaluate(runWithSdk, [code.replace(/^import .*;$/m, ""), `sdk ${i}`] as const);
    const again = await ph.events.waitFor(first.event, {}, { since: first.seq });
    const { event, distinct_id, person_id, person_mode } = first;
    expect(again).toMatchObject({ event, distinct_id, person_id, person_mode });
    expect(meantProperties(again)).toMatchObject(meantProperties(first));
  }
});

/** Runs in a page that has the real SDK: each text gets an instance of its own, which sends at once and nothing by itself. */
function runWithSdk([text, name]: readonly [string, string]): void {
  const quiet = {
    autocapture: false,
    capture_pageview: false,
    opt_out_useragent_filter: true,
    request_batching: false,
  };
  let made = posthog;
  const handed = new Proxy(posthog, {
    get(_, key) {
      if (key !== "init") return Reflect.get(made, key).bind(made);
      return (apiKey: string, config: object) => {
        made = posthog.init(apiKey, { ...config, ...quiet }, name);
      };
    },
  });
  new Function("posthog", text)(handed);
}

const looks = [
  [400, "light"],
  [2560, "dark"],
  [1280, "light"],
  [400, "dark"],
] as const;

test("is to be looked at: light and dark, narrow and wide", async () => {
  await using it = await stage.open("#/events");
  const properties = {
    plan: "pro",
    amount: 49.5,
    trial: false,
    coupon: null,
    items: [{ sku: "mug", price: 9 }],
    note: "one\ntwo",
  };
  await capture(
    it.sim,
    { event: "checkout completed", distinctId: "user-1", properties: { ...properties, amount: "49", plan: "free" } },
    { event: "checkout completed", distinctId: "user-1", properties: { ...properties, $set: { plan: "pro" } } },
  );
  for (const [name, hash] of [
    ["payload", "#/events/2"],
    ["copy", "#/events/2?tab=copy"],
    ["compare", "#/events/2/compare"],
  ] as const) {
    await it.go(hash);
    await it.page.getByRole("heading", { name: "checkout completed" }).waitFor();
    await it.page
      .getByText(/Own properties|curl|\d changed/)
      .first()
      .waitFor();
    for (const [width, theme] of looks) {
      await it.dress(width, theme);
      const wider = await it.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wider).toBeLessThanOrEqual(0);
      await it.look(`event-${name}-${theme}-${width}`);
    }
    await it.axe();
  }
});

declare const document: {
  title: string;
  activeElement: { textContent: string | null } | null;
  documentElement: { scrollWidth: number };
  querySelector(selector: string): { textContent: string | null } | null;
  querySelectorAll(selector: string): { length: number } & Iterable<{ getAttribute(name: string): string | null }>;
};
declare const posthog: PostHogJs;
declare const innerWidth: number;
declare const navigator: { clipboard: { readText(): Promise<string> } };
