// biome-ignore-all lint/suspicious/noControlCharactersInRegex: they are what is looked for
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Sim } from "../../../src/index.ts";
import { inspectorStage } from "./support.ts";

const stage = inspectorStage();

const trace = { $ai_trace_id: "answer-1" };

interface Sent {
  event: string;
  properties: object;
}

async function send(sim: Sim, ...events: readonly Sent[]): Promise<void> {
  const batch = events.map((it) => ({ distinct_id: "customer-1", ...it }));
  const body = JSON.stringify({ api_key: sim.apiKey, batch });
  expect((await fetch(`${sim.url}/batch/`, { method: "POST", body })).status).toBe(200);
}

const span = (id: string, parent: string, more: object = {}): Sent => ({
  event: "$ai_span",
  properties: { ...trace, $ai_span_id: id, $ai_parent_id: parent, $ai_span_name: id, $ai_latency: 0.4, ...more },
});

const answer: Sent = {
  event: "$ai_generation",
  properties: {
    ...trace,
    $ai_span_id: "answer",
    $ai_parent_id: "answer-1",
    $ai_span_name: "answer",
    $ai_model: "gpt-4o-mini",
    $ai_provider: "openai",
    $ai_latency: 1.02,
    $ai_input_tokens: 812,
    $ai_output_tokens: 164,
    $ai_cache_read_input_tokens: 512,
    $ai_total_cost_usd: 0.00022,
    $ai_http_status: 200,
    $ai_model_parameters: { temperature: 0.2 },
    $ai_input: [
      { role: "system", content: "Be short." },
      { role: "user", content: "Where is my order?\nIt is late." },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "c", type: "function", function: { name: "lookup_order", arguments: '{"basket":"b-309"}' } },
        ],
      },
      { role: "tool", tool_call_id: "c", content: '{"state":"in transit"}' },
    ],
    $ai_output_choices: [{ role: "assistant", content: "On its way." }],
  },
};

const root: Sent = { event: "$ai_trace", properties: { ...trace, $ai_span_name: "answer-customer", $ai_latency: 2.3 } };

const chat = (page: Page) => page.getByRole("list", { name: "Messages" }).getByRole("listitem");
const steps = (page: Page) => page.getByRole("list", { name: "Steps of the trace" }).getByRole("listitem");

test("a conversation, and its trace as a waterfall", async () => {
  await using it = await stage.open("#/events");
  const { page, sim } = it;
  await send(sim, span("retrieve", "answer-1"), span("embed", "retrieve"), answer, root);
  await it.go("#/events/3");
  const article = page.getByRole("article", { name: "Event 3" });
  await article.getByRole("link", { name: "Conversation" }).waitFor();
  await expect.poll(() => chat(page).count()).toBe(5);
  expect(await chat(page).allInnerTexts()).toEqual([
    expect.stringMatching(/^system\s+Be short\.$/),
    expect.stringMatching(/^user\s+Where is my order\?\nIt is late\.$/),
    expect.stringMatching(/^assistant\s+called\s+lookup_order\s+\{"basket": "b-309"\}$/),
    expect.stringMatching(/^tool\s+result of lookup_order\s+\{"state": "in transit"\}$/),
    expect.stringMatching(/^answer\s+On its way\.$/),
  ]);
  const figures = await article.locator(".ai-figures").innerText();
  for (const text of [
    "gpt-4o-mini",
    "812 → 164 tokens, 512 from cache",
    "1.02 s",
    "0.00022 USD",
    "temperature 0.2",
    "HTTP 200",
  ])
    expect(figures).toContain(text);

  await article.getByText("4 steps · 2.30 s · 812 → 164 tokens · 0.00022 USD").waitFor();
  const names = (await steps(page).getByRole("link").allInnerTexts()).map((text) => text.trim());
  expect(names).toEqual(["answer-customer", "answer", "retrieve", "embed"]);
  expect(await steps(page).locator("xpath=self::*[@aria-current]").innerText()).toMatch(/^answer\s/);
  await it.look("ai-conversation-dark");
  await it.axe();
  await it.dress(400, "light");
  await it.axe("colours");
  await it.look("ai-conversation-narrow");

  await steps(page).getByRole("link", { name: "retrieve" }).click();
  await page.getByRole("article", { name: "Event 1" }).getByText("4 steps").waitFor();
});

const texts = [
  "<img src=x onerror=globalThis.hacked=true>",
  "</pre><script>globalThis.hacked=true</script>",
  "javascript:globalThis.hacked=true",
  '"><svg onload=globalThis.hacked=true>',
  "right\u202eleft \u0007 \u200bhidden",
];

/** Messages in which every text is this one. */
const hostile = (text: string): object[] => [
  { role: text, content: text },
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: text },
      { type: "tool_use", id: text, name: text, input: { [text]: text } },
    ],
  },
  { role: "assistant", tool_calls: [{ function: { name: text, arguments: JSON.stringify({ [text]: text }) } }] },
  { role: "tool", tool_call_id: text, name: text, content: text },
  { role: "user", content: [{ type: "image_url", image_url: { url: "https://example.test/x.png" } }] },
  {
    role: "user",
    content: [
      { type: "image_url", image_url: { url: text } },
      { type: "file", file: { filename: text, file_data: `data:text/html,${text}` } },
    ],
  },
  { role: "user", content: [{ type: text, html: text }] },
];

test("hostile text stays text, and no file of a message is asked for", async () => {
  await using it = await stage.open("#/events");
  const { page, sim } = it;
  const elsewhere: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(sim.url)) elsewhere.push(request.url());
  });
  await send(
    sim,
    ...texts.map((text, i) => ({
      event: "$ai_generation",
      properties: {
        $ai_trace_id: text,
        $ai_span_id: `s${i}`,
        $ai_parent_id: text + i,
        $ai_span_name: text,
        $ai_model: text,
        $ai_provider: text,
        $ai_stop_reason: text,
        $ai_is_error: true,
        $ai_error: { message: text },
        $ai_input: hostile(text),
        $ai_output_choices: hostile(text),
        $ai_input_state: { [text]: text },
        $ai_output_state: text,
      },
    })),
  );
  for (const [i, text] of texts.entries()) {
    await it.go(`#/events/${i + 1}`);
    const article = page.getByRole("article", { name: `Event ${i + 1}` });
    await article.getByRole("list", { name: "Steps of the trace" }).waitFor();
    await article.getByText("did not arrive").waitFor();
    expect(await chat(page).count()).toBe(14);
    for (const summary of await article.locator("summary").all()) await summary.click();
    const found = await article.evaluate((box) => ({
      alien: [...box.querySelectorAll("img, script, iframe, video, audio, object, [onerror], [onload]")].map(
        (el) => el.outerHTML,
      ),
      links: [...box.querySelectorAll("a")].map((a) => a.getAttribute("href")).filter((href) => !href?.startsWith("#")),
      text: box.textContent ?? "",
    }));
    expect([found.alien, found.links]).toEqual([[], []]);
    expect(found.text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f\u200b\u202a-\u202e\u2066-\u2069]/);
    if (i < 4) expect(found.text).toContain(text);
  }
  expect(await page.evaluate(() => "hacked" in globalThis)).toBe(false);
  expect(elsewhere).toEqual([]);
});

test("damaged and long data: shown as far as possible, and bounded", async () => {
  await using it = await stage.open("#/events");
  const { page, sim } = it;
  const long = Array.from({ length: 10_000 }, (_, i) => ({ role: "user", content: `message ${i} ${"x".repeat(20)}` }));
  const many = Array.from({ length: 520 }, (_, i) => span(`s${i}`, i === 0 ? "s519" : `s${i - 1}`));
  await send(
    sim,
    {
      event: "$ai_generation",
      properties: { $ai_input: 7, $ai_output_choices: { a: [] }, $ai_latency: "long", $ai_input_tokens: {} },
    },
    {
      event: "$ai_generation",
      properties: { $ai_input: long, $ai_output_choices: [{ content: "z".repeat(300_000) }] },
    },
    { event: "$ai_generation", properties: { $ai_trace_id: 5, $ai_input: "[{", $ai_output_choices: [[[[]]]] } },
    { event: "$ai_metric", properties: { ...trace, $ai_metric_name: "helpful", $ai_metric_value: { a: 1 } } },
    ...many,
  );
  await it.go("#/events/1");
  await page.getByText("so it belongs to no trace").waitFor();
  expect(await chat(page).allInnerTexts()).toEqual([
    expect.stringMatching(/^user\s+7$/),
    expect.stringMatching(/^answer\s+\{"a": \[\]\}$/),
  ]);

  await it.go("#/events/2");
  await page.getByRole("button", { name: "Show 100 earlier of 1,980 messages" }).click();
  await expect.poll(() => chat(page).count()).toBe(121);
  await page.getByRole("button", { name: "show all 300,000 characters" }).click();
  await page.getByText("300,000 characters; see Properties").waitFor();

  await it.go("#/events/3");
  await expect.poll(() => chat(page).first().innerText()).toMatch(/^user\s+\[\{$/);

  await it.go("#/events/4");
  await page.getByText('helpful: {"a":1}').waitFor();
  await page.getByText("The trace has more events: the first 500 are shown.").waitFor();
  expect(await steps(page).count()).toBeLessThan(20);
  await page.getByRole("button", { name: "All 499 steps" }).click();
  await expect.poll(() => steps(page).count()).toBe(499);
  await page.getByText('parent "s519" did not arrive, or was dropped').waitFor();
  await it.axe();
});
