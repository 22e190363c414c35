import { describe, expect, test } from "vitest";
import type { Sim } from "../../../src/index.ts";
import { loaders, openPageServer } from "../page-server.ts";
import { type Inspector, inspectorStage, settling } from "./support.ts";

const stage = inspectorStage({ sharesTab: true });

interface Item {
  readonly event: string;
  readonly distinct_id?: string;
  readonly properties: object;
}

/** Sends items as they are; their numbers follow those of the events before. */
async function send(sim: Sim, ...items: readonly Item[]): Promise<void> {
  const batch = items.map((it) => ({ distinct_id: "customer-1", ...it }));
  const answer = await fetch(`${sim.url}/batch/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: sim.apiKey, batch }),
  });
  expect(answer.status).toBe(200);
}

const chain =
  'button.primary:attr__class="primary"attr__data-testid="pay"nth-child="2"nth-of-type="1"text="Pay now";' +
  'div.actions:nth-child="3";form:attr__id="checkout"attr_id="checkout"nth-child="1";main:nth-child="2"';

/** The whole page with a first tab of one kind. */
const details = ({ page }: Inspector, seq: number) => page.getByRole("article", { name: `Event ${seq}` });

const looks = [
  [1440, "light"],
  [1024, "dark"],
  [390, "light"],
] as const;

/** Every number and every word is reached, nothing is wider than the window. */
async function lookedAt(it: Inspector, name: string): Promise<void> {
  for (const [width, theme] of looks) {
    await it.dress(width, theme);
    expect(await it.page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    await it.look(`kind-${name}-${theme}-${width}`);
  }
  await it.axe();
  await it.dress(1280, "dark");
}

test("the head is equally high for every name, steps through the list and gives a link", async () => {
  await using it = await stage.open("#/events");
  const { page, context } = it;
  const names = ["a", "b", "long name ".repeat(19), "a"];
  await send(it.sim, ...names.map((event) => ({ event, properties: {} })));
  const heights: unknown[] = [];
  for (const width of [1440, 1024, 390]) {
    await it.dress(width, "light");
    for (const seq of [1, 3]) {
      await it.go(`#/events/${seq}`);
      await details(it, seq).waitFor();
      const head = details(it, seq).locator(".event-head");
      await head.getByRole("link", { name: `Newer event (k), event ${seq + 1}` }).waitFor();
      const [box, title, link] = await Promise.all([
        head.boundingBox(),
        head.getByRole("heading").boundingBox(),
        head.getByRole("button", { name: "Copy link" }).boundingBox(),
      ]);
      expect(Math.abs((title?.y ?? 0) - (link?.y ?? 99))).toBeLessThan(6);
      expect((link?.x ?? 0) + (link?.width ?? 0)).toBeLessThanOrEqual((box?.x ?? 0) + (box?.width ?? 0));
      heights.push([width, box?.height]);
    }
  }
  expect(new Set(heights.map((it) => JSON.stringify(it))).size).toBe(3);
  await it.dress(1440, "light");
  const close = page.getByRole("button", { name: "Close the details" });
  const [first, last] = [page.getByRole("button", { name: "Copy link" }), close];
  const tops = await Promise.all([first, last].map(async (it) => (await it.boundingBox())?.y ?? 0));
  expect(Math.abs((tops[0] ?? 0) - (tops[1] ?? 99))).toBeLessThan(3);

  await it.go("#/events/1?f=event:a");
  await details(it, 1)
    .getByRole("link", { name: /^Newer event/ })
    .click();
  await details(it, 4).waitFor();
  await details(it, 4).getByRole("link", { name: "Older event (j), event 1" }).waitFor();
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.getByText("Copied").waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(page.url());
  await close.click();
  await details(it, 4).waitFor({ state: "detached" });
});

describe("the first tab", () => {
  test("of a click with the real SDK: a sentence, the elements, and a selector that finds it", async () => {
    await using it = await stage.open("#/events");
    const { sim, page, context } = it;
    await using server = await openPageServer();
    server.show(
      loaders["npm bundle"](sim, {
        api_host: sim.url,
        request_batching: false,
        opt_out_useragent_filter: true,
        disable_session_recording: true,
      }),
    );
    const shop = await context.newPage();
    await shop.goto(server.url);
    await shop.evaluate(`
      document.body.insertAdjacentHTML("beforeend",
        '<form id="check out"><p class="x"></p><button type="button" class="md:flex w-1.5 ~odd"></button></form>');
      const button = document.querySelector("form button");
      button.textContent = 'Pay "now"; or {never}';
      button.setAttribute("data-testid", 'a"b]\\\\c');
      button.click();
    `);
    const { seq } = await sim.events.waitFor("$autocapture", { $event_type: "click" });
    await it.go(`#/events/${seq}`);
    const event = details(it, seq);
    await event.getByText('Click on the button “Pay "now"; or {never}”').waitFor();
    const crumbs = event.getByRole("list", { name: "Element chain" }).getByRole("button");
    expect((await crumbs.allInnerTexts()).slice(-2)).toEqual(["form#check out", "button.md:flex"]);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await event.getByRole("button", { name: "Copy selector" }).click();
    await event.getByText("Copied").waitFor();
    const selector: string = await page.evaluate("navigator.clipboard.readText()");
    expect(await shop.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`)).toBe(1);
    expect(await shop.evaluate(`document.querySelector(${JSON.stringify(selector)}).tagName`)).toBe("BUTTON");
    await crumbs.nth(-2).click();
    await event.getByText("check out", { exact: true }).waitFor();
    await event.getByText("form#check\\ out", { exact: true }).waitFor();
  });

  test("of an identify: the person before and after", async () => {
    await using it = await stage.open("#/events");
    await send(
      it.sim,
      { event: "$set", distinct_id: "anon-1", properties: { $set: { plan: "free" }, $set_once: { first: 20 } } },
      {
        event: "$identify",
        properties: { $anon_distinct_id: "anon-1", $set: { plan: "pro" }, $set_once: { first: 22 } },
      },
      {
        event: "$groupidentify",
        properties: { $group_type: "company", $group_key: "acme", $group_set: { tier: "gold" } },
      },
    );
    await it.go("#/events/2");
    const event = details(it, 2);
    await event.getByText("two ids, one person from now on").waitFor();
    await event.getByRole("row", { name: /changed plan .*free → .*pro \$set/ }).waitFor();
    await event.getByRole("row", { name: /as before first .*20 stays; .*22 was sent \$set_once/ }).waitFor();
    await lookedAt(it, "identify");
    await it.go("#/events/3");
    await details(it, 3)
      .getByRole("row", { name: /new tier .*gold \$group_set/ })
      .waitFor();
  });

  test("of a used flag: the decision, its request, and that both agree", async () => {
    await using it = await stage.open("#/events");
    const { sim } = it;
    const answer = await fetch(`${sim.url}/flags/?v=2`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ api_key: sim.apiKey, distinct_id: "customer-1" }),
    });
    const { flags } = (await answer.json()) as { flags: Record<string, { variant: string }> };
    const value = flags["new-checkout"]?.variant;
    const used = (response: unknown) => ({
      event: "$feature_flag_called",
      properties: { $feature_flag: "new-checkout", $feature_flag_response: response },
    });
    await send(sim, used(value), used("none of its variants"));
    await it.go("#/events/1");
    const event = details(it, 1);
    await event.getByText("The event agrees with the response.").waitFor();
    await event.getByText(/hash 0\.\d+ draws/).waitFor();
    expect(await event.getByRole("link", { name: "request #1" }).getAttribute("href")).toBe("#/requests/1");
    expect(await event.getByRole("link", { name: "new-checkout" }).getAttribute("href")).toBe("#/flags/new-checkout");
    await lookedAt(it, "flag");
    await it.go("#/events/2");
    await details(it, 2).getByText(`The event does not agree: the response had "${value}".`).waitFor();
  });

  test("of pages, surveys, vitals and heatmaps", async () => {
    await using it = await stage.open("#/events");
    const page = { $current_url: "http://shop.test/basket?step=2#pay", title: "Basket", utm_source: "news" };
    await send(
      it.sim,
      { event: "$pageleave", properties: { ...page, $prev_pageview_pathname: "/a", $prev_pageview_duration: 84.2 } },
      {
        event: "survey sent",
        properties: {
          $survey_id: "s",
          $survey_name: "First basket",
          $survey_questions: [
            { id: "a", question: "How likely?", type: "rating", scale: 10 },
            { id: "b", question: "May we write?" },
          ],
          $survey_response_a: 9,
        },
      },
      { event: "$web_vitals", properties: { $web_vitals_INP_value: "600", $web_vitals_LCP_value: 1200 } },
      {
        event: "$$heatmap",
        properties: { $viewport_width: 800, $heatmap_data: { "http://x/": [{ x: 1, y: 2, type: "click" }, {}] } },
      },
      { event: "$autocapture", properties: { $event_type: "click", $elements_chain: chain } },
    );
    const expected = [
      ["page", "1 min 24 s"],
      ["survey", "not answered"],
      ["vitals", "poor"],
      ["heatmap", "800 × 2 px · 1 point without a place"],
      ["click", 'form#checkout button.primary[data-testid="pay"]'],
    ] as const;
    for (const [i, [name, text]] of expected.entries()) {
      await it.go(`#/events/${i + 1}`);
      await details(it, i + 1)
        .getByText(text, { exact: true })
        .waitFor();
      await lookedAt(it, name);
    }
    expect(await details(it, 5).getByRole("list", { name: "Element chain" }).innerText()).toMatch(
      /main\s+form#checkout\s+div\.actions\s+button\.primary/,
    );
    await it.go("#/events/2");
    await details(it, 2).getByRole("img", { name: "9 of 0 to 10" }).waitFor();
    await details(it, 2).getByRole("link", { name: "First basket" }).click();
    await it.page.waitForURL(/#\/events\?f=prop\.%24survey_id%3As$/);
  });
});

/** Events of every kind with this value wherever a first tab reads one. */
function everyKindWith(value: unknown): readonly Item[] {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const bag = { [text]: value, list: [value], "a b": { [text]: value } };
  const element = { tag_name: value, $el_text: value, classes: value, attr__id: value, [`attr__${text}`]: value };
  const page = { $current_url: value, title: value, $referrer: value, utm_source: value, $screen_name: value };
  return [
    { event: "$autocapture", properties: { $event_type: value, $elements: [element, value, element] } },
    { event: "$rageclick", properties: { $elements_chain: value, $el_text: value } },
    {
      event: "$dead_click",
      properties: { $elements_chain: `${text}.${text}:text="${text}"attr__x="${text}";${text}`, $elements: value },
    },
    { event: "$copy_autocapture", properties: { $selected_content: value, $elements: value } },
    { event: "$pageview", properties: page },
    { event: "$pageview", properties: { $current_url: `http://x/${text}?${text}=${text}#${text}` } },
    { event: "$pageleave", properties: { ...page, $prev_pageview_pathname: value, $prev_pageview_duration: value } },
    { event: "$screen", properties: page },
    { event: "$identify", properties: { $anon_distinct_id: value, $set: bag, $set_once: bag, $unset: [value] } },
    { event: "$set", properties: { $set: value, $set_once: value, $unset: value } },
    { event: "$create_alias", properties: { alias: value } },
    { event: "$groupidentify", properties: { $group_type: value, $group_key: value, $group_set: bag } },
    { event: "$groupidentify", properties: { $group_type: "company", $group_key: text, $group_set: value } },
    {
      event: "survey sent",
      properties: {
        $survey_id: value,
        $survey_name: value,
        $survey_questions: [{ id: value, question: value, type: value, scale: value }, value],
        [`$survey_response_${text}`]: value,
        $survey_response: [value, bag],
      },
    },
    { event: "survey dismissed", properties: { $survey_id: value, $survey_questions: value } },
    {
      event: "$feature_flag_called",
      properties: {
        $feature_flag: value,
        $feature_flag_response: value,
        $feature_flag_reason: value,
        $feature_flag_error: value,
      },
    },
    { event: "$$heatmap", properties: { $heatmap_data: value, $viewport_width: value } },
    {
      event: "$$heatmap",
      properties: {
        $viewport_height: value,
        $heatmap_data: {
          [text]: [
            { x: 1, y: value, type: value },
            { x: 1, y: 1, type: value },
          ],
        },
      },
    },
    {
      event: "$web_vitals",
      properties: {
        $web_vitals_LCP_value: 1,
        $web_vitals_CLS_value: value,
        $web_vitals_LCP_event: { attribution: { element: value } },
      },
    },
  ];
}

/** Elements that no view makes, links that lead elsewhere, characters that none shows as they are. */
const traces = `(() => {
  const alien = "img, iframe, object, embed, base, form, style, [onerror], [onload], [onclick], [srcdoc]";
  const found = [...document.querySelectorAll("body :is(" + alien + "), body script")].map((it) => it.outerHTML);
  const links = [...document.querySelectorAll("a[href]")].map((it) => it.getAttribute("href"));
  const shown = document.body.innerText.match(/[\\u0000-\\u0008\\u000b-\\u001f\\u007f\\u202a-\\u202e\\u2066-\\u2069]/g);
  const broken = document.body.innerText.includes("This view failed") ? ["broken"] : [];
  return [...found, ...links.filter((it) => !it.startsWith("#")), ...(shown ?? []), ...broken];
})()`;

/** Shows every event once its parts are there. */
async function shownAll(it: Inspector): Promise<string[]> {
  const found: string[] = [];
  const settled = settling(it.page);
  for (const { seq, event } of await it.sim.events.list()) {
    await it.go(`#/events/${seq}`);
    await it.page.locator(`article[aria-label="Event ${seq}"] .tabs`).waitFor();
    await settled();
    const here: string[] = await it.page.evaluate(traces);
    found.push(...here.map((trace) => `${event}: ${trace}`));
  }
  return found;
}

const hostile = [
  "<img src=x onerror=globalThis.hacked=true>",
  '"><svg onload=globalThis.hacked=true>;</script><script>globalThis.hacked=true</script>',
  "javascript:globalThis.hacked=true",
  "__proto__",
  "\u202etxt.exe\u202c \u001b[31m\u0000\ud800",
];

test("hostile text in every kind is text", async () => {
  await using it = await stage.open("#/events", { allow: /status of (400|404)/ });
  const reports: string[] = [];
  it.page.on("dialog", (dialog) => {
    reports.push(dialog.message());
    void dialog.dismiss();
  });
  for (const text of hostile) await send(it.sim, ...everyKindWith(text));
  expect(await shownAll(it)).toEqual([]);
  expect(reports).toEqual([]);
  expect(await it.page.evaluate("['hacked' in globalThis, 'x' in {}]")).toEqual([false, false]);
});

test("damaged values of every kind are shown as far as they can be", async () => {
  await using it = await stage.open("#/events", { allow: /status of (400|404)/ });
  for (const value of [null, 5, [], { a: [{}] }, "x;".repeat(5_000)]) await send(it.sim, ...everyKindWith(value));
  const many = <T>(item: (i: number) => T): T[] => Array.from({ length: 10_000 }, (_, i) => item(i));
  const large: readonly Item[] = [
    { event: "$$heatmap", properties: { $heatmap_data: { x: many((x) => ({ x, y: x })) } } },
    {
      event: "survey sent",
      properties: { $survey_questions: many((id) => ({ id })), $survey_response: many((i) => i) },
    },
    { event: "$set", properties: { $set: Object.fromEntries(many((i) => [`p${i}`, i])) } },
    { event: "$pageview", properties: { $current_url: `http://x/?${"a=1&".repeat(10_000)}` } },
    { event: "$autocapture", properties: { $elements: many(() => ({ tag_name: "p" })) } },
  ];
  for (const item of large) await send(it.sim, item);
  expect(await shownAll(it)).toEqual([]);
  expect(await it.page.locator(".first-crumbs").getByRole("button", { name: "192+ more" }).count()).toBe(1);
});
