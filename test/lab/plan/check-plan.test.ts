import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  checkEvents,
  checkPlan,
  definePlan,
  type EventEntry,
  type Plan,
  type PlanEvents,
  type PlannableEvent,
  planFrom,
  reportViolations,
} from "../../../src/plan.ts";
import { event } from "./events.ts";

const planned = (entry: EventEntry): Plan => planFrom({ version: 1, events: { e: entry } });
const properties = (it: NonNullable<EventEntry["properties"]>, rest: EventEntry = {}): EventEntry => ({
  properties: it,
  ...rest,
});

/** What the check reports, without the user it is about. */
async function findings(plan: Plan, ...events: PlannableEvent[]) {
  const { violations } = await checkEvents(plan, events);
  return violations.map(({ kind, pointer, expected, actual, hint }) => [kind, pointer, expected, actual, hint]);
}

type Row = [name: string, entry: EventEntry, sent: object, found: (string | null)[][]];
const closed = { additionalProperties: false };
const at = (name: string) => `/properties/${name}`;

describe("JSON Schema", () => {
  test.each<Row>([
    ["as planned", properties({ a: "string" }, { required: ["a"], ...closed }), { a: "x" }, []],
    ["open unless closed", properties({ a: "string" }), { b: 1 }, []],
    [
      "number as text",
      properties({ a: "number" }),
      { a: "49" },
      [["wrong_type", at("a"), "a number", '"49"', "number as a string"]],
    ],
    [
      "text as number",
      properties({ a: "string" }),
      { a: 49 },
      [["wrong_type", at("a"), "a string", "49", "number instead of a string"]],
    ],
    [
      "not whole",
      properties({ a: "integer" }),
      { a: 1.5 },
      [["wrong_type", at("a"), "a whole number", "1.5", "not whole"]],
    ],
    [
      "true as text",
      properties({ a: "boolean|null" }),
      { a: "true" },
      [["wrong_type", at("a"), "true or false or null", '"true"', "boolean as a string"]],
    ],
    [
      "null",
      properties({ a: "string" }),
      { a: null },
      [["wrong_type", at("a"), "a string", "null", "null is a value: leave the property out, or allow null"]],
    ],
    [
      "not in a list",
      properties({ a: "string[]" }),
      { a: "x" },
      [["wrong_type", at("a"), "a list", '"x"', "not in a list"]],
    ],
    [
      "many types will do",
      properties({ a: "string|number[]" }),
      { a: true },
      [["invalid", at("a"), "a string or a list", "true", null]],
    ],
    [
      "case",
      properties({ a: ["free", "pro"] }),
      { a: "Pro" },
      [["not_allowed_value", at("a"), '"free" or "pro"', '"Pro"', "case differs"]],
    ],
    [
      "typo in a value",
      properties({ a: ["monthly", "yearly"] }),
      { a: "yearli" },
      [["not_allowed_value", at("a"), '"monthly" or "yearly"', '"yearli"', 'did you mean "yearly"?']],
    ],
    [
      "allowed number as text",
      properties({ a: [1, 2] }),
      { a: "2" },
      [["not_allowed_value", at("a"), "1 or 2", '"2"', "number as a string"]],
    ],
    ["const", properties({ a: { const: 1 } }), { a: 2 }, [["not_allowed_value", at("a"), "1", "2", null]]],
    [
      "missing",
      properties({ a: "uuid" }, { required: ["a"] }),
      {},
      [["missing_property", at("a"), "a UUID", null, null]],
    ],
    [
      "misspelled",
      properties({ plan: "string" }, { required: ["plan"], ...closed }),
      { plann: "x" },
      [
        ["missing_property", at("plan"), "a string", null, 'there is "plann"'],
        ["unknown_property", at("plann"), 'one of "plan"', '"x"', 'did you mean "plan"?'],
      ],
    ],
    ["forbidden", properties({ a: false }), { a: 1 }, [["unknown_property", at("a"), "nothing", "1", null]]],
    [
      "format",
      properties({ a: "email", b: { type: "string", format: "ipv4" } }),
      { a: "nobody", b: "x" },
      [
        ["wrong_format", at("a"), "an e-mail address", '"nobody"', null],
        ["wrong_format", at("b"), "a string in the format ipv4", '"x"', null],
      ],
    ],
    [
      "pattern",
      properties({ a: { pattern: "^[A-Z]+$", examples: ["EUR"] } }),
      { a: "eur" },
      [["wrong_format", at("a"), "a string that matches ^[A-Z]+$", '"eur"', 'did you mean "EUR"?']],
    ],
    [
      "sizes",
      properties({
        a: { minimum: 1 },
        b: { maxLength: 1 },
        c: { minItems: 2 },
        d: { exclusiveMaximum: 3 },
        e: { multipleOf: 2 },
      }),
      { a: 0, b: "xx", c: [], d: 3, e: 3 },
      [
        ["out_of_range", at("a"), "at least 1", "0", null],
        ["out_of_range", at("b"), "at most 1 character", '"xx"', null],
        ["out_of_range", at("c"), "at least 2 items", "[]", null],
        ["out_of_range", at("d"), "less than 3", "3", null],
        ["out_of_range", at("e"), "a multiple of 2", "3", null],
      ],
    ],
    [
      "deep down, with a pointer that is one",
      properties({ "a/b": { items: { type: "object", properties: { "~": "number" } } } }),
      { "a/b": [{}, { "~": "1" }] },
      [["wrong_type", "/properties/a~1b/1/~0", "a number", '"1"', "number as a string"]],
    ],
    [
      "one line for a union",
      properties({ a: { anyOf: ["uuid", "integer"] } }),
      { a: "x" },
      [["invalid", at("a"), "a UUID or a whole number", '"x"', null]],
    ],
    [
      "not",
      properties({ a: { not: { const: "" } } }),
      { a: "" },
      [["invalid", at("a"), "something else: the plan forbids this", '""', null]],
    ],
    [
      "one needs the other",
      { dependentRequired: { a: ["b"] } },
      { a: 1 },
      [["missing_property", at("b"), 'a value, as there is "a"', null, null]],
    ],
    [
      "names that objects inherit",
      properties({ constructor: "string", toString: "string" }, { required: ["toString"] }),
      {},
      [["missing_property", at("toString"), "a string", null, null]],
    ],
    [
      "what SDKs add is let pass",
      properties({ a: "string" }, closed),
      { $lib: "web", token: "phc_x", distinct_id: "u", utm_source: "x" },
      [],
    ],
    [
      "what SDKs add is checked when the plan names it",
      properties({ $current_url: "uri", utm_source: ["ad"] }, closed),
      { $current_url: "/", utm_source: "x" },
      [
        ["wrong_format", at("$current_url"), "an address such as https://example.com/a", '"/"', null],
        ["not_allowed_value", at("utm_source"), '"ad"', '"x"', null],
      ],
    ],
  ])("%s", async (_, entry, sent, found) => {
    expect(await findings(planned(entry), event(1, "e", sent))).toEqual(found);
  });

  test("a key called __proto__ is inert", async () => {
    const sent = event(1, "e", JSON.parse('{ "__proto__": { "a": 1 } }'));
    expect(await findings(planned(properties({ a: "string" }, closed)), sent)).toEqual([]);
  });

  test("definitions", async () => {
    const plan = planFrom({
      version: 1,
      $defs: { tier: ["free", "pro"] },
      events: { e: { properties: { a: { $ref: "#/$defs/tier" } }, required: ["a"] } },
    });
    expect(await findings(plan, event(1, "e", { a: "x" }), event(2, "e"))).toEqual([
      ["not_allowed_value", at("a"), '"free" or "pro"', '"x"', null],
      ["missing_property", at("a"), "a value for #/$defs/tier", null, null],
    ]);
  });
});

describe("events", () => {
  const plan = planFrom({ version: 1, events: { signed_up: {}, paid: {}, $pageview: { required: ["section"] } } });

  test("those that are not planned, but for the SDK's", async () => {
    const events = [event(1, "sign_up"), event(2, "$autocapture"), event(3, "$pageview")];
    expect(await findings(plan, ...events)).toEqual([
      ["unplanned_event", "/event", "a planned event", '"sign_up"', 'did you mean "signed_up"?'],
      ["missing_property", at("section"), "a value", null, null],
    ]);
  });

  test("unplanned ones may be ignored", async () => {
    const loose = planFrom({ version: 1, unplanned: "ignore", events: { a: {} } });
    expect(await checkEvents(loose, [event(1, "b")])).toMatchObject({ total: 0, checked: 1, unseen: ["a"] });
  });

  test("dropped ones do not count, planned ones that never came are named", async () => {
    const dropped = { ...event(1, "paid", {}), outcome: "dropped" };
    const result = await checkEvents(plan, [dropped, event(2, "signed_up"), event(3, "constructor")]);
    expect(result).toMatchObject({
      checked: 2,
      offending: 1,
      total: 1,
      seen: ["signed_up"],
      unseen: ["paid", "$pageview"],
    });
  });

  test("they may come one by one", async () => {
    async function* stream() {
      yield event(1, "signed_up");
      yield event(2, "nope");
    }
    expect(await checkEvents(plan, stream())).toMatchObject({ checked: 2, total: 1 });
  });

  test("very many violations are counted, not kept", async () => {
    const events = Array.from({ length: 10_050 }, (_, i) => event(i + 1, "nope"));
    const result = await checkEvents(plan, events);
    expect([result.total, result.violations.length]).toEqual([10_050, 10_000]);
  });
});

describe("validators", () => {
  const plan = definePlan({
    signed_up: z.strictObject({ plan: z.enum(["free", "pro"]), seats: z.int().optional() }),
    paid: z.object({ items: z.array(z.object({ sku: z.string().min(2) })), at: z.iso.datetime().optional() }),
    opened: { properties: { from: ["mail", "push"], count: "integer|null" }, required: ["from"] },
    odd: z.object({ a: z.string() }).refine(() => Promise.resolve(false), "never right"),
  });

  test.each<[string, object, (string | null)[][]]>([
    ["signed_up", { plan: "pro", $lib: "web" }, []],
    [
      "signed_up",
      { plan: "Pro", seats: "3", seets: 1 },
      [
        ["not_allowed_value", at("plan"), 'one of "free"|"pro"', '"Pro"', "case differs"],
        ["wrong_type", at("seats"), "number", '"3"', "number as a string"],
        ["unknown_property", at("seets"), "no such property", "1", null],
      ],
    ],
    [
      "signed_up",
      { plann: "pro" },
      [
        ["missing_property", at("plan"), 'one of "free"|"pro"', null, null],
        ["unknown_property", at("plann"), "no such property", '"pro"', 'did you mean "plan"?'],
      ],
    ],
    [
      "paid",
      { items: [{ sku: "ab" }, { sku: "a" }], at: "now" },
      [
        ["out_of_range", "/properties/items/1/sku", "Too small: expected string to have >=2 characters", '"a"', null],
        ["wrong_format", at("at"), "Invalid ISO datetime", '"now"', null],
      ],
    ],
    ["opened", { from: "sms" }, [["not_allowed_value", at("from"), '"mail" or "push"', '"sms"', null]]],
    ["odd", { a: "x" }, [["invalid", "/properties", "never right", '{"a":"x"}', null]]],
  ])("%s %j", async (name, sent, found) => {
    expect(await findings(plan, event(1, name, sent))).toEqual(found);
  });

  test("any validator of the standard will do", async () => {
    const strict = {
      "~standard": {
        version: 1 as const,
        vendor: "ours",
        validate: () => ({
          issues: [
            { message: "unknown", path: [{ key: "$lib" }], expected: "never" },
            { message: "too blue", path: ["colour"] },
          ],
        }),
      },
    };
    const sent = event(1, "a", { $lib: "web", colour: "blue" });
    expect(await findings(definePlan({ a: strict }), sent)).toEqual([
      ["invalid", at("colour"), "too blue", '"blue"', null],
    ]);
  });
  type All = PlanEvents<typeof plan>;
  expectTypeOf<Extract<All, { event: "signed_up" }>["properties"]>().toEqualTypeOf<{
    plan: "free" | "pro";
    seats?: number | undefined;
  }>();
  type Opened = Extract<All, { event: "opened" }>["properties"];
  expectTypeOf<Opened["from"]>().toEqualTypeOf<"mail" | "push">();
  expectTypeOf<Opened["count"]>().toEqualTypeOf<number | null | undefined>();
  expectTypeOf<All["event"]>().toEqualTypeOf<"signed_up" | "paid" | "opened" | "odd">();

  test("JSON Schema that is wrong is reported when it is used", async () => {
    const bad = definePlan({ a: { properties: { x: { type: "sting" } } } });
    await expect(checkEvents(bad, [])).rejects.toThrow('/events/a/properties/x/type: expected "string"');
  });
});

describe("the report", () => {
  const plan = planned(properties({ plan: ["free", "pro"], n: "integer" }, { required: ["plan"], ...closed }));

  test("is one line when all is well", async () => {
    const { text } = await checkPlan(plan, [event(1, "e", { plan: "pro" })]);
    expect(text).toBe("1 event as planned; 1 of 1 planned event seen");
  });

  test("reports what many events have in common once", async () => {
    const { text } = await checkPlan(
      planFrom({ version: 1, events: { e: { properties: { l: "integer[]" } }, never: {} } }),
      [event(1, "e", { l: [1, "2"] }), event(2, "e", { l: ["3", 4] }), event(3, "ee")],
    );
    expect(text).toBe(
      [
        "3 violations of the tracking plan in 3 of 3 events; 1 of 2 planned events seen",
        "e",
        '  properties.l[1]: expected a whole number, got "2" (number as a string)  ×2, first  #1 of u1',
        "ee",
        '  is not in the plan (did you mean "e"?)  #3 of u1',
        "never seen: never",
      ].join("\n"),
    );
  });

  test("moves no cursor, whatever was captured, and stays short", async () => {
    const hostile = "\u001b[2J\u202e\n";
    const events = Array.from({ length: 100 }, (_, i) => ({
      ...event(i, `${hostile}${i}`, { [hostile]: hostile }),
      distinct_id: hostile,
    }));
    const text = reportViolations(await checkEvents(plan, [...events, event(101, "e", { [hostile]: hostile })]));
    expect(text.split("\n")).toHaveLength(62);
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});
