import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import type { PostHog } from "posthog-js";
import { describe, expect, test } from "vitest";
import type { SimOptions } from "../../../src/index.ts";
import {
  clickOn,
  element,
  opening,
  sendEvent,
  sendPart,
  session,
  start,
  typedIn,
} from "../../lab/sessions/recorded.ts";
import { loaders, openPageServer } from "../page-server.ts";
import { inspectorStage } from "./support.ts";

declare const getComputedStyle: (it: unknown) => { color: string };
declare const window: { posthog: PostHog; hacked?: boolean };

const stage = inspectorStage();
const patient = { timeoutMs: 30_000 };

const scenario: SimOptions["scenario"] = {
  version: 1,
  organizations: [
    {
      name: "Org",
      projects: [{ id: 3, name: "Shop", api_key: "phc_sessions", remote_config: { sessionRecording: true } }],
    },
  ],
};

/** The recorded page, in rrweb's frame inside the player's. */
const recorded = (page: Page) => page.frameLocator("iframe").frameLocator("iframe");

/** A server that notes every request. */
async function openTrap() {
  const hits: string[] = [];
  const server = createServer(({ url }, response) => {
    hits.push(url ?? "");
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    hits,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A page that tries to load, run, redirect and send. */
const hostile = (evil: string) => {
  const run = "parent.parent.hacked = parent.hacked = window.hacked = true";
  return opening(
    element(
      "body",
      { onload: run, background: `${evil}/bg`, style: `background: url(${evil}/style)` },
      element("h1", { onclick: run }, "Hostile"),
      element("script", {}, run),
      element("script", { src: `${evil}/a.js` }),
      element("img", { src: `${evil}/a.png`, srcset: `${evil}/b.png 2x`, onerror: run }),
      element("img", {
        src: "data:image/svg+xml,%3Csvg onload='parent.hacked=true' xmlns='http://www.w3.org/2000/svg'/%3E",
      }),
      element("svg", { onload: run }, element("use", { href: `${evil}/s.svg#x` })),
      element("iframe", { src: `${evil}/frame`, srcdoc: `<script>${run}</script>` }),
      element("object", { data: `${evil}/o` }),
      element("embed", { src: `${evil}/e` }),
      element("video", { src: `${evil}/v`, poster: `${evil}/p`, autoplay: "" }),
      element("a", { href: `javascript:${run}`, id: "link" }, "Link"),
      element("form", { action: `${evil}/f`, method: "post" }, element("input", { name: "x", autofocus: "" })),
      element("style", {}, `@import "${evil}/i.css"; h1 { background: u\\72l(${evil}/escaped) }`),
    ),
    [
      element("meta", { "http-equiv": "refresh", content: `0;url=${evil}/refresh` }),
      element("base", { href: evil }),
      element("link", { rel: "stylesheet", href: `${evil}/a.css` }),
      element("link", { rel: "prefetch", href: `${evil}/prefetch` }),
      element("style", {
        _cssText: `@font-face { font-family: x; src: url(${evil}/font) } h1 { color: green; font-family: x }`,
      }),
    ],
  );
};

describe("sessions", () => {
  test("a recording of posthog-js plays, with what happened beside it", async () => {
    await using app = await openPageServer();
    await using inspector = await stage.open("#/sessions", { sim: { scenario }, width: 1440, height: 900 });
    const { sim, page } = inspector;
    await page.getByText("No session yet").waitFor();
    const config = { api_host: sim.url, opt_out_useragent_filter: true, request_batching: false };
    app.show(loaders["snippet with /static/array.js"]({ url: sim.url, apiKey: sim.apiKey }, config));
    const shop = await inspector.context.newPage();
    await shop.goto(app.url);
    await shop.waitForFunction(() => window.posthog.sessionRecordingStarted?.());
    await shop.fill("#name", "Ines Weber");
    await shop.click("#buy");
    await shop.evaluate(() => window.posthog.capture("order_completed", { amount: 149.9 }));
    await sim.events.waitFor("$snapshot_items", undefined, patient);
    await sim.events.waitFor("order_completed", undefined, patient);
    // what is still buffered is sent when the page is left
    await shop.goto("about:blank");
    await shop.close();
    await sim.settle(patient);

    await page.locator(".sessions-list .list-row").click();
    await recorded(page).getByRole("heading", { name: "Shop" }).waitFor();
    const transcript = page.getByRole("list").filter({ hasText: "opened" });
    await transcript.getByText("order_completed").waitFor();
    await transcript.getByText("Buy now").waitFor();
    await transcript.getByText("•").first().waitFor();
    // posthog-js masks inputs by default
    expect(await page.locator("body").innerText()).not.toContain("Ines Weber");

    await page.locator("body").press("ArrowRight");
    await page.getByRole("button", { name: "Play" }).click();
    await page
      .getByRole("button", { name: "Pause" })
      .or(page.getByText("Play", { exact: true }))
      .first()
      .waitFor();
    await transcript.getByText("Buy now").click();
    await page.locator("[aria-current=true]").first().waitFor();
    await page.getByRole("link", { name: /^Parts/ }).click();
    await page
      .getByText(/\d+ full/)
      .first()
      .waitFor();
    await inspector.look("session-1440-dark");
    await inspector.axe();
    for (const [width, theme] of [
      [1440, "light"],
      [1024, "light"],
      [390, "dark"],
    ] as const) {
      await inspector.dress(width, theme);
      await inspector.look(`session-${width}-${theme}`);
      await inspector.axe("colours");
    }
  });

  test("a hostile recorded page loads nothing and runs nothing", async () => {
    await using trap = await openTrap();
    // the policy refuses what is spelled so that the text does not show it
    await using inspector = await stage.open("#/sessions", { sim: { scenario }, allow: /escaped.*img-src data:/ });
    const { sim, page } = inspector;
    page.on("dialog", (it) => trap.hits.push(it.message()));
    await sendPart(sim, [
      ...hostile(trap.url),
      {
        type: 3,
        timestamp: start + 1_000,
        data: {
          source: 0,
          texts: [],
          removes: [],
          attributes: [{ id: 3, attributes: { onclick: "window.hacked = true", src: `${trap.url}/m.png` } }],
          adds: [],
        },
      },
      clickOn({ id: 3 }, start + 1_500),
    ]);
    await sendEvent(sim, "<img src=x onerror=hacked=1>\u202e", start + 500, {
      $current_url: "javascript:alert(1)",
      title: "<b>x</b>",
    });
    await inspector.go(`#/sessions/${session}`);
    const heading = recorded(page).getByRole("heading", { name: "Hostile" });
    await heading.waitFor();
    expect(await heading.evaluate((it) => getComputedStyle(it).color)).toBe("rgb(0, 128, 0)");
    await page.getByText("not loaded").waitFor();
    await page.getByRole("button", { name: "Play" }).click();
    await page.getByRole("button", { name: "Play" }).waitFor();
    await page.getByText("<img src=x onerror=hacked=1>\\u202e").first().waitFor();
    for (const frame of page.frames()) expect(await frame.evaluate("globalThis.hacked")).toBeUndefined();
    expect(await page.locator("#view a[href^=javascript]").count()).toBe(0);
    expect(trap.hits).toEqual([]);
  });

  test("a damaged recording says what is missing, and shows the rest", async () => {
    await using inspector = await stage.open("#/sessions", { sim: { scenario } });
    const { sim, page } = inspector;
    const field = element("input", { name: "card" });
    await sendPart(sim, [
      { type: 2, timestamp: start, cv: "2024-10", data: "cut off" },
      typedIn(field, "4242", start + 100),
      { type: 3, timestamp: start + 200, data: { source: 0, adds: [{ parentId: 99, node: null }], texts: 7 } },
      null,
    ]);
    await sendEvent(sim, "seen", start + 500);
    await inspector.go(`#/sessions/${session}?tab=parts`);
    await page.getByText("no full snapshot").waitFor();
    const missing = page.getByRole("list", { name: "What is missing" }).last();
    await missing.getByText("damaged").waitFor();
    expect(await missing.getByRole("listitem").allInnerTexts()).toEqual([
      expect.stringMatching(/full snapshot: the compressed bytes are damaged$/),
      expect.stringMatching(/texts of a mutation: /),
      expect.stringMatching(/event: it is not an event of rrweb: type, timestamp or data is missing$/),
    ]);
    await page.getByRole("link", { name: "Transcript" }).click();
    await page.getByText("4242").waitFor();

    // the next part begins with a whole page
    await sendPart(sim, opening(element("body", {}, element("h1", {}, "Later")), [], start + 3_000));
    await page.getByRole("button", { name: "Load 1 new part" }).click();
    await page.getByText("starts without a full snapshot").waitFor();
    await recorded(page).getByRole("heading", { name: "Later" }).waitFor();
  });

  test("a session without a recording has its events, and an unknown one a reason", async () => {
    await using inspector = await stage.open("#/sessions", { sim: { scenario }, allow: /404/ });
    const { sim, page } = inspector;
    await sendEvent(sim, "seen", start, { plan: "pro" });
    await sendEvent(sim, "$exception", start + 5_000, { $exception_list: [{ type: "TypeError", value: "no" }] });
    await page.locator(".sessions-list .list-row").click();
    await page.getByText("This session has no recording").waitFor();
    await page.getByText("plan pro").waitFor();
    await page.getByRole("link", { name: "Event 1" }).click();
    await page.locator(".event-head").getByRole("link", { name: session }).click();
    await page.getByRole("heading", { name: "Session 0195…ec48" }).waitFor();
    await inspector.axe();
    await inspector.go("#/sessions/unknown");
    const alert = page.getByRole("alert");
    await alert.waitFor();
    expect(await alert.innerText()).toContain('there is no session "unknown"');
  });
});
