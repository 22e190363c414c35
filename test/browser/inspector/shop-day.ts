import type { Sim } from "../../../src/index.ts";
import type { JsonObject } from "../../../src/kernel/base/json.ts";

/** An event of the day: who, what, and how many seconds before the end of the day. */
type Moment = readonly [who: string, event: string, ago: number, properties?: JsonObject];

const origin = "http://localhost:3000";
const web = { $lib: "web", $lib_version: "1.449.2", $browser: "Chrome", $browser_version: 156, $os: "Linux" };
const server = { $lib: "posthog-node", $lib_version: "5.70.0" };
const session = "01a20525-8592-7da4-9073-8f62d86fec48";

const on = (path: string, properties: JsonObject = {}): JsonObject => ({
  ...web,
  $session_id: session,
  $current_url: `${origin}${path}`,
  $pathname: path,
  $host: "localhost:3000",
  $referrer: "$direct",
  $screen_width: 1440,
  $screen_height: 900,
  ...properties,
});
const page = (path: string, title: string): JsonObject => on(path, { title });
const click = (path: string, text: string, chain: string): JsonObject =>
  on(path, { $event_type: "click", $el_text: text, $elements_chain: chain });

const payButton =
  'button.primary:attr__class="primary"attr__data-testid="pay"attr__type="submit"nth-child="2"nth-of-type="1"text="Pay now";div.actions:attr__class="actions"nth-child="4"nth-of-type="2";form:attr__id="checkout"attr_id="checkout"nth-child="1"nth-of-type="1";main:nth-child="2"nth-of-type="1"';

const frame = (filename: string, name: string, lineno: number, colno: number, inApp: boolean): JsonObject => ({
  platform: "node:javascript",
  filename,
  function: name,
  lineno,
  colno,
  in_app: inApp,
});

const checkoutError: JsonObject = {
  ...server,
  $exception_level: "error",
  $exception_list: [
    {
      type: "CheckoutError",
      value: "could not price basket b-311",
      mechanism: { handled: false, type: "onuncaughtexception", synthetic: false },
      stacktrace: {
        type: "raw",
        frames: [
          frame("node:internal/process/task_queues", "processTicksAndRejections", 95, 5, false),
          frame("/srv/shop/src/routes/orders.ts", "postOrder", 27, 22, true),
          frame("/srv/shop/src/basket/checkout.ts", "checkout", 121, 11, true),
        ],
      },
    },
    {
      type: "TypeError",
      value: "Cannot read properties of undefined (reading 'price')",
      mechanism: { handled: false, type: "chained", source: "cause" },
      stacktrace: {
        type: "raw",
        frames: [
          frame("/srv/shop/node_modules/express/lib/router/layer.js", "handle", 95, 5, false),
          frame("/srv/shop/node_modules/express/lib/router/route.js", "next", 149, 13, false),
          frame("/srv/shop/src/basket/checkout.ts", "checkout", 118, 17, true),
          {
            ...frame("/srv/shop/src/basket/price.ts", "priceOf", 42, 31, true),
            pre_context: [
              "export function priceOf(basket: Basket, list: PriceList) {",
              "  let sum = 0;",
              "  for (const line of basket.lines) {",
            ],
            context_line: "    sum += line.count * list.get(line.sku).price;",
            post_context: ["  }", "  return round(sum, basket.currency);"],
          },
        ],
      },
    },
  ],
};

const trace = { ...server, $ai_trace_id: "answer-customer-309" };
const aiTrace: readonly Moment[] = [
  ["customer-1004", "$ai_trace", 51.2, { ...trace, $ai_span_name: "answer-customer", $ai_latency: 2.31 }],
  [
    "customer-1004",
    "$ai_span",
    51.3,
    {
      ...trace,
      $ai_span_id: "lookup",
      $ai_parent_id: "answer-customer-309",
      $ai_span_name: "lookup_order",
      $ai_latency: 0.18,
    },
  ],
  [
    "customer-1004",
    "$ai_generation",
    51.4,
    {
      ...trace,
      $ai_span_id: "answer",
      $ai_parent_id: "answer-customer-309",
      $ai_span_name: "answer",
      $ai_model: "gpt-4o-mini",
      $ai_provider: "openai",
      $ai_latency: 1.02,
      $ai_input_tokens: 812,
      $ai_output_tokens: 164,
      $ai_total_cost_usd: 0.00022,
      $ai_http_status: 200,
      $ai_model_parameters: { temperature: 0.2 },
      $ai_input: [
        { role: "system", content: "You answer customers of a plant shop. Use the tools. Be short." },
        { role: "user", content: "Where is my order b-309? It should have come on Friday." },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "lookup_order", arguments: '{"basket":"b-309"}' } },
          ],
        },
        { role: "tool", tool_call_id: "call_1", content: '{"state":"in transit","due":"2026-11-24"}' },
      ],
      $ai_output_choices: [
        {
          role: "assistant",
          content: "It is on its way and will be with you on Tuesday, 24 November. I am sorry for the delay.",
        },
      ],
    },
  ],
];

const day: readonly Moment[] = [
  ["visitor-7", "$pageview", 240, page("/login", "Sign in")],
  [
    "customer-1001",
    "$identify",
    238,
    on("/login", { $anon_distinct_id: "visitor-7", $set: { plan: "pro", email: "ines@mail.test", country: "DE" } }),
  ],
  ["customer-1001", "$pageview", 231, page("/plants/monstera", "Monstera, 30 cm")],
  ["customer-1001", "product_viewed", 230, on("/plants/monstera", { sku: "MON-30", price: 39.9 })],
  ["customer-1001", "$pageview", 150, page("/basket", "Your basket")],
  ["customer-1001", "basket_opened", 149, on("/basket", { items: 3, value: 149.9 })],
  [
    "customer-1001",
    "$web_vitals",
    147,
    on("/basket", {
      $web_vitals_LCP_value: 2840,
      $web_vitals_INP_value: 148,
      $web_vitals_CLS_value: 0.27,
      $web_vitals_FCP_value: 1320,
    }),
  ],
  [
    "customer-1001",
    "survey sent",
    120,
    on("/basket", {
      $survey_id: "s1",
      $survey_name: "After the first basket",
      $survey_response: 9,
      $survey_questions: [{ id: "q1", question: "How likely are you to recommend us?" }],
    }),
  ],
  [
    "customer-1001",
    "$autocapture",
    100,
    click(
      "/basket",
      "Go to checkout",
      'a:attr__href="/checkout"nth-child="3"nth-of-type="1"text="Go to checkout";main:nth-child="2"nth-of-type="1"',
    ),
  ],
  ["customer-1001", "$pageview", 99, page("/checkout", "Checkout")],
  [
    "customer-1001",
    "$feature_flag_called",
    98,
    on("/checkout", { $feature_flag: "new-checkout", $feature_flag_response: "test" }),
  ],
  ["customer-1001", "payment_method_chosen", 92, on("/checkout", { method: "card", saved: false })],
  ["customer-1001", "$autocapture", 90, click("/checkout", "Pay now", payButton)],
  [
    "customer-1001",
    "order_completed",
    89.9,
    on("/checkout", {
      amount: 149.9,
      currency: "EUR",
      items: [{ sku: "MON-30", price: 39.9 }],
      gift: false,
      voucher: "SPRING",
    }),
  ],
  ["customer-1001", "$pageview", 82, page("/thanks", "Order confirmed")],
  [
    "customer-1001",
    "$groupidentify",
    80,
    { ...server, $group_type: "company", $group_key: "acme", $group_set: { seats: 12 } },
  ],
  ["customer-1004", "$exception", 52, checkoutError],
  ...aiTrace,
  ["ben", "$identify", 45, { ...web, $anon_distinct_id: "undefined" }],
  ["anna", "signed_up", 30, { ...web, $current_url: `${origin}/welcome`, plan: "pro", seats: 4 }],
];

/** Sends what a day in a web shop brings, each event at its time by the sim's clock: one of each kind, and three mistakes. */
export async function visitShop({ url, apiKey, clock }: Sim): Promise<void> {
  const end = Date.now();
  const post = (path: string, body: JsonObject, agent: string) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": agent },
      body: JSON.stringify(body),
    });
  const send = (batch: JsonObject[], agent: string) => post("/batch/", { api_key: apiKey, batch }, agent);
  const agentOf = (who: string) => (who === "customer-1004" ? "posthog-node/5.70.0" : "Mozilla/5.0 Chrome/156");
  const haveFlags = new Set<string>();
  for (const [who, event, ago, properties = {}] of day) {
    const time = new Date(end - ago * 1000);
    await clock.freeze(time);
    if (!haveFlags.has(who)) await post("/flags/?v=2", { token: apiKey, distinct_id: who }, agentOf(who));
    haveFlags.add(who);
    await send([{ event, distinct_id: who, timestamp: time.toISOString(), properties }], agentOf(who));
  }
  const mistakes: JsonObject[] = [
    { event: "x".repeat(412), distinct_id: "ben" },
    { event: "", distinct_id: "ben" },
    { event: "checkout", properties: { amount: 24 } },
  ];
  await send(mistakes, "curl/8.5.0");
  await clock.set("real");
}

/** Products of the shop, and how many of 32 orders are of each. */
const sold = { Monstera: 14, Ficus: 9, Areca: 5, Pots: 3, Care: 1 };
const products = Object.entries(sold).flatMap(([name, count]) => Array.from({ length: count }, () => name));

/** Sends what visitors of some weeks looked at, put into their baskets and ordered: more from week to week. */
export async function sellPlants({ url, apiKey }: Sim, days: number): Promise<void> {
  const batch: JsonObject[] = [];
  const minute = 60_000;
  for (let ago = days; ago >= 0; ago--) {
    const visitors = 24 + ((ago * 7) % 11) + Math.floor((days - ago) / 2);
    for (let i = 0; i < visitors; i++) {
      // the same numbers each time, without a pattern
      const n = Math.floor(Math.abs(Math.sin(ago * 97 + i) * 1e6));
      const time = Date.now() - ago * 86_400_000 - (10 + (i % 90)) * minute;
      const send = (event: string, after: number, properties: JsonObject = {}) =>
        batch.push({
          event,
          distinct_id: `visitor-${n % 900}`,
          timestamp: new Date(time + after * minute).toISOString(),
          properties: { ...web, ...properties },
        });
      send("product_viewed", 0);
      if (n % 5 > 2) continue;
      send("basket_opened", 3);
      if (n % 7 > 3) continue;
      send("order_completed", 8, { product: products[n % 32] ?? "", amount: 12.5 + (n % 60) });
    }
  }
  for (let at = 0; at < batch.length; at += 200) {
    const body = JSON.stringify({ api_key: apiKey, batch: batch.slice(at, at + 200) });
    const answer = await fetch(`${url}/batch/`, { method: "POST", body });
    await answer.arrayBuffer();
  }
}

/** Visitors ask for their flags. */
export async function askForFlags({ url, apiKey }: Sim, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const body = JSON.stringify({ token: apiKey, distinct_id: `customer-${2_000 + i}` });
    const answer = await fetch(`${url}/flags/?v=2`, { method: "POST", body });
    await answer.arrayBuffer();
  }
}
