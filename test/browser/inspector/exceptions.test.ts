import { PostHog } from "posthog-node";
import { describe, expect, test } from "vitest";
import type { Sim } from "../../../src/index.ts";
import { inspectorStage } from "./support.ts";

const stage = inspectorStage();

async function send(sim: Sim, ...batch: unknown[]): Promise<void> {
  const body = JSON.stringify({ api_key: sim.apiKey, batch });
  expect((await fetch(`${sim.url}/batch/`, { method: "POST", body })).status).toBe(200);
}

const frame = (filename: string, name: string, more: object = {}) => ({
  ...{ filename, function: name, lineno: 8, colno: 17, in_app: true },
  ...more,
});

const shop = (id: string, basket: number) => ({
  event: "$exception",
  distinct_id: id,
  properties: {
    $exception_level: "error",
    $exception_list: [
      {
        type: "CheckoutError",
        value: `could not price basket b-${basket}`,
        mechanism: { type: "onuncaughtexception", handled: false },
        stacktrace: { frames: [frame("src/kernel/base/hash.ts", "checkout")] },
      },
      {
        type: "TypeError",
        value: "Cannot read properties of undefined",
        mechanism: { type: "chained", exception_id: 1, parent_id: 0 },
        stacktrace: {
          frames: [
            frame("src/kernel/base/hash.ts", "postOrder"),
            frame("/app/node_modules/express/a.js", "next", { in_app: false }),
            frame("/app/node_modules/router/b.js", "handle", { in_app: false }),
            frame("src/kernel/base/hash.ts", "priceOf"),
          ],
        },
      },
    ],
  },
});

describe("an exception", () => {
  test("shows its causes, the app's frames with their source, how often it came and what was before", async () => {
    await using it = await stage.open("#/events");
    const { sim, page } = it;
    await send(sim, { event: "checkout_started", distinct_id: "ann" }, shop("ann", 1), shop("bob", 2));
    await it.go("#/events/2");
    await page.getByRole("heading", { name: "Frames of cause 2" }).waitFor();
    await page.getByText("not handled").waitFor();
    await page.getByText("2 library frames: router, express").waitFor();
    const source = page.getByRole("region", { name: "Source around line 8" });
    expect(await source.locator(".exception-hit").innerText()).toContain("Math.imul");
    await page.getByText("src/kernel/base/hash.ts:8", { exact: true }).last().waitFor();
    await page.getByText("2 events · 2 persons").waitFor();
    expect(await page.locator(".exception-before").innerText()).toContain("checkout_started");
    await it.axe();
    for (const [width, theme] of [
      [1440, "light"],
      [1024, "dark"],
      [400, "light"],
    ] as const) {
      await it.dress(width, theme);
      await it.look(`exception-${width}-${theme}`);
      await it.axe("colours");
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    }
    await it.dress(1280, "dark");
    await page.getByRole("checkbox", { name: "In app only" }).uncheck();
    expect(await page.locator(".exception-frame").count()).toBe(4);
    await page.getByRole("button", { name: /CheckoutError/ }).press("Enter");
    await page.getByRole("heading", { name: "Frames of cause 1" }).waitFor();
    await page.getByRole("link", { name: "All 2" }).click();
    await expect.poll(() => page.locator(".list-row").count()).toBe(2);
  });

  test("of the real SDK is read, with the lines that it sent", async () => {
    await using it = await stage.open("#/events");
    const posthog = new PostHog(it.sim.apiKey, { host: it.sim.url });
    posthog.captureException(new Error("outer", { cause: new RangeError("inner") }), "u1");
    await posthog.shutdown();
    await it.go("#/events/1");
    await it.page.getByText("Source as the SDK sent it.", { exact: true }).waitFor();
    expect(await it.page.locator(".exception-hit").first().innerText()).toContain('new RangeError("inner")');
  });

  test("is listed with its equals", async () => {
    await using it = await stage.open("#/exceptions");
    const { sim, page } = it;
    await page.getByRole("heading", { name: "No exceptions" }).waitFor();
    await send(sim, shop("ann", 1), shop("bob", 2), { event: "$exception", distinct_id: "x", properties: {} });
    const row = page.getByRole("row", { name: /CheckoutError/ });
    await row.waitFor();
    expect(await row.getByRole("cell").nth(1).innerText()).toBe("2");
    await page.getByRole("searchbox").fill("basket");
    expect(await page.getByRole("row").count()).toBe(2);
    await it.axe();
    for (const [width, theme] of [
      [1440, "light"],
      [400, "dark"],
    ] as const) {
      await it.dress(width, theme);
      await it.look(`exceptions-${width}-${theme}`);
      await it.axe("colours");
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    }
    await row.getByRole("link", { name: "CheckoutError" }).click();
    await page.getByRole("heading", { name: "The same exception" }).waitFor();
  });

  test("with hostile text stays text", async () => {
    await using it = await stage.open("#/events");
    const { sim, page } = it;
    const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202e\u0000javascript:alert(1)';
    const lines = { context_line: evil, pre_context: [evil], post_context: [evil] };
    const cause = {
      type: evil,
      value: evil,
      mechanism: { type: evil },
      stacktrace: {
        frames: [
          frame(evil, evil, lines),
          frame(`/node_modules/${evil}/x.js`, evil, { in_app: false, module: evil }),
          frame(`https://localhost/${evil}`, evil),
        ],
      },
    };
    const properties = {
      ...{ $exception_list: [cause, cause], $exception_level: evil, $exception_fingerprint: evil },
      $session_id: `" OR ${evil}`,
    };
    await send(
      sim,
      { event: evil, distinct_id: evil, properties: { $session_id: `" OR ${evil}` } },
      { event: "$exception", distinct_id: evil, properties },
    );
    await it.go("#/events/2");
    await page.getByRole("heading", { name: "The same exception" }).waitFor();
    await page.getByRole("checkbox", { name: "In app only" }).uncheck();
    const closed = page.locator(".exception-frames > li > details:not([open]) > summary");
    for (let left = await closed.count(); left > 0; left--) await closed.first().click();
    await page.getByText("1 event · 1 person").waitFor();
    const isInert = async () => {
      expect(await page.evaluate("window.hacked")).toBeUndefined();
      expect(
        await page.locator("main img, main script, main a[href^='http'], main a[href^='javascript']").count(),
      ).toBe(0);
      expect(await page.locator("main").innerText()).not.toContain("\u202e");
    };
    await isInert();
    await it.go("#/exceptions");
    await page.getByRole("row", { name: /img src/ }).waitFor();
    await isInert();
  });

  test("that is damaged or very large is shown as far as possible", async () => {
    await using it = await stage.open("#/events");
    const { sim, page } = it;
    const frames = Array.from({ length: 5_000 }, (_, i) => frame(`src/f${i}.ts`, `f${i}`));
    const long = { type: "Error", value: "long ".repeat(5_000), stacktrace: { frames: [...frames, null] } };
    const loop = { type: "Error", value: "loop", mechanism: { exception_id: 0, parent_id: 0 } };
    const lists = [[null, 7, loop], "}{", { a: 1 }, [], Array.from({ length: 300 }, () => loop), [long]];
    await send(
      sim,
      ...lists.map((it) => ({ event: "$exception", distinct_id: "u", properties: { $exception_list: it } })),
      {
        event: "$exception",
        distinct_id: "u",
        properties: { $exception_type: "Old", $exception_stack_trace_raw: "?" },
      },
    );
    const shows = async (seq: number, text: RegExp) => {
      await it.go(`#/events/${seq}`);
      await page
        .getByRole("article", { name: `Event ${seq}` })
        .getByText(text)
        .first()
        .waitFor();
    };
    await shows(1, /2 of the causes cannot be read/);
    await shows(1, /the chain was circular/);
    for (const seq of [2, 3, 4]) await shows(seq, /no exception that can be read/);
    await shows(5, /250 further causes are not shown/);
    await shows(6, /4801 further frames are not shown; 1 of the frames cannot be read/);
    await shows(7, /the stack cannot be read/);
  });
});
