import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sim, SimOptions } from "../../../src/index.ts";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { type Inspector, inspectorStage } from "./support.ts";

const stage = inspectorStage();
const now = Date.parse("2026-11-22T13:00:00Z");
const day = 86_400_000;

const send = ({ url, apiKey }: Sim, batch: readonly JsonObject[]) =>
  fetch(`${url}/batch/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: apiKey, batch }),
  });

const order = (id: string, ago: number): JsonObject => ({
  event: "order_completed",
  distinct_id: id,
  timestamp: new Date(now - ago).toISOString(),
  properties: { amount: 10, product: "Monstera", plan: "pro" },
});

/** Orders on two days, by three persons, one of which looked at a product only. */
async function sell(sim: Sim): Promise<void> {
  await sim.clock.freeze(new Date(now));
  const view = (id: string, ago: number): JsonObject => ({ ...order(id, ago), event: "product_viewed" });
  const basket = (id: string, ago: number): JsonObject => ({ ...order(id, ago), event: "basket_opened" });
  const minute = 60_000;
  await send(sim, [
    ...[view("ada", day), basket("ada", day - minute), order("ada", day - 2 * minute)],
    ...[view("bob", 2 * minute), basket("bob", minute), order("bob", 0)],
    view("eve", 3 * day),
  ]);
}

/** The shop, with a query that fails, and a shared dashboard. */
const scenario: SimOptions["scenario"] = {
  version: 1,
  extends: "shop",
  organizations: [
    {
      name: "Fern & Fable",
      projects: [
        {
          name: "Web shop",
          insights: [{ name: "Broken", query: { kind: "TrendsQuery", series: [], interval: "eon" } }],
          dashboards: [
            {
              id: 7,
              name: "For all",
              tiles: [
                { text: "## Hello\n\n- <b>one</b>\n- [two](javascript:alert(1))" },
                { insight: "Orders" },
                { insight: "Orders a day" },
                { insight: "From basket to order" },
                { insight: "Who comes back" },
                { insight: "Broken" },
              ],
              sharing: { enabled: true, access_token: "for-all" },
            },
            { id: 8, name: "Empty" },
          ],
        },
      ],
    },
  ],
};

const sizes = [
  [1440, "light"],
  [1056, "dark"],
  [390, "dark"],
  [390, "light"],
] as const;

declare const document: { documentElement: { scrollWidth: number; clientWidth: number } };
const overflow = ({ page }: Inspector) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

describe("dashboards", () => {
  let it: Inspector;
  beforeAll(async () => {
    it = await stage.open("#/dashboards", { sim: { scenario }, allow: /status of 404/ });
    await sell(it.sim);
  });
  afterAll(() => it?.[Symbol.asyncDispose]());

  const tile = (name: string) => it.page.getByRole("article", { name, exact: true });

  test("the list leads to each of them", async () => {
    await it.page.getByRole("heading", { name: "4 dashboards" }).waitFor();
    await it.page.getByRole("article", { name: "Dashboard For all" }).getByText("shared", { exact: true }).waitFor();
    await it.axe();
    await it.page.getByRole("link", { name: "The shop today" }).click();
    await it.page.getByRole("heading", { name: "The shop today", exact: true }).waitFor();
    await it.go("#/dashboards?from=999");
    await it.page.getByRole("link", { name: "Show the first ones" }).waitFor();
    await it.go("#/dashboards?project=99");
    await it.page.getByRole("heading", { name: "No dashboards" }).waitFor();
    expect(await it.page.getByRole("link", { name: "Make an insight" }).count()).toBe(1);
  });

  test("each tile draws its result, with its query in words; the layout is that of the service", async () => {
    await it.dress(1440, "light");
    await it.go("#/dashboards/1");
    // another test sends one more
    await tile("Orders")
      .getByText(/^[23]$/)
      .waitFor();
    expect(await tile("Revenue").innerText()).toMatch(/[23]0 EUR/);
    await tile("Orders a day")
      .getByRole("img", { name: /order_completed from 0 to [12], in all [23]/ })
      .waitFor();
    expect(await tile("Orders a day").innerText()).toContain("TrendsQuery · order_completed · per day · last 14 days");
    expect(await tile("From basket to order").getByRole("listitem").allInnerTexts()).toEqual([
      expect.stringMatching(/product_viewed\s+3\s+start/),
      expect.stringMatching(/basket_opened\s+2\s+66.7 %\s+1 left/),
      expect.stringMatching(/order_completed\s+2\s+100 %\s+0 left/),
    ]);
    await tile("Who comes back").getByRole("table").waitFor();
    const [orders, revenue, chart] = await Promise.all(
      ["Orders", "Revenue", "Orders a day"].map(async (name) => tile(name).boundingBox()),
    );
    expect(revenue?.y).toBe(orders?.y);
    expect(revenue?.x).toBeGreaterThan((orders?.x ?? 0) + (orders?.width ?? 0));
    expect(chart?.y).toBeGreaterThan((orders?.y ?? 0) + (orders?.height ?? 0));
  });

  test("a chart is a table as well", async () => {
    await it.go("#/dashboards/1");
    await tile("Orders a day").getByRole("button", { name: "Show Orders a day as a table" }).click();
    expect(await tile("Orders a day").getByRole("row").last().innerText()).toMatch(/2026-11-22 \(not over\)\s+[12]/);
    await it.axe();
    await tile("Orders a day").getByRole("button", { name: "Show Orders a day as a chart" }).click();
    await tile("Orders a day").getByRole("img").waitFor();
  });

  test("follows the events; the range of all tiles is in the address", async () => {
    await it.go("#/dashboards/1");
    await send(it.sim, [order("bob", 0)]);
    await expect.poll(() => tile("Orders").innerText()).toMatch(/^Orders\s+3\s/);
    await it.page.getByRole("button", { name: "7 days", exact: true }).click();
    await tile("Orders a day").getByText("last 7 days").waitFor();
    expect(it.page.url()).toContain("from=-7d");
    await it.page.getByRole("button", { name: "Dates" }).click();
    await it.page.getByLabel("From", { exact: true }).fill("2026-11-22");
    await expect.poll(() => tile("Orders").innerText()).toMatch(/^Orders\s+2\s/);
    await it.page.getByRole("button", { name: "As saved" }).click();
    await expect.poll(() => tile("Orders").innerText()).toMatch(/^Orders\s+3\s/);
  });

  test("texts are Markdown without HTML, and a failed query is a message", async () => {
    await it.go("#/dashboards/7");
    const text = it.page.getByRole("article", { name: "Text" });
    await text.getByRole("heading", { name: "Hello" }).waitFor();
    expect(await text.getByRole("listitem").allInnerTexts()).toEqual(["<b>one</b>", "[two](javascript:alert(1))"]);
    await tile("Broken").getByRole("status").getByText("The query failed").waitFor();
    expect(await it.page.getByRole("link", { name: "Shared page" }).getAttribute("href")).toBe("/shared/for-all");
  });

  test("one without tiles, and one that does not exist", async () => {
    await it.go("#/dashboards/8");
    await it.page.getByRole("heading", { name: "Nothing is on this dashboard yet" }).waitFor();
    await it.axe();
    await it.go("#/dashboards/999");
    await it.page.getByRole("heading", { name: "There is no dashboard 999" }).waitFor();
  });

  test("a filter of Events becomes an insight, with what a query cannot express", async () => {
    await it.go("#/events?f=event:product_viewed%20prop.plan:pro%20is:own");
    await it.page.getByRole("link", { name: "Make an insight" }).click();
    const preview = it.page.getByRole("article", { name: "Preview" });
    await preview.getByRole("img", { name: /in all 3/ }).waitFor();
    await it.page.getByRole("status").getByText("is:own").waitFor();
    await it.axe();
    await it.page.getByLabel("Kind").selectOption("funnel");
    await it.page.getByText("A funnel needs the names of two events at least.").waitFor();
    await it.page.getByRole("textbox", { name: /^Steps, in order/ }).fill("product_viewed, order_completed");
    await preview.getByRole("listitem").filter({ hasText: "order_completed" }).waitFor();
    await it.page.getByLabel("Kind").selectOption("number");
    await it.page.getByRole("textbox", { name: /^Events/ }).fill("product_viewed");
    await it.page.getByLabel("Counts").selectOption("sum");
    await it.page.getByLabel("Property that is counted").fill("amount");
    await preview.getByText("30", { exact: true }).waitFor();
    expect(await it.page.getByRole("figure").filter({ hasText: "In a scenario file" }).innerText()).toContain(
      '"math_property": "amount"',
    );
    expect(await it.page.getByRole("figure").filter({ hasText: "In a test" }).innerText()).toContain("{ value: 30 }");
    await it.page.getByLabel("Name", { exact: true }).fill("Sum of orders");
    await it.page.getByRole("combobox", { name: "Dashboard", exact: true }).selectOption({ label: "Empty" });
    await it.page.getByRole("button", { name: "Save the insight" }).click();
    await it.page.getByRole("heading", { name: "Empty", exact: true }).waitFor();
    expect(await tile("Sum of orders").innerText()).toContain("30");
  });

  test.each(sizes)("%i px, %s", async (width, theme) => {
    await it.dress(width, theme);
    for (const [name, hash, seen] of [
      ["list", "#/dashboards", "Autumn campaign"],
      ["board", "#/dashboards/7", "The query failed"],
      ["new", "#/dashboards/new?f=event:order_completed%20is:own", "is:own"],
    ] as const) {
      await it.go(hash);
      await it.page.locator("main").getByText(seen).first().waitFor();
      await it.look(`dashboards-${name}-${width}-${theme}`);
      expect([name, await overflow(it)]).toEqual([name, 0]);
      if (width === 390) await it.axe("colours");
    }
  });
});

describe("the shared page", () => {
  let it: Inspector;
  beforeAll(async () => {
    it = await stage.open("#/dashboards", { sim: { scenario }, allow: /status of 404/ });
    await sell(it.sim);
    // polls are as soon as the test wants them
    await it.page.clock.install();
    await it.page.goto(`${it.sim.url}/shared/for-all`);
  });
  // a violation of its policy would be a complaint
  afterAll(() => it?.[Symbol.asyncDispose]());

  const tile = (name: string) => it.page.getByRole("article", { name, exact: true });

  test("draws the same, without the inspector", async () => {
    await it.page.getByRole("heading", { name: "For all", level: 1 }).waitFor();
    expect(await it.page.title()).toBe("For all");
    expect(await tile("Orders").innerText()).toMatch(/^Orders\s+2\s/);
    await tile("Orders a day").getByRole("img").waitFor();
    await tile("Broken").getByRole("status").waitFor();
    await tile("Orders a day").getByRole("button", { name: "Show Orders a day as a table" }).click();
    await it.axe();
  });

  test("follows the events, and says since when it cannot", async () => {
    await send(it.sim, [order("eve", 0)]);
    await it.page.clock.fastForward(6_000);
    await expect.poll(() => tile("Orders").innerText()).toMatch(/^Orders\s+3\s/);
    const { personal_api_key, project_id } = await it.sim.info();
    const share = (enabled: boolean) =>
      fetch(`${it.sim.url}/api/projects/${project_id}/dashboards/7/sharing`, {
        method: "PATCH",
        headers: { authorization: `Bearer ${personal_api_key}`, "content-type": "application/json" },
        body: JSON.stringify({ enabled }),
      });
    await share(false);
    await it.page.clock.fastForward(6_000);
    await it.page.getByText(/^The data could not be read since \d\d:\d\d:\d\d/).waitFor();
    await share(true);
    await it.page.clock.fastForward(6_000);
    await it.page.getByText("Live: follows the events.").waitFor();
  });

  test.each(sizes)("%i px, %s", async (width, theme) => {
    await it.dress(width, theme);
    await it.look(`shared-${width}-${theme}`);
    expect(await overflow(it)).toBe(0);
    await it.axe("colours");
  });

  test("a theme of its address, and no header", async () => {
    await it.page.goto(`${it.sim.url}/embedded/for-all?theme=dark&noHeader&whitelabel`);
    await tile("Orders").waitFor();
    expect(await it.page.locator("html").getAttribute("data-theme")).toBe("dark");
    expect(await it.page.getByRole("heading", { level: 1 }).evaluate((h1) => h1.closest(".unseen") !== null)).toBe(
      true,
    );
  });

  test("a token that opens nothing has a page with the reason", async () => {
    const response = await it.page.goto(`${it.sim.url}/shared/for-all.png`);
    expect(response?.status()).toBe(404);
    await it.page.getByRole("heading", { name: "No image", level: 2 }).waitFor();
  });
});

test("the shared page reaches its own data, and nothing else of the sim", async () => {
  await using it = await stage.open("#/dashboards", {
    sim: { scenario },
    allow: /Content Security Policy|Failed to load|Fetch API/,
  });
  await it.page.goto(`${it.sim.url}/shared/for-all`);
  const reached = (path: string) =>
    it.page.evaluate(
      (it) =>
        fetch(it).then(
          ({ status }) => status,
          () => "refused",
        ),
      path,
    );
  expect(await reached("/shared/for-all.json")).toBe(200);
  for (const path of ["/__sim/info", "/__sim/world/keys/1", "/api/projects/1/", "/shared/autumn-campaign.json"])
    expect([path, await reached(path)]).toEqual([path, "refused"]);
});
