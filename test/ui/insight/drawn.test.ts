import { Window } from "happy-dom";
import { type ComponentChild, h, render } from "preact";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kernel/base/json.ts";
import { Board, type BoardTile, InsightCard, placementsOf } from "../../../ui/parts/insight/board.tsx";
import { Markdown } from "../../../ui/parts/insight/markdown.tsx";
import { type AnswerName, answerOf, answers, setting } from "./answers.ts";

const window = new Window();
const before = globalThis.document;

beforeAll(() => {
  globalThis.document = window.document as unknown as Document;
});
afterAll(async () => {
  globalThis.document = before;
  await window.happyDOM.close();
});

function drawn(node: ComponentChild): HTMLElement {
  const root = document.createElement("div");
  render(node, root);
  return root;
}

/** A click, and what preact draws after it. */
async function click(root: HTMLElement, label: string): Promise<void> {
  root.querySelector<HTMLElement>(`[aria-label="${label}"]`)?.click();
  await new Promise((resolve) => setTimeout(resolve));
}

const card = (name: AnswerName) =>
  drawn(h(InsightCard, { title: "Orders", query: answerOf(name).query, answer: answerOf(name), setting }));

const names = Object.keys(answers) as AnswerName[];

describe("an insight is drawn", () => {
  test.each(names)("%s", (name) => {
    const root = card(name);
    expect(root.querySelector("h3")?.textContent).toBe("Orders");
    expect(root.querySelector("footer")?.textContent).toMatch(/Query · /);
    expect(root.querySelector(".insight-in")?.textContent).not.toBe("");
    // whatever is drawn has a name
    for (const svg of root.querySelectorAll("svg[role]")) expect(svg.getAttribute("aria-label")).toMatch(/^Orders/);
    for (const path of root.querySelectorAll("path"))
      expect(path.getAttribute("d")).not.toMatch(/NaN|undefined|Infinity/);
  });

  test("a line: its summary, a dashed end, the total", () => {
    const root = card("line");
    expect(root.querySelector("svg[role=img]")?.getAttribute("aria-label")).toBe(
      "Orders, 2026-11-20 to 2026-11-22: order_completed from 0 to 3, in all 5",
    );
    const [done, open] = [...root.querySelectorAll(".insight-line")].map((it) => it.getAttribute("d"));
    expect(done).toBe("M0.0 30.0L500.0 120.0");
    expect(open).toBe("M500.0 120.0L1000.0 60.0");
    expect(root.querySelector(".insight-legend")?.textContent).toContain("5 order_completed");
  });

  test("a comparison has the change in words", () =>
    expect(card("compared").querySelector(".insight-legend")?.textContent).toContain("+25 %"));

  test("a number, and the change", () =>
    expect(card("number").querySelector(".insight-figure")?.textContent).toBe("431+27.1 % on the period before"));

  test("a funnel: counts, shares, those who left", () => {
    const steps = [...card("steps").querySelectorAll("li")].map((it) => it.textContent);
    expect(steps).toEqual(["1. basket_opened4start", "2. order_completed125 %3 left"]);
  });

  test("a retention table with the cells that are not over", () => {
    const root = card("retention");
    expect([...root.querySelectorAll(".insight-open")].map((it) => it.textContent)).toEqual(["20 %", "20 %"]);
    expect(root.querySelector("footer")?.textContent).toContain("dashed: not over yet");
  });

  test("its numbers are a table, by a button with a name", async () => {
    const root = card("line");
    await click(root, "Show Orders as a table");
    expect([...root.querySelectorAll("tbody th")].map((it) => it.textContent)).toEqual([
      "2026-11-20",
      "2026-11-21",
      "2026-11-22 (not over)",
    ]);
    expect(root.querySelector("section")?.getAttribute("aria-label")).toBe("Orders, table");
    await click(root, "Show Orders as a chart");
    expect(root.querySelector("svg[role=img]")).not.toBeNull();
  });

  test("many series: eight are drawn, the others are counted", () => {
    const [one] = answers.brokenDown.results;
    const results = Array.from({ length: 11 }, (_, i) => ({ ...(one as object), breakdown_value: `plan ${i}` }));
    const root = drawn(
      h(InsightCard, {
        title: "Orders",
        query: { kind: "TrendsQuery", series: [{}] },
        answer: { results: results as Json },
        setting,
      }),
    );
    expect(root.querySelectorAll(".insight-key").length).toBe(8);
    expect(root.textContent).toContain("3 more in the table");
  });

  test("nothing yet, and nothing at all", () => {
    const query = answers.line.query;
    const at = { title: "Orders", query, setting };
    expect(drawn(h(InsightCard, { ...at, answer: undefined })).textContent).toContain("Counting");
    expect(drawn(h(InsightCard, { ...at, answer: { results: [] } })).textContent).toContain("No event matches");
  });
});

test("hostile names stay text", () => {
  const hostile = '<img src=x onerror="alert(1)">\u202e';
  for (const name of names) {
    const text = JSON.stringify(answerOf(name)).replaceAll("order_completed", JSON.stringify(hostile).slice(1, -1));
    const { query, ...answer } = JSON.parse(text);
    const root = drawn(h(InsightCard, { title: hostile, query, answer, setting }));
    expect(root.querySelectorAll("img, script").length).toBe(0);
  }
});

const tile = (id: number, more: Partial<BoardTile>): BoardTile => ({
  id,
  layouts: {},
  text: null,
  insight: null,
  ...more,
});

const insight = (name: string, result: Json): NonNullable<BoardTile["insight"]> => ({
  name,
  derived_name: null,
  description: "Per day",
  query: answers.line.query,
  result,
  columns: null,
  last_refresh: "2026-11-22T11:00:00Z",
  timezone: "Europe/Berlin",
});

test("a board: insights, texts, and a failed query as a message", () => {
  const root = drawn(
    h(Board, {
      Markdown,
      setting: { now: 0, timeZone: "UTC" },
      tiles: [
        tile(1, { insight: insight("Orders", answers.line.results) }),
        tile(2, { text: { body: "## Hello" } }),
        tile(3, { insight: insight("Broken", null), error: { message: "no such property" } }),
      ],
    }),
  );
  const articles = [...root.querySelectorAll("article")];
  expect(articles.map((it) => it.getAttribute("aria-label"))).toEqual(["Orders", "Text", "Broken"]);
  expect(articles[0]?.textContent).toContain("Per day");
  // the time of the result, not that of the page
  expect(articles[0]?.querySelectorAll(".insight-unfinished").length).toBe(1);
  expect(articles[1]?.querySelector("h3")?.textContent).toBe("Hello");
  expect(articles[2]?.querySelector("[role=status]")?.textContent).toBe("The query failed: no such property");
});

describe("places of tiles", () => {
  const box = (x: Json, y: Json, w: Json, h: Json) => ({ sm: { x, y, w, h } });
  test.each<[string, Record<string, Json>[], string[]]>([
    ["side by side", [box(0, 0, 6, 5), box(6, 0, 6, 5)], ["1 / span 6, 1 / span 1", "7 / span 6, 1 / span 1"]],
    [
      "beside two",
      [box(0, 0, 6, 10), box(6, 0, 6, 5), box(6, 5, 6, 5)],
      ["1 / span 6, 1 / span 2", "7 / span 6, 1 / span 1", "7 / span 6, 2 / span 1"],
    ],
    [
      "without a layout: two in a row, below the others",
      [box(0, 0, 12, 5), {}, {}, {}],
      ["1 / span 12, 1 / span 1", "1 / span 6, 2 / span 1", "7 / span 6, 2 / span 1", "1 / span 6, 3 / span 1"],
    ],
    ["overlapping", [box(0, 0, 12, 5), box(3, 2, 4, 5)], ["1 / span 12, 1 / span 1", "4 / span 4, 2 / span 1"]],
    ["absurd", [box(-5, -1, 99, 1e9), box("x", null, "y", {})], ["1 / span 12, 1 / span 1", "1 / span 6, 2 / span 1"]],
    [
      "hostile",
      [{ sm: "}</style><script>" }, box("1/*", 1.9, 2.5, 0)],
      ["1 / span 6, 1 / span 2", "7 / span 2, 1 / span 1"],
    ],
  ])("%s", (_, layouts, places) =>
    expect(placementsOf(layouts).map(({ column, row }) => `${column}, ${row}`)).toEqual(places),
  );
});

describe("Markdown", () => {
  const html = (text: string) => drawn(h(Markdown, { text })).querySelector("div")?.innerHTML;

  test.each([
    ["## Hello\n\nAll *well*, **really**.", "<h3>Hello</h3><p>All <em>well</em>, <strong>really</strong>.</p>"],
    ["- a\n- b", "<ul><li>a</li><li>b</li></ul>"],
    ["2. a", '<ol start="2"><li>a</li></ol>'],
    ["`a < b` & c", "<p><code>a &lt; b</code> &amp; c</p>"],
    ["a &amp; b", "<p>a &amp; b</p>"],
    ["> q", '<blockquote class="aside"><p>q</p></blockquote>'],
    ["~~x~~\ny", "<p><del>x</del><br>y</p>"],
    ["```\n<b>\n```", "<pre><code>&lt;b&gt;</code></pre>"],
    ["[docs](https://a.test/x)", '<p><a href="https://a.test/x" target="_blank" rel="noreferrer">docs</a></p>'],
    [
      "![plan](https://a.test/x.png)",
      '<p><a href="https://a.test/x.png" target="_blank" rel="noreferrer">plan</a></p>',
    ],
  ])("%j", (text, expected) => expect(html(text)).toBe(expected));

  test.each([
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "![x](javascript:alert(1))",
    '[x](https://a.test"onmouseover="alert(1))',
    "<javascript:alert(1)>",
    "# <svg onload=alert(1)>",
    "a <b onclick=alert(1)>b</b>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x]: javascript:alert(1)\n\n[x]",
    "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
  ])("hostile text stays text: %j", (text) => {
    const root = drawn(h(Markdown, { text }));
    expect(root.querySelectorAll("script, img, svg, iframe, b").length).toBe(0);
    for (const it of root.querySelectorAll("*"))
      for (const { name, value } of it.attributes) {
        expect(name).not.toMatch(/^on/);
        expect(value).not.toMatch(/^\s*(javascript|data):/i);
      }
    expect(root.textContent).not.toBe("");
  });
});
