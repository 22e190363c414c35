import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/kernel/base/json.ts";
import { atOnce } from "../../../src/kernel/base/work.ts";
import { lintCodes } from "../../../src/lab/lint/codes.ts";
import { Linter } from "../../../src/lab/lint/linter.ts";
import type { LintEvent, LintRequest } from "../../../src/lab/lint/request.ts";
import type { LintPort } from "../../../src/lab/lint/rule.ts";
import type { LintFinding } from "../../../src/lab/lint/shapes.ts";
import { element, opening, typedIn } from "../sessions/recorded.ts";
import { event, numbered, request, served } from "./requests.ts";

const noOne: LintPort = {
  hasGroup: () => false,
  variantShares: (_, flag) =>
    flag === "halves"
      ? [
          { variant: "control", percentage: 50 },
          { variant: "test", percentage: 50 },
        ]
      : undefined,
  flagsMeasuredBy: (_, name) => (name === "paid" ? ["exp"] : []),
};

function lint(requests: readonly LintRequest[], port = noOne): LintFinding[] {
  const linter = new Linter(port);
  for (const it of numbered(requests)) atOnce(linter.examine(it));
  return linter.findings();
}

/** `code event ×count: detail` */
const reported = (findings: readonly LintFinding[]): string[] =>
  findings.map(({ code, event, count, detail }) => `${code} ${event} ×${count}: ${detail}`);

const node = { $lib: "posthog-node" };
const flags = (values: Record<string, boolean | string>) =>
  served(values, { requested: Object.keys(values) }, "posthog-node");
const called = (flag: string, more: Partial<LintEvent> = {}) =>
  event("$feature_flag_called", { ...node, $feature_flag: flag }, more);
const old = (count: number, ago: number) => Array.from({ length: count }, () => event("imported", {}, { ago }));
const uuid = "0195a000-0000-7000-8000-000000000001";
const again = { uuid, dropped: "duplicate_event_uuid" } as const;
const hour = 3_600_000;
const jwt =
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";

const exposed = (flag: string, value: Json, id = "u1") =>
  event("$feature_flag_called", { $feature_flag: flag, $feature_flag_response: value }, { distinct_id: id });
const persons = (flag: string, count: number, value: string) =>
  Array.from({ length: count }, (_, i) => exposed(flag, value, `${value}-${i}`));
const login = (id: string, before: string) => event("$identify", { $anon_distinct_id: before }, { distinct_id: id });

type Row = [name: string, requests: LintRequest[], findings: string[]];

const card = element("input");
const page = element("body", {}, element("p", {}, "Hello ann@example.com"), card);

const rows: Record<string, Row[]> = {
  feature_flag_mismatch: [
    [
      "another variant than was served",
      [served({ beta: "test" }), request([event("buy", { "$feature/beta": "control" })])],
      ["feature_flag_mismatch buy ×1: properties.$feature/beta is control; served: test"],
    ],
    [
      "the response of a call",
      [
        served({ beta: true }),
        request([event("$feature_flag_called", { $feature_flag: "beta", $feature_flag_response: false })]),
      ],
      ["feature_flag_mismatch $feature_flag_called ×1: properties.$feature_flag_response is false; served: true"],
    ],
    [
      "alike ones are counted",
      [
        served({ beta: "test" }),
        request([event("buy", { "$feature/beta": "a" }), event("buy", { "$feature/beta": "a" })]),
      ],
      ["feature_flag_mismatch buy ×2: properties.$feature/beta is a; served: test"],
    ],
    ["what was served", [served({ b: "x" }), request([event("buy", { "$feature/b": "x" })])], []],
    [
      "an answer before the last one",
      [served({ b: "x" }), served({ b: "y" }), request([event("buy", { "$feature/b": "x" })])],
      [],
    ],
    ["as text", [served({ b: true }), request([event("buy", { "$feature/b": "true" })])], []],
    [
      "nothing was served to this id",
      [served({ b: "x" }), request([event("buy", { "$feature/b": "y" }, { distinct_id: "u2" })])],
      [],
    ],
    ["not this flag", [served({ b: "x" }), request([event("buy", { "$feature/c": "y" })])], []],
    [
      "made before the answer",
      [served({ b: "x" }), request([event("buy", { "$feature/b": "y" }, { ago: 2_000 })])],
      [],
    ],
    [
      "evaluated locally",
      [
        served({ b: true }),
        request([
          event("$feature_flag_called", { $feature_flag: "b", $feature_flag_response: false, locally_evaluated: true }),
        ]),
      ],
      [],
    ],
    [
      "by a server that fetches the definitions",
      [
        request([], { fetchesDefinitions: true }),
        served({ b: true }),
        request([event("buy", { ...node, "$feature/b": false })]),
      ],
      [],
    ],
    [
      "bootstrapped",
      [
        served({ b: true }),
        request([
          event("$feature_flag_called", {
            $feature_flag: "b",
            $feature_flag_response: false,
            $used_bootstrap_value: true,
          }),
        ]),
      ],
      [],
    ],
    [
      "of a browser whose project has minimal_flag_called_events: the mark of a bootstrapped value is left out",
      [
        served({ b: true }),
        request([
          event("$feature_flag_called", {
            $lib: "web",
            $feature_flag: "b",
            $feature_flag_response: false,
            $feature_flag_has_experiment: false,
          }),
        ]),
      ],
      [],
    ],
    [
      "… and not left out: the event has the person's flags",
      [
        served({ b: true }),
        request([
          event("$feature_flag_called", {
            $lib: "web",
            $feature_flag: "b",
            $feature_flag_response: false,
            $feature_flag_has_experiment: false,
            "$feature/b": true,
          }),
        ]),
      ],
      ["feature_flag_mismatch $feature_flag_called ×1: properties.$feature_flag_response is false; served: true"],
    ],
    [
      "served to the id that the person had before, reported by the flag request",
      [
        served({ b: "x" }, { distinctId: "anon" }),
        served({ b: "y" }, { anonymousId: "anon" }),
        request([event("buy", { "$feature/b": "x" })]),
      ],
      [],
    ],
    [
      "… or by $identify",
      [
        served({ b: "x" }, { distinctId: "anon" }),
        served({ b: "y" }),
        request([event("$identify", { $anon_distinct_id: "anon" }), event("buy", { "$feature/b": "x" })]),
      ],
      [],
    ],
    [
      "an answer that could not be read",
      [served({ b: "x" }), served({}, { values: undefined }), request([event("buy", { "$feature/b": "y" })])],
      [],
    ],
    [
      "early access",
      [
        served({ b: false }),
        request([
          event("$feature_enrollment_update", { $feature_flag: "b", $feature_enrollment: true }),
          event("buy", { "$feature/b": true }),
        ]),
      ],
      [],
    ],
    [
      "a dropped event",
      [served({ b: "x" }), request([event("buy", { "$feature/b": "y" }, { dropped: "over_quota" })])],
      [],
    ],
  ],
  two_variants_one_person: [
    [
      "one id",
      [request([exposed("exp", "control"), exposed("exp", "test"), exposed("exp", "test")])],
      ["two_variants_one_person $feature_flag_called ×1: exp: control, then test, for u1"],
    ],
    [
      "after the login",
      [request([exposed("exp", "control", "anon"), login("u1", "anon"), exposed("exp", "test")])],
      ["two_variants_one_person $feature_flag_called ×1: exp: control, then test, for u1"],
    ],
    [
      "before the login joins both",
      [request([exposed("exp", "control", "anon"), exposed("exp", "test"), login("u1", "anon")])],
      ["two_variants_one_person $identify ×1: exp: control, then test, for u1"],
    ],
    ["one variant again", [request([exposed("exp", "test"), exposed("exp", "test")])], []],
    ["two flags", [request([exposed("one", "control"), exposed("two", "test")])], []],
    ["two persons", [request([exposed("exp", "control", "u1"), exposed("exp", "test", "u2")])], []],
    ["a flag that was switched", [request([exposed("exp", true), exposed("exp", false)])], []],
  ],
  flag_value_without_exposure: [
    [
      "put in by the app",
      [request([event("buy", { ...node, "$feature/exp": "test" })])],
      ["flag_value_without_exposure buy ×1: properties.$feature/exp is set, and u1 has no $feature_flag_called of it"],
    ],
    ["exposed before", [request([exposed("exp", "test"), event("buy", { ...node, "$feature/exp": "test" })])], []],
    ["exposed after", [request([event("buy", { ...node, "$feature/exp": "test" }), exposed("exp", "test")])], []],
    [
      "exposed under the id before the login",
      [request([event("buy", { ...node, "$feature/exp": "a" }), exposed("exp", "a", "anon"), login("u1", "anon")])],
      [],
    ],
    [
      "put in by the SDK, with every other flag",
      [request([event("buy", { ...node, "$feature/exp": "test", $active_feature_flags: ["exp"] })])],
      [],
    ],
    ["a browser's", [request([event("buy", { $lib: "web", "$feature/exp": "test" })])], []],
    ["not active", [request([event("buy", { ...node, "$feature/exp": false })])], []],
  ],
  metric_before_exposure: [
    [
      "paid, then exposed",
      [request([event("paid"), event("paid"), exposed("exp", "test")])],
      ["metric_before_exposure paid ×1: paid of u1 came before its first $feature_flag_called of exp"],
    ],
    [
      "paid under the id before the login",
      [request([event("paid", {}, { distinct_id: "anon" }), login("u1", "anon")]), request([exposed("exp", "test")])],
      ["metric_before_exposure paid ×1: paid of u1 came before its first $feature_flag_called of exp"],
    ],
    ["exposed, then paid", [request([exposed("exp", "test"), event("paid"), exposed("exp", "test")])], []],
    ["never exposed", [request([event("paid")])], []],
    ["exposed to another flag", [request([event("paid"), exposed("other", "test")])], []],
    ["another person's", [request([event("paid"), exposed("exp", "test", "u2")])], []],
    ["an event of no metric", [request([event("seen"), exposed("exp", "test")])], []],
  ],
  sample_ratio_mismatch: [
    [
      "130 of 200 where half are expected",
      [request([...persons("halves", 130, "control"), ...persons("halves", 70, "test")])],
      [
        "sample_ratio_mismatch $feature_flag_called ×1: halves: control 130 (expected 100), test 70 (expected 100) of 200 persons; p < 0.001",
      ],
    ],
    ["by chance", [request([...persons("halves", 110, "control"), ...persons("halves", 90, "test")])], []],
    ["too few", [request([...persons("halves", 80, "control"), ...persons("halves", 10, "test")])], []],
    ["shares that are not known", [request(persons("other", 300, "control"))], []],
  ],
  feature_flag_called_missing: [
    [
      "asked for by name, and no call",
      [flags({ beta: true }), request([event("buy", node)])],
      ["feature_flag_called_missing buy ×1: beta was served to u1, and posthog-node reported no call"],
    ],
    ["the call came before", [flags({ b: true }), request([called("b"), event("buy", node)])], []],
    ["the call comes later", [flags({ b: true }), request([event("buy", node)]), request([called("b")])], []],
    ["it is off", [flags({ b: false }), request([event("buy", node)])], []],
    ["all were asked for", [served({ b: true }, {}, "posthog-node"), request([event("buy", node)])], []],
    ["another library's event", [flags({ b: true }), request([event("buy", { $lib: "web" })])], []],
    ["another id's event", [flags({ b: true }), request([event("buy", node, { distinct_id: "u2" })])], []],
    ["made before the answer", [flags({ b: true }), request([event("buy", node, { ago: 2_000 })])], []],
    ["who it is, not what was done", [flags({ b: true }), request([event("$identify", node)])], []],
    ["a browser", [served({ b: true }, { requested: ["b"] }), request([event("buy", { $lib: "web" })])], []],
  ],
  duplicate_uuid: [
    [
      "two events with one uuid",
      [request([event("a", {}, { uuid })]), request([event("b", {}, again)])],
      [`duplicate_uuid b ×1: uuid ${uuid}`],
    ],
    ["the first was not seen", [request([event("b", {}, again)])], []],
    ["no uuid", [request([event("a"), event("a")])], []],
  ],
  retried_event: [
    [
      "the same event again",
      [request([event("a", {}, { uuid })]), request([event("a", {}, again)])],
      ["retried_event a ×1: name, distinct_id and timestamp are the same"],
    ],
  ],
  timestamp_not_iso: [
    ...["1780315200", "1780315200000", "2026/06/01 12:00:00", "Mon, 01 Jun 2026 12:00:00 GMT"].map(
      (timestamp): Row => [
        timestamp,
        [request([event("a", {}, { timestamp })])],
        ["timestamp_not_iso a ×1: it was read anyway"],
      ],
    ),
    [
      "unreadable",
      [request([event("a", {}, { timestamp: "soon", warnings: ["ignored_invalid_timestamp"] })])],
      ["timestamp_not_iso a ×1: it cannot be read; the time of arrival is used"],
    ],
    ...[
      "2026-06-01T12:00:00Z",
      "2026-06-01T12:00:00.123456+02:00",
      "2026-06-01 12:00:00",
      "2026-06-01",
      "2026-06-01T12:00:00+0200",
      undefined,
    ].map((timestamp): Row => [String(timestamp), [request([event("a", {}, { timestamp })])], []]),
  ],
  timestamp_skew: [
    ["old", [request([event("a", {}, { ago: 30 * hour })])], ["timestamp_skew a ×1: 30 hours before it arrived"]],
    ["very old", [request([event("a", {}, { ago: 240 * hour })])], ["timestamp_skew a ×1: 10 days before it arrived"]],
    [
      "in the future",
      [request([event("a", {}, { warnings: ["timestamp_in_the_future"] })])],
      ["timestamp_skew a ×1: in the future"],
    ],
    ["a few hours", [request([event("a", {}, { ago: 23 * hour })])], []],
    ["historical", [request([event("a", {}, { ago: 99 * hour })], { isHistorical: true })], []],
    ["nothing to compare with", [request([event("a", {}, { ago: 99 * hour })], { isTimed: false })], []],
    ["no timestamp", [request([event("a", {}, { timestamp: undefined, time: 0 })])], []],
  ],
  historical_migration_missing: [
    [
      "many",
      [request(old(12, 49 * hour))],
      ["historical_migration_missing null ×1: 12 of 12 events are older than two days"],
    ],
    ["marked", [request(old(12, 49 * hour), { isHistorical: true })], []],
    ["few", [request(old(2, 49 * hour))], ["timestamp_skew imported ×2: 49 hours before it arrived"]],
  ],
  pii_in_recording: [
    [
      "a text of the page, and what was typed",
      [request([], { recorded: [{ seq: 4, items: [...opening(page), typedIn(card, "4242424242424242", 5)] }] })],
      [
        "pii_in_recording $snapshot ×1: text of p holds an e-mail address",
        "pii_in_recording $snapshot ×1: input of input holds a card number",
      ],
    ],
    [
      "split over texts of one line",
      [
        request([], {
          recorded: [
            {
              seq: 4,
              items: opening(element("body", {}, element("p", {}, "jane", element("b", {}, "@acme"), ".test"))),
            },
          ],
        }),
      ],
      ["pii_in_recording $snapshot ×1: text of p holds an e-mail address"],
    ],
    ["masked", [request([], { recorded: [{ seq: 4, items: opening(element("body", {}, "****")) }] })], []],
  ],
  recording_not_read: [
    [
      "damaged",
      [request([], { recorded: [{ seq: 4, items: [{ type: 2, timestamp: 1, data: "no" }] }] })],
      ["recording_not_read $snapshot ×1: full snapshot: the compressed bytes are damaged"],
    ],
    [
      "screenshots, and a drawing",
      [
        request([], {
          recorded: [
            {
              seq: 4,
              items: [
                { type: 2, timestamp: 1, data: { wireframes: [{ type: "screenshot", base64: "AAAA" }] } },
                { type: 3, timestamp: 2, data: { source: 9, id: 1 } },
              ],
            },
          ],
        }),
      ],
      [
        "recording_not_read $snapshot ×1: canvas: a drawing on a canvas cannot be read as text",
        "recording_not_read $snapshot ×1: screenshot: a screenshot of a mobile app cannot be read as text",
      ],
    ],
    [
      "more texts than are searched",
      [
        request([], {
          recorded: [
            {
              seq: 4,
              items: opening(element("body", {}, ...Array.from({ length: 5_001 }, () => element("p", {}, "x")))),
            },
          ],
        }),
      ],
      ["recording_not_read $snapshot ×1: texts: a part has more than the 5000 that are searched"],
    ],
    ["texts only", [request([], { recorded: [{ seq: 4, items: opening(element("body", {}, "****")) }] })], []],
  ],
  pii_property: [
    [
      "an e-mail address",
      [request([event("a", { contact: "ann@example.com" })])],
      ["pii_property a ×1: properties.contact holds an e-mail address"],
    ],
    [
      "deep inside",
      [request([event("a", { cart: { lines: [{ note: "for ann@example.com" }] } })])],
      ["pii_property a ×1: properties.cart.lines[].note holds an e-mail address"],
    ],
    [
      "in the page's address",
      [request([event("$pageview", { $current_url: "http://app/?email=ann%40example.com" })])],
      ["pii_property $pageview ×1: properties.$current_url holds an e-mail address"],
    ],
    [
      "a key that is private itself",
      [request([event("a", { "ann@example.com": jwt })])],
      ["pii_property a ×1: properties.* holds a JSON web token"],
    ],
    [
      "a card of a person",
      [request([event("$identify", { $set: { card: "4111 1111 1111 1111" } })])],
      ["pii_property $identify ×1: properties.$set.card holds a card number"],
    ],
    [
      "a token beside the properties",
      [request([event("a", {}, { set: { session: jwt } })])],
      ["pii_property a ×1: $set.session holds a JSON web token"],
    ],
    [
      "an IBAN",
      [request([event("a", { account: "DE89 3704 0044 0532 0130 00" })])],
      ["pii_property a ×1: properties.account holds an IBAN"],
    ],
    [
      "the e-mail address of a person",
      [
        request([
          event(
            "$identify",
            { $set: { email: "ann@example.com" }, $set_once: { first: "ann@example.com" } },
            { set: { email: "ann@example.com" } },
          ),
        ]),
      ],
      [],
    ],
    [
      "the e-mail address that an SDK copies from $set into the properties",
      [
        request([
          event("$identify", { email: "ann@example.com", $set: { email: "ann@example.com" } }),
          event("$identify", { email: "ann@example.com" }, { set: { email: "ann@example.com" } }),
          event("$identify", { email: "ann@example.com" }, { setOnce: { email: "ann@example.com" } }),
          event("$groupidentify", { mail: "ann@example.com", $group_set: { mail: "ann@example.com" } }),
        ]),
      ],
      [],
    ],
    [
      "another address than in $set",
      [request([event("$identify", { email: "bob@example.com" }, { set: { email: "ann@example.com" } })])],
      ["pii_property $identify ×1: properties.email holds an e-mail address"],
    ],
    [
      "the same value under another name",
      [request([event("$identify", { mail: "ann@example.com" }, { set: { email: "ann@example.com" } })])],
      ["pii_property $identify ×1: properties.mail holds an e-mail address"],
    ],
    [
      "an event that sets what it says",
      [request([event("a", { email: "ann@example.com" }, { set: { email: "ann@example.com" } })])],
      ["pii_property a ×1: properties.email holds an e-mail address"],
    ],
    [
      "a copied card",
      [request([event("$identify", { card: "4111111111111111", $set: { card: "4111111111111111" } })])],
      [
        "pii_property $identify ×1: properties.card holds a card number",
        "pii_property $identify ×1: properties.$set.card holds a card number",
      ],
    ],
    ...(
      [
        [
          "$elements_chain",
          'a.link:attr__href="mailto:ann@example.com"nth-child="1"text="Write";div',
          "properties.$elements_chain[].href holds an e-mail address",
        ],
        ["$elements_chain", 'span:text="4111 1111 1111 1111"', "properties.$elements_chain[].text holds a card number"],
        ["$elements", [{ tag_name: "b", $el_text: "ann@example.com" }], "properties.$elements[].$el_text"],
        ["$el_text", "Write to ann@example.com", "properties.$el_text"],
        [
          "$exception_list",
          [{ type: "Error", value: "no such user: ann@example.com" }],
          "properties.$exception_list[].value",
        ],
        ["$exception_message", "ann@example.com is unknown", "properties.$exception_message"],
        ["$ai_input", [{ role: "user", content: "I am ann@example.com" }], "properties.$ai_input[].content"],
        [
          "$ai_output_choices",
          [{ role: "assistant", content: [{ type: "text", text: "Hello ann@example.com" }] }],
          "properties.$ai_output_choices[].content[].text",
        ],
        ["$ai_input_state", { user: "ann@example.com" }, "properties.$ai_input_state.user"],
        ["$ai_output_state", { user: "ann@example.com" }, "properties.$ai_output_state.user"],
      ] satisfies [name: string, value: Json, found: string][]
    ).map(([name, value, found]): Row => {
      const detail = found.includes(" holds ") ? found : `${found} holds an e-mail address`;
      return [`${name}: ${detail}`, [request([event("a", { [name]: value })])], [`pii_property a ×1: ${detail}`]];
    }),
    [
      "ids in a chain of elements, and lines of source code",
      [
        request([
          event("a", { $elements_chain: 'a:attr__data-id="4111111111111111"href="/x"' }),
          event("a", {
            $exception_list: [
              {
                stacktrace: {
                  frames: [{ context_line: "to = 'ann@example.com'", pre_context: ["// ann@example.com"] }],
                },
              },
            ],
          }),
        ]),
      ],
      [],
    ],
    ["of a group", [request([event("$groupidentify", { $group_set: { contact: "ann@example.com" } })])], []],
    [
      "an id",
      [
        request([
          event("a", {
            distinct_id: "ann@example.com",
            $device_id: "ann@example.com",
            card_id: "4111111111111111",
            orderId: "4111111111111111",
          }),
        ]),
      ],
      [],
    ],
    ["a number", [request([event("a", { order: 4111111111111111 })])], []],
  ],
  property_type_flip: [
    [
      "a number as text",
      [request([event("a", { amount: 10 })]), request([event("a", { amount: "10" }), event("a", { amount: "11" })])],
      ["property_type_flip a ×2: properties.amount was number first, then text that reads as a number"],
    ],
    [
      "a boolean",
      [request([event("a", { paid: "true" }), event("a", { paid: true })])],
      ["property_type_flip a ×1: properties.paid was text that reads as a boolean first, then boolean"],
    ],
    [
      "a list",
      [request([event("a", { tags: ["x"] }), event("a", { tags: "x" })])],
      ["property_type_flip a ×1: properties.tags was list first, then text"],
    ],
    ["another event", [request([event("a", { amount: 10 }), event("b", { amount: "10" })])], []],
    ["null", [request([event("a", { amount: 10 }), event("a", { amount: null })])], []],
    ["the service's own", [request([event("a", { "$feature/x": true }), event("a", { "$feature/x": "test" })])], []],
    ["names that objects have", [request([event("a", JSON.parse('{"__proto__": 1, "constructor": 2}'))])], []],
  ],
  similar_event_names: [
    ...["sign_up", "Signup", "sign up", "sign-up", "SIGN.UP"].map(
      (name): Row => [
        name,
        [request([event("signup"), event(name)])],
        [`similar_event_names ${name} ×1: "signup" came before`],
      ],
    ),
    ["the same", [request([event("signup"), event("signup")])], []],
    [
      "others",
      [
        request([
          event("signup"),
          event("signed up"),
          event("step_1_1"),
          event("step_11"),
          event("v1.1"),
          event("v11"),
        ]),
      ],
      [],
    ],
    ["the service's own", [request([event("page_view"), event("$pageview"), event("$page_view")])], []],
    ["only signs", [request([event("-"), event("!")])], []],
    ["other scripts", [request([event("注册"), event("登录")])], []],
  ],
  group_without_identify: [
    [
      "never described",
      [request([event("a", { $groups: { company: "acme" } })])],
      ["group_without_identify a ×1: $groups.company is acme"],
    ],
    [
      "before",
      [
        request([
          event("$groupidentify", { $group_type: "company", $group_key: "acme" }),
          event("a", { $groups: { company: "acme" } }),
        ]),
      ],
      [],
    ],
    [
      "after",
      [
        request([
          event("a", { $groups: { company: "acme" } }),
          event("$groupidentify", { $group_type: "company", $group_key: "acme" }),
        ]),
      ],
      [],
    ],
    ["none", [request([event("a", { $groups: {} }), event("a", { $groups: { company: null } })])], []],
  ],
  large_body: [
    ["17 MB", [request([event("a")], { bytes: 17 * 1024 * 1024 })], ["large_body null ×1: 17.0 of 20 MB"]],
    ["15 MB", [request([event("a")], { bytes: 15 * 1024 * 1024 })], []],
    ["without a limit", [request([], { bytes: 99 * 1024 * 1024, mostBytes: undefined })], []],
  ],
};

test("each code has a row that finds it, and one that does not", () => {
  expect(Object.keys(rows).sort()).toEqual(Object.keys(lintCodes).sort());
  for (const [code, ofCode] of Object.entries(rows))
    expect(ofCode.some(([, , findings]) => findings.some((it) => it.startsWith(`${code} `)))).toBe(true);
});

describe.each(Object.entries(rows))("%s", (_, ofCode) => {
  test.each(ofCode)("%s", (_name, requests, findings) => {
    expect(reported(lint(requests))).toEqual(findings);
  });
});

describe("the linter", () => {
  const flip = [request([event("a", { x: 1 })]), request([event("a", { x: "1" })])];

  test("names the events of a finding, and the request", () => {
    expect(lint([...flip, request([event("a", { x: "2" })])])).toEqual([
      {
        code: "property_type_flip",
        ...lintCodes.property_type_flip,
        project: 1,
        event: "a",
        detail: "properties.x was number first, then text that reads as a number",
        first_seq: 2,
        last_seq: 3,
        count: 2,
        n: 3,
      },
    ]);
  });

  test("keeps projects apart", () => {
    const linter = new Linter(noOne);
    const [first, second] = flip.map((it, i) => ({ ...it, project: i + 1 }));
    if (first) atOnce(linter.examine(first));
    if (second) atOnce(linter.examine(second));
    expect(linter.findings()).toEqual([]);
    if (first) atOnce(linter.examine({ ...first, project: 2 }));
    expect(linter.findings(2)).toHaveLength(1);
    expect(linter.findings(1)).toEqual([]);
    expect(linter.findings(3)).toEqual([]);
    expect(linter.findings()).toHaveLength(1);
  });

  test.each([
    ["a project", 1],
    ["all", undefined],
  ])("forgets %s", (_, project) => {
    const linter = new Linter(noOne);
    for (const it of flip) atOnce(linter.examine(it));
    linter.forget(project);
    expect(linter.findings()).toEqual([]);
    for (const it of flip.slice(1)) atOnce(linter.examine(it));
    expect(linter.findings()).toEqual([]);
  });

  test("says nothing of missing calls where it has not seen everything", () => {
    const traffic = [flags({ b: true }), request([event("buy", node)])];
    for (const spoil of [
      (linter: Linter) => linter.skip(),
      (linter: Linter) => linter.forget(1),
      (linter: Linter) => linter.forget(),
    ]) {
      const linter = new Linter(noOne);
      spoil(linter);
      for (const it of traffic) atOnce(linter.examine(it));
      expect(linter.findings()).toEqual([]);
    }
    expect(lint(traffic)).toHaveLength(1);
  });

  test("knows the groups that the sim knows", () => {
    const port: LintPort = {
      ...noOne,
      hasGroup: (project, type, key) => `${project} ${type} ${key}` === "1 company acme",
    };
    const groups = (key: string) => request([event("a", { $groups: { company: key } })]);
    expect(reported(lint([groups("acme"), groups("other")], port))).toEqual([
      "group_without_identify a ×1: $groups.company is other",
    ]);
  });

  test("keeps the findings of many projects, and watches the last ones", () => {
    const linter = new Linter(noOne);
    const counts = (project: number) => linter.findings(project).map(({ count }) => count);
    for (let project = 1; project <= 300; project++) for (const it of flip) atOnce(linter.examine({ ...it, project }));
    expect(linter.findings()).toHaveLength(300);
    for (const it of flip.slice(1)) for (const project of [1, 300]) atOnce(linter.examine({ ...it, project }));
    expect([counts(1), counts(300)]).toEqual([[1], [2]]);
  });

  test("holds on to a limited number of findings", () => {
    const many = Array.from({ length: 700 }, (_, i) => event("a", { [`p${i}`]: "ann@example.com" }));
    expect(lint([request(many)])).toHaveLength(500);
  });
});
