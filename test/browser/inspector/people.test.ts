import { PostHog } from "posthog-node";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { loaders, openPageServer } from "../page-server.ts";
import { type Inspector, inspectorStage } from "./support.ts";

const stage = inspectorStage();

/** Calls a real SDK, each in a request of its own, in order, and waits until all of it has arrived. */
async function inOrder({ sim }: Inspector, calls: readonly ((posthog: PostHog) => void)[]): Promise<void> {
  const posthog = new PostHog(sim.apiKey, { host: sim.url, flushAt: 1, flushInterval: 0 });
  for (const call of calls) {
    call(posthog);
    await posthog.flush();
  }
  await posthog.shutdown();
}

/** A life: anonymous, identified, aliased, a property that changes, a merge that is refused. */
const life: readonly ((posthog: PostHog) => void)[] = [
  (it) => it.capture({ distinctId: "anon-1", event: "page_seen", properties: { $set: { plan: "free" } } }),
  (it) => it.identify({ distinctId: "user-1", properties: { email: "ada@example.com" } }),
  (it) => it.alias({ distinctId: "anon-1", alias: "user-1" }),
  (it) =>
    it.capture({
      distinctId: "user-1",
      event: "upgraded",
      properties: { $set: { plan: "pro", address: { city: "Ulm" } }, $set_once: { first_plan: "free" } },
    }),
  (it) => it.identify({ distinctId: "user-2", properties: { email: "bob@example.com" } }),
  (it) => it.capture({ distinctId: "user-2", event: "$identify", properties: { $anon_distinct_id: "user-1" } }),
  (it) => it.capture({ distinctId: "user-1", event: "left", properties: { $unset: ["first_plan"] } }),
];

const groups: readonly ((posthog: PostHog) => void)[] = [
  (it) => it.groupIdentify({ groupType: "company", groupKey: "acme", properties: { name: "Acme", tier: "silver" } }),
  (it) => it.groupIdentify({ groupType: "company", groupKey: "acme", properties: { tier: "gold", seats: 5 } }),
  (it) => it.capture({ distinctId: "user-1", event: "report_opened", groups: { company: "acme" } }),
];

test("with none, the page says what to paste; posthog-js identifies in another page, which shows here", async () => {
  await using inspector = await stage.open("#/people");
  await using server = await openPageServer();
  const { page, sim, context } = inspector;
  await page.getByRole("heading", { name: "No person yet" }).waitFor();
  expect(await page.getByText(`posthog.init("${sim.apiKey}"`).count()).toBe(1);
  await inspector.look("people-empty");
  await inspector.axe();
  const config = {
    api_host: sim.url,
    autocapture: false,
    disable_session_recording: true,
    opt_out_useragent_filter: true,
    request_queue_config: { flush_interval_ms: 250 },
  };
  server.show(loaders["npm bundle"](sim, { ...config, person_profiles: "always" }));
  const app = await context.newPage();
  await app.goto(server.url);
  // a page behind another one draws nothing
  await page.bringToFront();
  await page.getByRole("row", { name: /anonymous/ }).click();
  await page.getByRole("heading", { name: /anonymous/ }).waitFor();
  await app.evaluate(() => posthog.identify("user-js", { email: "js@example.com" }));
  await page.getByRole("heading", { name: /js@example.com/ }).waitFor();
  await page.getByRole("list", { name: "How the ids were merged" }).getByText("$identify").waitFor();
  await app.evaluate(() => posthog.group("company", "acme", { tier: "gold" }));
  await page.getByRole("link", { name: "$groupidentify" }).waitFor();
  await inspector.look("people-posthog-js");
  await inspector.axe();
});

describe("a life", () => {
  let inspector: Inspector;
  beforeAll(async () => {
    inspector = await stage.open("#/people/user-2", { allow: /404/ });
    await inspector.page.getByRole("alert").waitFor();
    await inOrder(inspector, life);
    await inspector.page.getByRole("heading", { name: /bob@example.com/ }).waitFor();
  });
  afterAll(() => inspector?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await inspector.dress(1280, "dark");
    await inspector.go("#/people");
  });

  test("a merged person reports how it came to be", async () => {
    const { page } = inspector;
    await page.getByRole("row", { name: /ada@example.com/ }).click();
    const graph = page.getByRole("list", { name: "How the ids were merged" });
    await graph.getByText("user-1", { exact: true }).waitFor();
    expect(await graph.innerText()).toContain("anon-1");
    expect(await graph.innerText()).toContain("$create_alias");
    const timeline = page.locator(".people-moments").last();
    await timeline.getByRole("link", { name: "upgraded" }).waitFor();
    const steps = await timeline.innerText();
    expect(steps).toContain("person created");
    expect(steps).toMatch(/plan\s+from\s+"free"[\s\S]*to\s+"pro"/);
    expect(steps).toMatch(/first_plan\s+from\s+"free"[\s\S]*removed/);
    await inspector.look("people-person");
    await inspector.axe();
    await timeline.locator("li", { hasText: "upgraded" }).getByText("The person after this").click();
    const tree = timeline.getByRole("tree", { name: "The person after this" });
    await tree.getByText("first_plan").waitFor();
    await page.locator(".people-history summary", { hasText: "plan" }).last().click();
    await inspector.look("people-person-open");
    await inspector.axe();
  });

  test("a refused merge is drawn and explained", async () => {
    const { page } = inspector;
    await inspector.dress(1280, "light");
    await inspector.go("#/people/user-2");
    await page.getByText("another person").waitFor();
    expect(await page.getByText("already identified").first().isVisible()).toBe(true);
    expect(await page.getByText("$merge_dangerously", { exact: false }).count()).toBeGreaterThan(0);
    await inspector.look("people-refused-light");
    await inspector.axe();
    await page.getByRole("link", { name: "user-1" }).click();
    await page.getByRole("heading", { name: /ada@example.com/ }).waitFor();
  });

  test("links to the event, the request, and all events of the person", async () => {
    const { page } = inspector;
    await inspector.go("#/people/anon-1");
    const link = page.getByRole("link", { name: "Filter events of this person" });
    await link.waitFor();
    const address = new URL((await link.getAttribute("href"))?.slice(1) ?? "", "http://sim");
    expect(address.searchParams.get("f")).toMatch(/^distinct_id:(anon-1,user-1|user-1,anon-1)$/);
    const moment = page.locator(".people-moment", { hasText: "upgraded" });
    expect(await moment.getByRole("link", { name: "upgraded" }).getAttribute("href")).toBe("#/events/4");
    expect(await moment.getByRole("link", { name: "#4" }).getAttribute("href")).toBe("#/requests/4");
  });

  test("search, keys, and the way back", async () => {
    const { page } = inspector;
    await page.getByRole("row", { name: /bob@example.com/ }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("ADA");
    await page.getByRole("row", { name: /bob@example.com/ }).waitFor({ state: "detached" });
    expect(page.url()).toContain("q=ADA");
    await page.getByRole("row", { name: /ada@example.com/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.getByRole("heading", { name: /ada@example.com/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: /ada@example.com/ }).waitFor({ state: "detached" });
    await page.getByRole("searchbox").fill("nothing at all");
    await page.getByText("No persons match the search").waitFor();
  });

  test.each([
    ["narrow", 400, "light"],
    ["wide", 2560, "dark"],
  ] as const)("%s", async (name, width, theme) => {
    const { page } = inspector;
    await inspector.dress(width, theme);
    await page.getByRole("row", { name: /ada@example.com/ }).waitFor();
    await inspector.look(`people-list-${name}`);
    await page.getByRole("row", { name: /ada@example.com/ }).click();
    await page.locator(".people-moment").first().waitFor();
    await inspector.look(`people-person-${name}`);
    await inspector.axe();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
  });
});

test("captured text stays text; forty ids stay readable", async () => {
  await using inspector = await stage.open("#/people");
  const { page, sim } = inspector;
  const hostile = '<img src=x onerror="alert(1)">\u202e';
  const properties = { $set: { [hostile]: hostile, ["__proto__"]: "x", email: hostile } };
  const body = { api_key: sim.apiKey, event: hostile, distinct_id: "javascript:alert(1)", properties };
  await fetch(`${sim.url}/capture/`, { method: "POST", body: JSON.stringify(body) });
  await page.getByRole("row", { name: /onerror/ }).click();
  await page.locator(".people-moment").first().waitFor();
  expect(await page.locator("img").count()).toBe(0);
  expect(await page.locator(".people-details").innerText()).toContain("\\u202e");
  for (let n = 0; n < 39; n++) {
    const body = {
      api_key: sim.apiKey,
      event: "$identify",
      distinct_id: "user-1",
      properties: { $anon_distinct_id: `0195a000-0000-7000-8000-0000000000${String(n).padStart(2, "0")}` },
    };
    await fetch(`${sim.url}/capture/`, { method: "POST", body: JSON.stringify(body) });
  }
  await inspector.go("#/people/user-1");
  await page.getByRole("button", { name: "Show 28 further ids" }).waitFor();
  await inspector.look("people-forty");
  await page.getByRole("button", { name: "Show 28 further ids" }).click();
  expect(await page.locator(".people-ids > li").count()).toBe(40);
});

test("the list grows as its end comes near, and stays where it is", async () => {
  await using inspector = await stage.open("#/people");
  const { page, sim } = inspector;
  const batch = Array.from({ length: 360 }, (_, n) => ({ event: "seen", distinct_id: `user-${n % 300}` }));
  batch.push(...Array.from({ length: 60 }, () => ({ event: "again", distinct_id: "user-0" })));
  await fetch(`${sim.url}/batch/`, { method: "POST", body: JSON.stringify({ api_key: sim.apiKey, batch }) });
  const list = page.getByRole("grid");
  await expect.poll(() => list.getAttribute("aria-rowcount")).toBe("201");
  const place = (): Promise<number> => list.evaluate((it) => it.scrollTop);
  const before = await list.evaluate((it) => {
    it.scrollTop = it.scrollHeight;
    return it.scrollTop;
  });
  expect(before).toBeGreaterThan(1_000);
  await expect.poll(() => list.getAttribute("aria-rowcount")).toBe("301");
  expect(await place()).toBe(before);

  await inspector.go("#/people/user-0");
  const details = page.locator(".people-details");
  const first = await details.elementHandle();
  await page.getByRole("button", { name: "Show older events" }).click();
  await expect.poll(() => details.locator(".people-moment").count()).toBe(62);
  expect(await first?.evaluate((it) => it.isConnected)).toBe(true);
});

test("groups: what to paste, a group with its history and its events, one that does not exist", async () => {
  await using inspector = await stage.open("#/people/groups", { theme: "light", height: 1100, allow: /404/ });
  const { page } = inspector;
  await page.getByRole("heading", { name: "No group yet" }).waitFor();
  await inspector.look("people-groups-empty-light");
  await inspector.axe();
  await inOrder(inspector, groups);
  await page.getByRole("row", { name: /Acme/ }).click();
  await page.getByRole("heading", { name: /Acme/ }).waitFor();
  expect(page.url()).toContain("#/people/groups/company/acme");
  const steps = page.locator(".people-moments").first();
  expect(await steps.innerText()).toMatch(/tier\s+from\s+"silver"[\s\S]*to\s+"gold"/);
  await page.getByRole("link", { name: "report_opened" }).waitFor();
  await inspector.look("people-group");
  await inspector.axe();
  await inspector.go("#/people/groups/planet/mars");
  await page.getByText('there is no group "mars" of the type "planet"').waitFor();
});

declare const posthog: {
  identify(id: string, properties: object): void;
  group(type: string, key: string, properties: object): void;
};
declare const document: { documentElement: { scrollWidth: number } };
declare const innerWidth: number;
