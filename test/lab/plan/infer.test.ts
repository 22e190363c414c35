import { describe, expect, test } from "vitest";
import { flawsOf, loadCompiler } from "../../../src/lab/plan/compile-plan.ts";
import {
  checkEvents,
  type EventEntry,
  inferPlan,
  mergePlans,
  type PlanFile,
  type PlannableEvent,
  planFrom,
} from "../../../src/plan.ts";
import { fc } from "../../support/chance.ts";
import { event } from "./events.ts";

/** What is inferred of events with the property `a`. */
const inferred = (...values: unknown[]) =>
  inferPlan(values.map((a, i) => event(i + 1, "e", { a }))).events.e?.properties?.a;

const times = (count: number, ...values: unknown[]) => Array.from({ length: count }, () => values).flat();

describe("a property", () => {
  test.each<[string, unknown[], object]>([
    ["text", ["x", "y"], { type: "string" }],
    ["whole numbers", [1, 2], { type: "integer" }],
    ["numbers", [1, 2.5], { type: "number" }],
    ["yes and no", [true, false], { type: "boolean" }],
    ["nothing", [null], { type: "null" }],
    ["sometimes nothing", [null, "x"], { type: ["string", "null"] }],
    ["of many types", [1, "x", null, true], { type: ["string", "integer", "boolean", "null"] }],
    ["times", ["2026-01-31T12:00:00Z", "2024-02-29T00:00:00.123+02:00"], { type: "string", format: "date-time" }],
    ["days that no calendar has", ["2026-02-30T12:00:00Z"], { type: "string" }],
    ["UUIDs", ["0190c2c5-8f7e-7000-8000-000000000001"], { type: "string", format: "uuid" }],
    ["mails", ["ann@example.com", "b.c+d@sub.example.org"], { type: "string", format: "email" }],
    ["addresses", ["https://example.com/a?b=c#d", "http://localhost:3000"], { type: "string", format: "uri" }],
    ["two formats", ["ann@example.com", "https://example.com"], { type: "string" }],
    ["a format or nothing", ["ann@example.com", null], { type: ["string", "null"], format: "email" }],
    ["few texts, often", times(10, "pro", "free"), { type: "string", enum: ["free", "pro"] }],
    ["few texts or nothing", times(10, "pro", "free", null), { type: ["string", "null"], enum: ["free", "pro", null] }],
    ["few texts, not often", times(5, "pro", "free"), { type: "string" }],
    ["few texts and numbers", times(20, "pro", 1), { type: ["string", "integer"] }],
    ["many texts", Array.from({ length: 100 }, (_, i) => `t${i % 9}`), { type: "string" }],
    ["one long text", times(30, "x".repeat(41)), { type: "string" }],
    ["lists", [[1], ["x"]], { type: "array", items: { type: ["string", "integer"] } }],
    ["empty lists", [[]], { type: "array" }],
    ["very long lists", [Array.from({ length: 1001 }, () => 1)], { type: "array" }],
    [
      "objects",
      [{ b: 1, c: "x" }, { b: 2 }],
      { type: "object", properties: { b: { type: "integer" }, c: { type: "string" } }, required: ["b"] },
    ],
    [
      "very deep",
      [[[[[{ x: 1 }]]]]],
      {
        type: "array",
        items: { type: "array", items: { type: "array", items: { type: "array", items: { type: "object" } } } },
      },
    ],
  ])("%s", (_, values, schema) => {
    expect(inferred(...values)).toEqual(schema);
  });
});

describe("an event", () => {
  test("requires what was always there, and is closed", () => {
    const plan = inferPlan([event(1, "e", { b: 1, a: 1 }), event(2, "e", { b: 1 })], { title: "T" });
    expect(plan).toEqual({
      version: 1,
      title: "T",
      events: {
        e: {
          properties: { a: { type: "integer" }, b: { type: "integer" } },
          required: ["b"],
          additionalProperties: false,
        },
      },
    });
    expect(JSON.stringify(plan)).toBe(
      JSON.stringify(inferPlan([event(2, "e", { b: 1 }), event(1, "e", { a: 1, b: 1 })], { title: "T" })),
    );
  });

  test("what SDKs add, dropped events and inert keys stay out", () => {
    const sent = JSON.parse('{ "$lib": "web", "token": "x", "utm_source": "y", "__proto__": 1, "constructor": 1 }');
    const dropped = { ...event(3, "lost", {}), outcome: "dropped" };
    const { events } = inferPlan([event(1, "e", sent), event(2, "$pageview"), dropped, event(4, "__proto__")]);
    expect(Object.keys(events)).toEqual(["e"]);
    expect(Object.keys(events.e?.properties ?? {})).toEqual(["constructor"]);
  });

  test("one by name, an SDK's, too", () => {
    const { events } = inferPlan([event(1, "e"), event(2, "$pageview", { section: "a" })], { event: "$pageview" });
    expect(Object.keys(events)).toEqual(["$pageview"]);
  });

  test("stays small: with too many names it is open, too many events are left out", () => {
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`p${i}`, i]));
    const { e } = inferPlan([event(1, "e", many)]).events;
    expect(Object.keys(e?.properties ?? {})).toHaveLength(300);
    expect(e?.additionalProperties).toBeUndefined();
    const maps = Array.from({ length: 3000 }, (_, i) => event(i, "m", { by: { [`k${i % 290}`]: { [`l${i}`]: 1 } } }));
    expect(JSON.stringify(inferPlan(maps)).length).toBeLessThan(100_000);
    const long = inferPlan([event(1, "l", { ["x".repeat(201)]: 1 })]).events.l;
    expect(long).toEqual({});
    const names = Array.from({ length: 1100 }, (_, i) => event(i, `e${i}`));
    expect(Object.keys(inferPlan(names).events)).toHaveLength(1000);
  });
});

describe("any events", () => {
  const text = fc.oneof(
    fc.string(),
    fc.emailAddress(),
    fc.uuid(),
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc.date({ noInvalidDate: true }).map((it) => it.toISOString()),
    fc.constantFrom("free", "pro"),
    fc.constantFrom("2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z", "a..b@c.de", "http://a%"),
  );
  const value = fc.oneof(text, fc.jsonValue({ maxDepth: 6 }), fc.array(text), fc.dictionary(fc.string(), text));
  const name = fc.oneof(fc.constantFrom("a", "b", "$lib", "__proto__", "constructor", "a/b~"), fc.string());
  const events = fc.array(
    fc
      .tuple(fc.constantFrom("e", "f", "constructor", "$pageview", "__proto__"), fc.dictionary(name, value))
      .map(([name, properties]): PlannableEvent => event(1, name, properties)),
    { maxLength: 30 },
  );

  test("fit the plan that was inferred from them, which is one", async () => {
    const compile = await loadCompiler();
    await fc.assert(
      fc.asyncProperty(events, async (events) => {
        const plan = inferPlan(events);
        expect(flawsOf(JSON.parse(JSON.stringify(plan)), compile)).toEqual([]);
        const named = events.filter((it) => it.event !== "__proto__");
        expect((await checkEvents(planFrom(plan), named)).violations).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});

describe("merging", () => {
  const plan: PlanFile = {
    version: 1,
    title: "Ours",
    events: { a: { description: "Mine.", properties: { x: ["p"] }, required: ["x"] }, b: {} },
  };
  const other = (events: Record<string, EventEntry>): PlanFile => ({ version: 1, events });

  test.each<[string, Record<string, EventEntry>, PlanFile["events"]]>([
    ["nothing new", { a: { properties: { x: "string" }, required: ["x"] } }, plan.events],
    ["a new event", { c: { properties: { y: "string" } } }, { ...plan.events, c: { properties: { y: "string" } } }],
    [
      "a new property, which is not required",
      { a: { properties: { x: "string", y: "string" }, required: ["x", "y"] }, b: { properties: { z: "number" } } },
      {
        a: { description: "Mine.", properties: { x: ["p"], y: "string" }, required: ["x"] },
        b: { properties: { z: "number" } },
      },
    ],
  ])("%s", (_, events, merged) => {
    expect(mergePlans(plan, other(events))).toEqual({ ...plan, events: merged });
  });
});
