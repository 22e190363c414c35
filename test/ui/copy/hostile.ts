import type { JsonObject } from "../../../src/kernel/base/json.ts";

/** An event as it is put into a batch. */
export type SentItem = { event: string; distinct_id: string; properties: JsonObject };

const item = (event: string, distinct_id: string, properties: JsonObject): SentItem => ({
  event,
  distinct_id,
  properties,
});

/** What people and attackers put into events. */
export const hostileItems: readonly (readonly [string, SentItem])[] = [
  ["an ordinary one", item("signed_up", "u1", { plan: "pro", seats: 3, trial: false, coupon: null })],
  ["quotes", item(`it's "quoted" \`here\``, `o'brien"`, { "a'b": `"'\``, '"': "'" })],
  ["new lines", item("a\nb\r\nc", "u\n1", { text: "one\ntwo\r\n\ttab", "key\n": "x" })],
  ["a shell's", item("$(touch /tmp/x) `id`", "$HOME", { cmd: "$(rm -rf /); `ls` && $\u007bX} !! \\" })],
  ["files", item("@/etc/passwd", "@file", { "@file": "@/etc/passwd", "@@x": 1, a: { "@eq": 2 } })],
  ["templates", item("$\u007bprocess.exit(1)}", "%s %d {0}", { f: "{x} %(y)s", "*/": "*/ // # <!--" })],
  ["triple quotes", item('"""', "'''", { doc: `"""'''\\"""\\` })],
  ["unicode", item("naïve 日本語 👩‍💻 𝒳", "ü", { größe: "\u2028\u2029\u0085\u00a0\ufeff", 𝒳: "𝒳" })],
  ["what reorders", item("user\u202egnp.exe", "a\u200bb", { "\u2066k": "\u001b[31mred\u0007\u0000\u007f" })],
  ["a lone surrogate", item("half", "u2", { half: "\ud83d", other: "\udc00x" })],
  [
    "prototypes",
    JSON.parse(
      '{"event":"proto","distinct_id":"__proto__","properties":{"__proto__":{"x":1},"constructor":"c","nested":{"__proto__":2}}}',
    ) as SentItem,
  ],
  ["numbers", item("numbers", "0", { big: 1e21, small: 1e-7, minus: -0.5, zero: 0, int: 9007199254740991 })],
  [
    "what is made anew",
    item("order placed", "018f3c5e-7d3a-7b2c-9d1e-1234567890ab", {
      order: "018f3c5e-7d3a-7b2c-9d1e-1234567890ac",
      at: "2026-01-31T12:00:00.000Z",
      sum: 5,
    }),
  ],
  ["lists", item("lists", "u3", { list: [1, "two", [true, null], { a: "b'" }], empty: [], none: {} })],
  ["html", item("<img src=x onerror=alert(1)>", "</script>", { "<b>": "<!-- --> ]]> &amp;" })],
];
