import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import { newFolder } from "../../support/folder.ts";
import { views } from "../../support/inspector-views.ts";
import { inspectorStage, socketsInReach } from "./support.ts";

const stage = inspectorStage();
const folder = newFolder();

const send = (sim: Sim, body: object, path = "/i/v0/e/") =>
  fetch(`${sim.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: sim.apiKey, ...body }),
  });

const capture = (sim: Sim, event: string) => send(sim, { event, distinct_id: "u" });

const titleIs = (page: Page, title: RegExp) => expect.poll(() => page.title()).toMatch(title);
const hash = (page: Page) => page.evaluate(() => location.hash);

/** How far down the view is, and is then, px. */
const scrolled = (page: Page, to: number) =>
  page.locator("main").evaluate((main, top) => {
    const before = main.scrollTop;
    main.scrollTop = top;
    return [before, main.scrollTop];
  }, to);

test("every view is a key away, has a title, and takes the focus", async () => {
  await using it = await stage.open("#/nowhere");
  const { page } = it;
  for (const { id, key, label } of await views()) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await page.locator(`.shell-nav a[aria-current=page]`, { hasText: label }).waitFor();
    expect(await hash(page)).toMatch(new RegExp(`^#/${id}`));
    await titleIs(page, new RegExp(`^${label} · phx-sim$`));
    expect(await page.evaluate(() => document.activeElement?.closest("main") !== null)).toBe(true);
  }
  await page.goBack();
  expect(await page.locator(".shell-nav a[aria-current=page]").count()).toBe(1);
  // each begins at its beginning, however far down one was before
  await page.setViewportSize({ width: 1280, height: 300 });
  for (const place of ["#/start", "#/faults", "#/world/dialect"]) {
    await it.go(place);
    await page.locator("main h2").first().waitFor();
    await expect.poll(() => scrolled(page, 0)).toEqual([0, 0]);
    expect(await scrolled(page, 400)).toEqual([0, 400]);
  }
  await it.go("#/nowhere");
  await page.getByText("Page not found").waitFor();
  // the first stop of the keyboard leads past the navigation
  await page.reload();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("view");
});

test("the sheet reports the keys, holds the focus and gives it back", async () => {
  await using it = await stage.open("");
  const { page } = it;
  const help = page.getByRole("button", { name: "Keyboard shortcuts" });
  await help.focus();
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await sheet.getByRole("heading", { name: "Go to" }).waitFor();
  await it.look("shell-help-1280-dark");
  await it.axe();
  // other keys stay with the sheet
  await page.keyboard.press("g");
  await page.keyboard.press("w");
  expect(await hash(page)).toBe("");
  for (const _ of "12345") await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.closest("dialog, body")?.tagName)).toMatch(/DIALOG|BODY/);
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });
  expect(await help.evaluate((button) => button === document.activeElement)).toBe(true);
  await page.keyboard.press("?");
  await sheet.waitFor();
  await page.keyboard.press("?");
  await sheet.waitFor({ state: "detached" });
});

test("totals and the tab's title follow what comes", async () => {
  await using it = await stage.open("");
  const { page, sim } = it;
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await capture(sim, "one");
  await capture(sim, "two");
  await send(sim, { event: "", distinct_id: "u" });
  await send(sim, {}, "/nowhere/");
  await titleIs(page, /^\(2 problems, 3 new, 2 lost\) Start · phx-sim$/);
  await page.locator(".shell-totals", { hasText: "2 kept" }).waitFor();
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: false, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await titleIs(page, /^Start · phx-sim$/);
});

test("a fault cannot be missed, and is cleared from any view", async () => {
  await using it = await stage.open("#/world");
  const { page, sim } = it;
  await sim.faults.apply("capture-503");
  const alert = page.getByRole("alert").filter({ hasText: "A fault is active" });
  await alert.getByText("capture-503").waitFor();
  await it.look("shell-fault-1280-dark");
  await it.dress(400, "light");
  await it.look("shell-fault-400-light");
  await it.axe();
  await alert.getByRole("button", { name: "Clear it" }).click();
  await alert.waitFor({ state: "detached" });
  expect(await sim.faults.list()).toEqual([]);
});

test("the clock is in sight while it is not the machine's", async () => {
  await using it = await stage.open("", { sim: { clock: { now: "2030-01-01T00:00:00Z", frozen: true } } });
  await it.page.getByText("clock frozen at 20").waitFor();
  await it.sim.clock.resume();
  await expect(it.page.getByText(/clock \d+ d ahead/).waitFor()).resolves.toBeUndefined();
});

test("the choice of a project stays from view to view, and is part of the address", async () => {
  await using it = await stage.open("");
  const { page, sim } = it;
  const made = await sim.project({ name: "Second shop" });
  await page.getByLabel("Project", { exact: true }).selectOption({ label: "Second shop" });
  await page.getByText(made.apiKey).first().waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("w");
  expect(await hash(page)).toContain(`project=${made.id}`);
  await page.reload();
  await page.locator("[data-connection=live]").waitFor();
  expect(await page.getByLabel("Project", { exact: true }).inputValue()).toBe(String(made.id));
});

test("the theme is the system's until someone chooses, and is kept", async () => {
  await using it = await stage.open("", { theme: "dark" });
  const ground = () => it.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await it.page.keyboard.press("T");
  expect(await ground()).toBe(dark);
  await it.page.keyboard.press("T");
  expect(await ground()).not.toBe(dark);
  await it.page.reload();
  await it.page.locator("[data-connection=live]").waitFor();
  expect(await ground()).not.toBe(dark);
  // who wants no motion gets none
  await it.page.emulateMedia({ reducedMotion: "reduce" });
  const durations = await it.page.evaluate(() =>
    [...document.querySelectorAll("*")].map((element) => getComputedStyle(element).transitionDuration),
  );
  expect([...new Set(durations)]).toEqual(["0s"]);
});

test("a part that did not come is reported, and comes once the sim answers", async () => {
  await using it = await stage.open("#/nowhere", { allow: /ERR_FAILED|WebSocket|ERR_CONNECTION/ });
  const { page, sim } = it;
  const cut = new Set(["flags", "tapes"]);
  const asked: string[] = [];
  await page.route(/\/__sim\/app\/(?:flags|tapes)-/, (route) => {
    const name = /app\/(\w+)/.exec(route.request().url())?.[1] ?? "";
    asked.push(name);
    return cut.has(name) ? route.abort() : route.continue();
  });
  await it.context.addInitScript(socketsInReach);
  await page.goto(`${sim.inspectorUrl}?again#/flags`);
  const lost = page.getByText("This part of the page did not load");
  await lost.waitFor();
  // when the idle time's round is over, too, nothing but the button asks again
  await expect.poll(() => asked).toContain("tapes");
  cut.delete("flags");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("new-checkout").waitFor();
  await it.go("#/tapes");
  await lost.waitFor();
  await it.axe();
  cut.clear();
  await page.evaluate("window.lastSocket.close()");
  await page.getByText("The emulator responds to everything").first().waitFor();
  expect(await lost.count()).toBe(0);
});

test("a sim that goes and comes back is found again, and no row is there twice", async () => {
  const options = { data: join(folder, "again"), allow: /WebSocket|ERR_CONNECTION/ };
  await using it = await stage.open("#/events", { sim: { data: options.data }, allow: options.allow });
  const { page, sim } = it;
  await capture(sim, "before");
  const rows = page.locator("[role=grid] [role=row][aria-selected]");
  await expect.poll(() => rows.count()).toBe(1);
  const parts = () => page.evaluate(() => performance.getEntriesByType("resource").map((part) => part.name));
  await expect.poll(async () => (await parts()).filter((name) => name.includes("/world-")).length).toBe(1);
  const port = Number(new URL(sim.url).port);
  await sim.close();
  await page.getByRole("alert").getByText("The sim was stopped.").waitFor();
  await it.look("shell-lost-1280-dark");
  // every view is here already, and says what is the matter
  for (const { id } of await views()) {
    await it.go(`#/${id}`);
    await page.locator("main").getByText("the sim does not respond").first().waitFor();
  }
  await it.go("#/events");
  await using again = await startSim({ data: options.data, port });
  await page.locator("[data-connection=live]").waitFor();
  await capture(again, "after");
  await expect.poll(() => rows.count()).toBe(2);
  await expect.poll(() => page.getByRole("alert").count()).toBe(0);
});

test("a sim that comes back with another past leaves nothing of the one before", async () => {
  await using it = await stage.open("#/events/2?tab=request", { allow: /WebSocket|ERR_CONNECTION|404/ });
  const { page, sim } = it;
  await page.getByText("there is no event 2").waitFor();
  for (const event of ["one", "two"]) await capture(sim, event);
  const details = page.getByRole("article", { name: "Event 2" });
  await details.getByRole("heading", { name: "two" }).waitFor();
  await details.getByText("/i/v0/e/").first().waitFor();
  await page.getByRole("link", { name: "As sent" }).focus();
  const port = Number(new URL(sim.url).port);
  await sim.close();
  await page.getByRole("alert").getByText("The sim was stopped.").waitFor();
  await using again = await startSim({ port });
  await page.getByText("Event 2 no longer exists").waitFor();
  await page.getByRole("heading", { name: "No events yet" }).waitFor();
  await send(again, { batch: [1, 2].map((i) => ({ event: `new ${i}`, distinct_id: "u" })) }, "/batch/");
  await details.getByRole("heading", { name: "new 2" }).waitFor();
  await details.getByText("/batch/").first().waitFor();
  // the focus does not go with the details
  await page.getByRole("link", { name: "As sent" }).focus();
  await page.keyboard.press("Escape");
  await details.waitFor({ state: "detached" });
  expect(await page.evaluate(() => document.activeElement?.closest("[role=grid]") !== null)).toBe(true);
});

test("a connection that breaks goes on where it was", async () => {
  await using it = await stage.open("", { allow: /WebSocket/ });
  const { page, sim } = it;
  await page.routeWebSocket(/\/__sim\/ws/, (route) => {
    const server = route.connectToServer();
    const frames = { sent: 0 };
    server.onMessage((message) => {
      route.send(message);
      // breaks with the third rows frame
      if (String(message).startsWith('{"t":"rows"') && ++frames.sent === 3) void route.close({ code: 4408 });
    });
  });
  await page.goto(`${sim.inspectorUrl}#/events`);
  await page.reload();
  await page.locator("[data-connection=live]").waitFor();
  const rows = page.locator("[role=grid] [role=row][aria-selected]");
  for (let i = 0; i < 12; i++) await capture(sim, `event ${i}`);
  await expect.poll(() => rows.count()).toBe(12);
  await capture(sim, "the last");
  await page.locator("[role=grid]").getByText("the last").first().waitFor();
  expect(await rows.count()).toBe(13);
});

test("a page that no one sees for long lets go, and goes on when it is seen", async () => {
  await using it = await stage.open("#/events");
  const { page, sim } = it;
  await page.clock.install();
  await page.reload();
  await page.locator("[data-connection=live]").waitFor();
  const show = (hidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "hidden", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await show(true);
  await page.clock.fastForward("09:00");
  expect(await page.locator("[data-connection=live]").count()).toBe(1);
  await page.clock.fastForward("01:30");
  await page.locator("[data-connection=connecting]").waitFor();
  await capture(sim, "unseen");
  await show(false);
  await page.locator("[data-connection=live]").waitFor();
  await page.clock.runFor(1_000);
  await page.locator("[role=grid]").getByText("unseen").first().waitFor();
});

test.each([
  [4430, "Too many pages of this sim are open"],
  [4400, "have different versions"],
])("reported goodbye with %i, it says why and tries again", async (code, words) => {
  await using it = await stage.open("", { allow: /WebSocket/ });
  const { page, sim } = it;
  let calls = 0;
  await page.clock.install();
  await page.routeWebSocket(/\/__sim\/ws/, (route) => {
    if (++calls > 1) return void route.connectToServer();
    route.onMessage(() => void route.close({ code, reason: "for a test" }));
  });
  await page.goto(`${sim.inspectorUrl}?again`);
  await page.getByText(words).waitFor();
  expect(calls).toBe(1);
  await page.clock.runFor(8_000);
  await page.locator("[data-connection=live]").waitFor();
  expect(await page.getByText(words).count()).toBe(0);
});

test("open to the network, the page asks for the token and then works", async () => {
  await using it = await stage.open("", { sim: { host: "0.0.0.0" }, allow: /401|WebSocket/ });
  const { page, sim, context } = it;
  expect(await hash(page)).toBe("#/");
  const other = await context.newPage();
  await other.goto(`${sim.url}/__sim/#/events`);
  await other.getByText("This sim needs its token").waitFor();
  await other.getByLabel("Inspector link or token").fill("not a token");
  await other.getByRole("button", { name: "Open" }).click();
  await other.getByText("This contains no token").waitFor();
  await other.getByLabel("Inspector link or token").fill(sim.inspectorUrl);
  await other.getByRole("button", { name: "Open" }).click();
  await other.locator("[data-connection=live]").waitFor();
  expect(await hash(other)).toBe("#/events");
  // a link with a token counts in a page that is open, too
  await other.goto(`${sim.url}/__sim/#t=${"0".repeat(32)}`);
  await other.getByText("This sim needs its token").waitFor();
  await other.goto(sim.inspectorUrl);
  await other.locator("[data-connection=live]").waitFor();
  expect(await hash(other)).toBe("#/");
});

test("the sim's own address leads to the page", async () => {
  await using it = await stage.open("");
  await it.page.goto(it.sim.url);
  await it.page.locator("[data-connection=live]").waitFor();
  expect(it.page.url()).toBe(`${it.sim.url}/__sim/`);
});

test("the page asks for a token of one's own, too, and takes it from an address", async () => {
  await using it = await stage.open("", { allow: /401|WebSocket/ });
  const { page } = it;
  await using locked = await startSim({ token: "my-own~token.of+characters/==" });
  await page.goto(`${locked.inspectorUrl}#/events`);
  await page.getByText("This sim needs its token").waitFor();
  await page.getByLabel("Inspector link or token").fill(" my-own~token.of+characters/== ");
  await page.getByRole("button", { name: "Open" }).click();
  await page.locator("[data-connection=live]").waitFor();
  expect(await hash(page)).toBe("#/events");
  const other = await (await it.context.browser()?.newContext())?.newPage();
  await other?.goto(`${locked.url}/__sim/#t=${locked.controlToken}`);
  await other?.locator("[data-connection=live]").waitFor();
  await other?.context().close();
  // It would ask a sim that has ended.
  await page.goto("about:blank");
});

declare const location: { hash: string };
declare const performance: { getEntriesByType(type: string): { name: string }[] };
declare const document: {
  hidden: boolean;
  body: Element;
  activeElement: (Element & { id: string }) | null;
  dispatchEvent(event: Event): void;
  querySelectorAll(selector: string): Iterable<Element>;
};
declare function getComputedStyle(element: Element): { backgroundColor: string; transitionDuration: string };
interface Element {
  tagName: string;
  closest(selector: string): Element | null;
}
