import { PostHog } from "posthog-node";
import { describe, expect, test } from "vitest";
import type { Sim } from "../../../src/index.ts";
import { loaders, openPageServer } from "../page-server.ts";
import { type Inspector, inspectorStage, socketsInReach } from "./support.ts";

const { open } = inspectorStage();

declare const location: { hash: string };

type Where = Pick<Sim, "url" | "apiKey">;

/** A real SDK that sends each event at once. */
const sdkFor = ({ url, apiKey }: Where) =>
  new PostHog(apiKey, { host: url, flushAt: 1, flushInterval: 0, disableGeoip: true });

/** An event as someone may get it wrong. */
const send = ({ url, apiKey }: Where, event: object) =>
  fetch(`${url}/i/v0/e/`, { method: "POST", body: JSON.stringify({ api_key: apiKey, ...event }) });

/** N events in one batch, numbered. */
async function sendMany({ url, apiKey }: Where, count: number, from = 0): Promise<void> {
  const batch = Array.from({ length: count }, (_, i) => ({
    event: `event ${from + i}`,
    distinct_id: "user-1",
    properties: { amount: from + i },
  }));
  const answer = await fetch(`${url}/batch/`, { method: "POST", body: JSON.stringify({ api_key: apiKey, batch }) });
  expect(answer.status).toBe(200);
}

const rowsOf = ({ page }: Inspector) => page.locator(".list-window .list-row");
const rowOf = (it: Inspector, text: string) => rowsOf(it).filter({ hasText: text });
const totalOf = ({ page }: Inspector, count: number) =>
  page.locator(".events-total").getByText(String(count), { exact: true });
const filterOf = ({ page }: Inspector) => page.getByRole("combobox", { name: "Filter events" });
const hashOf = async ({ page }: Inspector) => decodeURIComponent(await page.evaluate(() => location.hash));

describe("events as they come", () => {
  test("each with what became of it and why", async () => {
    await using stage = await open("#/events");
    const { sim, page } = stage;
    await page.getByRole("heading", { name: "No events yet" }).waitFor();
    expect(await page.locator("pre").textContent()).toContain(`new PostHog("${sim.apiKey}"`);
    await stage.look("events-empty-dark");
    await stage.axe();

    const sdk = sdkFor(sim);
    sdk.capture({ distinctId: "user-1", event: "order paid", properties: { amount: 12 } });
    await rowOf(stage, "order paid").locator("[data-outcome=kept]").waitFor();
    await send(sim, { event: "nobody's" });
    await rowOf(stage, "missing_distinct_id").locator("[data-outcome=dropped]").waitFor();
    await rowOf(stage, "nobody's").getByText("the event has no distinct_id, or an empty one").waitFor();
    await send(sim, { event: "late", distinct_id: "u", timestamp: new Date(Date.now() - 3_600_000).toISOString() });
    await rowOf(stage, "late").getByText("its time is 1 h before its arrival").waitFor();
    sdk.capture({ distinctId: "user-1", event: "odd", properties: { $process_person_profile: "perhaps" } });
    await rowOf(stage, "odd").getByText("warned").waitFor();
    await rowOf(stage, "invalid_process_person_profile").waitFor();
    expect(await rowsOf(stage).count()).toBe(4);
    await page.getByRole("button", { name: "1 dropped" }).waitFor();
    await page.getByRole("button", { name: "1 warned" }).waitFor();
    await stage.axe();
    await sdk.shutdown();
  });

  test("from posthog-js in another page, too", async () => {
    await using server = await openPageServer();
    await using stage = await open("#/events");
    const { sim, context } = stage;
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
    await rowOf(stage, "$pageview").locator("[data-outcome=kept]").waitFor();
    await shop.getByRole("button", { name: "Buy now" }).click();
    await rowOf(stage, "$autocapture").waitFor();
    await rowOf(stage, "click “Buy now” button").waitFor();
    await stage.page.getByRole("checkbox", { name: "Hide SDK events" }).check();
    await rowOf(stage, "$autocapture").waitFor({ state: "detached" });
    expect(await hashOf(stage)).toBe("#/events?f=is:own");
    await stage.page.getByRole("checkbox", { name: /Hide SDK events [2-9]/ }).uncheck();
    await rowOf(stage, "$autocapture").waitFor();
  });

  test("that are all dropped are not passed over in silence", async () => {
    await using stage = await open("#/events");
    await send(stage.sim, { event: "nobody's" });
    await stage.page.getByText("This event was dropped").waitFor();
    await send(stage.sim, { event: "nobody's" });
    await stage.page.getByText("All 2 events were dropped").waitFor();
    await stage.page.getByText("Fix: send distinct_id").waitFor();
    await stage.go("#/events?f=is:dropped");
    await stage.page.getByText("All 2 events were dropped").waitFor({ state: "detached" });
    await stage.go("#/events");
    await stage.page.getByText("All 2 events were dropped").waitFor();
    await send(stage.sim, { event: "hello", distinct_id: "u" });
    await expect(
      stage.page.getByText("All 2 events were dropped").waitFor({ state: "detached" }),
    ).resolves.toBeUndefined();
  });

  test("where no frames are drawn, as in a tab that is not seen, rows come anyway", async () => {
    await using stage = await open("#/events");
    await stage.context.addInitScript("window.requestAnimationFrame = () => 0");
    await stage.page.reload();
    await stage.page.getByRole("heading", { name: "No events yet" }).waitFor();
    await sendMany(stage.sim, 3);
    await rowOf(stage, "event 2").waitFor();
  });

  test("a page that loses the sim's word goes on where it was", async () => {
    await using stage = await open("#/events");
    const { sim, page } = stage;
    await stage.context.addInitScript(socketsInReach);
    await page.reload();
    await sendMany(sim, 3);
    await rowOf(stage, "event 2").waitFor();
    await page.evaluate("window.lastSocket.close()");
    await sendMany(sim, 3, 3);
    await rowOf(stage, "event 5").waitFor();
    expect(await rowsOf(stage).count()).toBe(6);
    await totalOf(stage, 6).waitFor();
  });

  test("hostile names are text", async () => {
    await using stage = await open("#/events");
    const name = "<img src=x onerror=alert(1)>\u202e\u0000\u001b[31m";
    await send(stage.sim, { event: name, distinct_id: "__proto__" });
    await rowOf(stage, "<img src=x onerror=alert(1)>\\u202e\\0\\x1b[31m").waitFor();
    await rowOf(stage, "onerror").click();
    await stage.page.getByRole("article").waitFor();
    expect(await stage.page.locator("img").count()).toBe(0);
  });
});

describe("a pause", () => {
  test("holds the list still, counts what comes, and loses nothing", async () => {
    await using stage = await open("#/events");
    const { sim, page } = stage;
    await page.getByRole("heading", { name: "No events yet" }).waitFor();
    await page.keyboard.press("p");
    await page.getByRole("heading", { name: "Paused" }).waitFor();
    await sendMany(sim, 3);
    await page.getByRole("button", { name: "3 new · show" }).click();
    await rowOf(stage, "event 2").waitFor();
    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Paused · resume" }).waitFor();
    await sendMany(sim, 312, 3);
    await page.getByRole("button", { name: "312 new · show" }).waitFor();
    expect(await rowsOf(stage).count()).toBe(3);
    await stage.look("events-paused");
    await stage.axe();
    await page.getByRole("button", { name: "312 new · show" }).click();
    await rowOf(stage, "event 314").waitFor();
    await totalOf(stage, 315).waitFor();
  });

  test("a reader further down keeps the place, and a notice counts what came", async () => {
    await using stage = await open("#/events");
    const { sim, page } = stage;
    await sendMany(sim, 200);
    await totalOf(stage, 200).waitFor();
    await page.locator(".list-body").evaluate((it) => {
      it.scrollTop = 2_800;
    });
    await rowOf(stage, /^.*event 100(?!\d)/.source === "" ? "" : "event 95")
      .first()
      .waitFor();
    const topOf = () =>
      rowOf(stage, "event 95")
        .first()
        .evaluate((it) => Math.round(it.getBoundingClientRect().top));
    const before = await topOf();
    await sendMany(sim, 50, 200);
    await page.getByRole("button", { name: "50 new · show" }).waitFor();
    expect(await topOf()).toBe(before);
    await page.getByRole("button", { name: "50 new · show" }).click();
    await rowOf(stage, "event 249").waitFor();
  });
});

describe("the filter", () => {
  test("completes, applies as one types, and stands in the address", async () => {
    await using stage = await open("#/events");
    const { sim, page } = stage;
    await sendMany(sim, 30);
    await send(sim, { event: "nobody's" });
    await rowOf(stage, "nobody's").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("is:dr");
    await page.getByRole("option", { name: "dropped" }).waitFor();
    await stage.look("events-completion");
    await page.keyboard.press("Tab");
    await rowOf(stage, "event 29").waitFor({ state: "detached" });
    expect([await filterOf(stage).inputValue(), await hashOf(stage)]).toEqual(["is:dropped ", "#/events?f=is:dropped"]);
    await filterOf(stage).fill("event:");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.locator("[role=option][aria-selected=true]").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("listbox").waitFor({ state: "hidden" });
    await filterOf(stage).fill("amo");
    await page.getByRole("option", { name: "prop.amount" }).click();
    expect(await filterOf(stage).inputValue()).toBe("prop.amount:");
    await filterOf(stage).fill("prop.amount:>27");
    await page.keyboard.press("Enter");
    await totalOf(stage, 2).waitFor();
    await sendMany(sim, 1, 30);
    await rowOf(stage, "event 30").waitFor();
    await sendMany(sim, 1, 5);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await totalOf(stage, 33).waitFor();
  });

  test("that is wrong says where and why, and changes nothing", async () => {
    await using stage = await open("#/events");
    const { sim, page } = stage;
    await sendMany(sim, 3);
    await rowOf(stage, "event 2").waitFor();
    await filterOf(stage).fill("evnt:a");
    await page.getByText("did you mean event?").waitFor();
    expect(await page.locator(".filter-box .is-wrong").textContent()).toBe("evnt");
    expect(await filterOf(stage).getAttribute("aria-invalid")).toBe("true");
    expect([await rowsOf(stage).count(), await hashOf(stage)]).toEqual([3, "#/events"]);
    await stage.look("events-wrong");
    await stage.axe();
    await filterOf(stage).fill("event:");
    await page.getByRole("option", { name: "event 2" }).waitFor();
    expect(await page.locator(".filter-box-wrong").count()).toBe(0);
    await page.keyboard.press("Escape");
    await page.getByText("a value is missing here").waitFor();
    await filterOf(stage).fill('event:"event 1"');
    await page.getByText("did you mean event?").waitFor({ state: "detached" });
    await rowOf(stage, "event 2").waitFor({ state: "detached" });
    await rowOf(stage, "event 1").waitFor();
  });

  test("explains itself, and its examples can be tried", async () => {
    await using stage = await open("#/events");
    const { page } = stage;
    await page.getByRole("button", { name: "Filter syntax" }).click();
    await page.getByRole("dialog", { name: "Filter syntax" }).waitFor();
    await stage.look("events-help");
    await stage.axe();
    await page.getByRole("button", { name: "outcome:dropped" }).click();
    await page.getByRole("heading", { name: "No event matches the filter" }).waitFor();
    expect(await hashOf(stage)).toBe("#/events?f=outcome:dropped");
    await page.getByRole("main").getByRole("button", { name: "Clear the filter" }).last().click();
    await page.getByRole("heading", { name: "No events yet" }).waitFor();
  });

  test("a link, a reload and the way back restore it", async () => {
    await using stage = await open("#/events?f=is:dropped");
    const { sim, page } = stage;
    await sendMany(sim, 2);
    await send(sim, { event: "nobody's" });
    await rowOf(stage, "nobody's").waitFor();
    expect([await rowsOf(stage).count(), await filterOf(stage).inputValue()]).toEqual([1, "is:dropped"]);
    await rowOf(stage, "nobody's").click();
    await page.getByRole("article").waitFor();
    expect(await hashOf(stage)).toBe("#/events/3?f=is:dropped");
    await page.reload();
    await page.getByRole("article", { name: "Event 3" }).waitFor();
    expect(await rowsOf(stage).count()).toBe(1);
    await page.goBack();
    await page.getByRole("article").waitFor({ state: "detached" });
    await stage.go("#/events");
    await rowOf(stage, "event 1").waitFor();
    expect(await filterOf(stage).inputValue()).toBe("");
  });
});

describe("clearing", () => {
  test("the view forgets nothing, clearing the events asks first", async () => {
    await using stage = await open("#/events", { allow: /404/ });
    const { sim, page } = stage;
    await sendMany(sim, 3);
    await rowOf(stage, "event 2").waitFor();
    await page.getByRole("button", { name: "From now on" }).click();
    await page.getByRole("heading", { name: "No event matches the filter" }).waitFor();
    await page.getByText("It hides 3 events.").waitFor();
    expect(await hashOf(stage)).toBe("#/events?f=seq:>3");
    await sendMany(sim, 1, 3);
    await rowOf(stage, "event 3").waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await rowOf(stage, "event 0").waitFor();

    await page.getByRole("button", { name: "Clear events…" }).click();
    await stage.axe();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await rowsOf(stage).count()).toBe(4);
    await stage.go("#/events/1");
    await page.getByRole("article", { name: "Event 1" }).waitFor();
    await page.getByRole("button", { name: "Clear events…" }).click();
    await page.getByRole("button", { name: "Clear the events of all projects" }).click();
    await page.getByRole("heading", { name: "No events yet" }).waitFor();
    await page.getByText("Event 1 no longer exists: it was cleared").waitFor();
    expect(await sim.events.list()).toEqual([]);
    await sendMany(sim, 1, 9);
    await rowOf(stage, "event 9").waitFor();
  });
});

describe("rows", () => {
  const hostile = "<img src=x onerror=alert(1)>\u202e";

  test("show what matters, hostile text as text, and dividers between sessions", async () => {
    await using stage = await open("#/events");
    const { sim, page } = stage;
    const web = { $lib: "web", $session_id: `${hostile}session`, $current_url: `https://a.b/${hostile}` };
    const one = (event: string, properties: object, id = "anna") =>
      send(sim, { event, distinct_id: id, properties: { ...web, ...properties } });
    await one("paid", { amount: 149.9, [hostile]: hostile });
    await one("$exception", { $exception_list: [{ type: hostile, value: "it broke" }] });
    await one("$autocapture", { $event_type: hostile, $el_text: hostile });
    await send(sim, { event: "other", distinct_id: hostile, properties: { $session_id: ["x"] } });
    await rowOf(stage, "other").waitFor();
    await rowOf(stage, "amount 149.9").waitFor();
    await rowOf(stage, "it broke").locator(".events-name-exception", { hasText: "<img src=x" }).waitFor();
    await page.locator(".list-divider", { hasText: "anna · session" }).getByText("3 events · 1 exception").waitFor();
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.locator(".list-window").innerText()).not.toContain("\u202e");
    await stage.axe();
    await stage.go("#/events?f=prop.amount:>90");
    await rowOf(stage, "paid").locator("mark", { hasText: "149.9" }).waitFor();
    await one("again", { amount: 500 });
    await rowOf(stage, "again").locator("mark", { hasText: "500" }).waitFor();
  });

  test("have columns that are selected, resized and remembered", async () => {
    await using stage = await open("#/events");
    const { sim, page } = stage;
    await sendMany(sim, 3);
    await rowOf(stage, "event 2").waitFor();
    await page.getByRole("button", { name: "Columns" }).click();
    const dialog = page.getByRole("dialog", { name: "Columns" });
    await dialog.getByRole("checkbox", { name: "Distinct id" }).check();
    await dialog.getByLabel("A property").fill("amount");
    await page.keyboard.press("Enter");
    await dialog.getByRole("checkbox", { name: "amount" }).waitFor();
    await stage.axe();
    await page.keyboard.press("Escape");
    await rowOf(stage, "event 2").getByRole("gridcell", { name: "2", exact: true }).waitFor();
    const edge = page.getByRole("separator", { name: "Width of Event" });
    const before = Number(await edge.getAttribute("aria-valuenow"));
    await edge.press("ArrowRight");
    expect(Number(await edge.getAttribute("aria-valuenow"))).toBe(before + 8);
    await page.reload();
    await rowOf(stage, "event 2").getByRole("gridcell", { name: "2", exact: true }).waitFor();
    await sendMany(sim, 1, 7);
    await rowOf(stage, "event 7").getByRole("gridcell", { name: "7", exact: true }).waitFor();
    expect(Number(await edge.getAttribute("aria-valuenow"))).toBe(before + 8);
    await edge.press("Home");
    expect(Number(await edge.getAttribute("aria-valuenow"))).toBe(before);
    await page.getByRole("columnheader", { name: "Distinct id" }).waitFor();
  });
});

describe("the histogram", () => {
  test("selects a range by pointer and keyboard, and follows what arrives", async () => {
    await using stage = await open("#/events", { sim: { clock: { now: "2026-01-01T12:00:00Z", frozen: true } } });
    const { sim, page } = stage;
    for (let i = 0; i < 10; i++) {
      await sendMany(sim, 1, i);
      await sim.clock.advance("1m");
    }
    await totalOf(stage, 10).waitFor();
    const bars = page.locator(".events-plot");
    const box = await bars.boundingBox();
    if (!box) throw new Error("there is no histogram");
    await page.mouse.move(box.x + box.width * 0.5, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 1, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await totalOf(stage, 5).waitFor();
    await page.locator(".events-of", { hasText: "of 10" }).waitFor();
    expect(await hashOf(stage)).toMatch(/f=time:2026-01-01T12:0\d:.*\.\.2026-01-01T12:/);
    await stage.axe();
    await page.reload();
    await page.getByRole("slider", { name: "Start of the range" }).press("End");
    await totalOf(stage, 1).waitFor();
    await page.getByRole("button", { name: /^Remove the range/ }).click();
    await totalOf(stage, 10).waitFor();
    await sendMany(sim, 2, 20);
    await totalOf(stage, 12).waitFor();
    await page.getByRole("button", { name: "12 kept" }).click();
    expect(await hashOf(stage)).toBe("#/events?f=is:kept");
  });
});

describe("the keyboard alone", () => {
  test("moves, opens, compares, goes to the person and closes", async () => {
    await using stage = await open("#/events");
    const { sim, page } = stage;
    await sendMany(sim, 60);
    await rowOf(stage, "event 59").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("article", { name: "Event 59" }).waitFor();
    await page.keyboard.press("j");
    await page.getByRole("article", { name: "Event 58" }).waitFor();
    await page.keyboard.press("ArrowUp");
    await page.getByRole("article", { name: "Event 59" }).waitFor();
    await stage.look("events-details");
    await page.keyboard.press("Escape");
    await page.getByRole("article").waitFor({ state: "detached" });
    await page.keyboard.press("End");
    await rowOf(stage, "event 0").waitFor();
    await page.keyboard.press("Home");
    await rowOf(stage, "event 59").waitFor();
    await page.keyboard.press("d");
    await rowOf(stage, "to compare").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("d");
    await page.getByRole("article", { name: "Comparison of two events" }).waitFor();
    expect(await hashOf(stage)).toBe("#/events/60/compare/59");
    await page.keyboard.press("Escape");
    await page.keyboard.press("c");
    await page.getByText("vitest").first().waitFor();
    expect(await hashOf(stage)).toContain("tab=copy");
    await page.keyboard.press("t");
    await page.getByText("user-1").first().waitFor();
    expect(await hashOf(stage)).toBe("#/people/user-1?in=1");
  });
});

describe("how it looks", () => {
  test("dark and light, narrow and wide", async () => {
    await using stage = await open("#/events");
    const { sim, page } = stage;
    const names = ["$pageview", "sign_up", "order paid", "$identify", "$feature_flag_called"];
    const sdk = sdkFor(sim);
    for (let i = 0; i < 40; i++)
      sdk.capture({ distinctId: `user-${i % 7}`, event: names[i % 5] ?? "", properties: { amount: i } });
    sdk.capture({ distinctId: "user-1", event: "odd", properties: { $process_person_profile: "perhaps" } });
    await sdk.shutdown();
    await send(sim, { event: "nobody's" });
    await rowOf(stage, "nobody's").waitFor();
    await totalOf(stage, 42).waitFor();
    for (const width of [1280, 2560, 400]) {
      for (const theme of ["dark", "light"] as const) {
        await stage.dress(width, theme);
        await stage.look(`events-${theme}-${width}`);
      }
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    }
    await stage.axe();
    await rowOf(stage, "nobody's").click();
    await page.getByRole("article").waitFor();
    await stage.look("events-light-400-details");
    expect(await page.locator(".events").isVisible()).toBe(false);
  });
});
