import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { completeFilter } from "../../../../src/state/journal/filter/complete.ts";
import { eventLanguage } from "../../../../src/state/journal/filter/event-language.ts";
import { filterFields } from "../../../../src/state/journal/filter/fields.ts";
import { termText } from "../../../../src/state/journal/filter/print.ts";
import { readEventFilter, readRequestFilter } from "../../../../src/state/journal/filter/read.ts";
import { requestLanguage } from "../../../../src/state/journal/filter/request-language.ts";
import type { Filter, FilterReading, IndexedPart } from "../../../../src/state/journal/filter/types.ts";
import { fc } from "../../../support/chance.ts";
import { eventOf, lightEvent, lightRequest, now, requestOf } from "./subjects.ts";

function filterOf<S>(reading: FilterReading<S>): Filter<S> {
  if ("filter" in reading) return reading.filter;
  throw new Error(JSON.stringify(reading.problems));
}

const indexed: [text: string, expected: IndexedPart][] = [
  ["", {}],
  ["event:a", { event: "a" }],
  ["name:a", { event: "a" }],
  ['event:"a*"', { event: "a*" }],
  ["event:a*", {}],
  ["event:a,b", {}],
  ["event~a", {}],
  ["-event:a", {}],
  ["event!=a", {}],
  ["event:a OR id:b", {}],
  ["event:a (id:b project:2)", { event: "a", distinct_id: "b", project: 2 }],
  ["event:a (id:b OR project:2)", { event: "a" }],
  ["event:a event:b", { event: "a" }],
  ["project:1.5", {}],
  ["project:null", {}],
  ["project:>1", {}],
  ["outcome:DROPPED", { outcome: "dropped" }],
  ["is:kept", { outcome: "kept", warned: false }],
  ["is:warned", { outcome: "kept", warned: true }],
  ["is:dropped", { outcome: "dropped" }],
  ["is:kept,dropped", {}],
  ["is:rejected", {}],
  ["word event:a", { event: "a" }],
];
test.each(indexed)("the index finds of %s", (text, expected) => {
  expect(filterOf(readEventFilter(text)).indexed).toEqual(expected);
});

const indexedRequests: [text: string, expected: IndexedPart][] = [
  ["event:a id:b", {}],
  ["project:2 is:rejected", { project: 2, rejected: true }],
  ["is:unmatched", { rejected: true }],
  ["is:answered", { rejected: false }],
  ["is:dropped", {}],
];
test.each(indexedRequests)("the index finds of requests of %s", (text, expected) => {
  expect(filterOf(readRequestFilter(text)).indexed).toEqual(expected);
});

const examples = (light: boolean, { fields }: { fields: readonly { isHeavy?: boolean; example: string }[] }) =>
  fields.filter(({ isHeavy = false }) => isHeavy !== light).map((it) => it.example);

describe("light filters look at rows only", () => {
  test.each([...examples(true, eventLanguage), "is:kept,warned", "-is:faulted", "has:fault"])("%s", (text) => {
    const filter = filterOf(readEventFilter(text));
    expect(filter.isLight).toBe(true);
    expect(() => filter.test(lightEvent, now)).not.toThrow();
  });
  test.each([...examples(true, requestLanguage), "is:kept", "-is:unmatched"])("of requests: %s", (text) => {
    const filter = filterOf(readRequestFilter(text));
    expect(filter.isLight).toBe(true);
    expect(() => filter.test(lightRequest, now)).not.toThrow();
  });
  test.each(["word", "lib:web", "prop.a:1", "has:prop.a", "event:a OR word", "-(prop.a:1)"])("not %s", (text) => {
    expect(filterOf(readEventFilter(text)).isLight).toBe(false);
  });
  test.each(["word", "event:a", "reason:x", "is:warned"])("not of requests: %s", (text) => {
    expect(filterOf(readRequestFilter(text)).isLight).toBe(false);
  });
  test("what costs is asked only of those that fit all else", () => {
    expect(filterOf(readEventFilter("word event:nobody")).test(lightEvent, now)).toBe(false);
  });
});

test("every example in the tables can be read", () => {
  for (const { example } of filterFields.events) expect(filterOf(readEventFilter(example)), example).toBeDefined();
  for (const { example } of filterFields.requests) expect(filterOf(readRequestFilter(example)), example).toBeDefined();
});

const printed: [text: string, expected: string][] = [
  [" a   b ", "a b"],
  ["a AND b", "a b"],
  ["NOT a", "-a"],
  ["event!=a,b", "-event:a,b"],
  ["status>=400", "status:>=400"],
  ["status=400", "status:400"],
  ["event~x", "event:~x"],
  ['event:"a" id:"b c"', 'event:"a" id:"b c"'],
  ["((a or b)) c", "(a OR b) c"],
  ["a or (b c)", "a OR b c"],
  ["-(a b)", "-(a b)"],
  ['prop."a.b"."c".d:1', 'prop."a.b".c.d:1'],
  ['"\\"\\\\"', '"\\"\\\\"'],
];
test.each(printed)("%s is spelled %s", (text, expected) => {
  expect(filterOf(readEventFilter(text)).text).toBe(expected);
});

const terms: [path: string[], value: Json, expected: string][] = [
  [["event"], "$pageview", "event:$pageview"],
  [["event"], "sign up", 'event:"sign up"'],
  [["event"], "a*", 'event:"a*"'],
  [["event"], 'a"b', 'event:"a\\"b"'],
  [["event"], "", 'event:""'],
  [["event"], "a,b", 'event:"a,b"'],
  [["event"], ">5", 'event:">5"'],
  [["prop", "n"], 5, "prop.n:5"],
  [["prop", "n"], "5", 'prop.n:"5"'],
  [["prop", "n"], "true", 'prop.n:"true"'],
  [["prop", "n"], true, "prop.n:true"],
  [["prop", "n"], null, "prop.n:null"],
  [["prop", "a.b", "c"], "x", 'prop."a.b".c:x'],
  [["prop", "a b", ""], "x", 'prop."a b"."":x'],
  [["prop", "o"], { a: 1 }, "has:prop.o"],
];
test.each(terms)("the term of %j and %j", (path, value, expected) => {
  expect(termText(path, value)).toBe(expected);
});

/** Text in which what has a meaning is frequent. */
const pieces = [
  ...'ab:~><=!.,()"\\*- \n\u0000\u202e\ud800é',
  "OR",
  "NOT",
  "AND",
  "event",
  "prop.",
  "status",
  "is:",
  "has:",
  "since:",
  "5m",
  "400",
  "null",
  "__proto__",
];
const filterish = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((it) => it.join("")),
);

const reads = [
  ["events", readEventFilter],
  ["requests", readRequestFilter],
] as const;

describe.each(reads)("any text as a filter of %s", (kind, read) => {
  test("is read without a throw, and problems are in the text", () => {
    fc.assert(
      fc.property(filterish, (text) => {
        const reading: FilterReading<never> = read(text);
        if ("filter" in reading) return;
        expect(reading.problems.length).toBeGreaterThan(0);
        for (const { at, length, message } of reading.problems) {
          expect(message).not.toBe("");
          expect(at).toBeGreaterThanOrEqual(0);
          expect(length).toBeGreaterThan(0);
          expect(at + length).toBeLessThanOrEqual(text.length);
        }
      }),
    );
  });

  test("is spelled the same once it was spelled", () => {
    fc.assert(
      fc.property(filterish, (text) => {
        const reading: FilterReading<never> = read(text);
        if ("problems" in reading) return;
        const again: FilterReading<never> = read(reading.filter.text);
        expect("filter" in again && again.filter.text).toBe(reading.filter.text);
        expect("filter" in again && again.filter.isLight).toBe(reading.filter.isLight);
      }),
    );
  });

  test("is completed without a throw, inside the text", () => {
    const known = { events: ["a b"], distinctIds: ["é"], properties: ["a.b", "__proto__"], reasons: [] };
    fc.assert(
      fc.property(filterish, fc.nat(60), (text, at) => {
        const caret = Math.min(at, text.length);
        for (const { from, to } of completeFilter(text, caret, kind, known)) {
          expect(0 <= from && from <= caret && caret <= to && to <= text.length).toBe(true);
        }
      }),
    );
  });
});

test("a filter and its usual spelling select the same", () => {
  const subject = eventOf({ event: "a" }, { a: "b", b: { a: 400 } });
  fc.assert(
    fc.property(filterish, (text) => {
      const reading = readEventFilter(text);
      if ("problems" in reading) return;
      const again = filterOf(readEventFilter(reading.filter.text));
      expect(again.test(subject, now)).toBe(reading.filter.test(subject, now));
    }),
  );
});

test("any value is found again by its term", () => {
  const scalar = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom("true", "5", "a,b", "*", '"', "\\", ">1", "(", "OR"),
  );
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 50 }), scalar, (name, value) => {
      const filter = filterOf(readEventFilter(termText(["prop", name], value)));
      const properties = Object.fromEntries([[name, value]]);
      expect(filter.test(eventOf({}, properties), now)).toBe(true);
    }),
  );
});

test("names that were really sent are found, whatever they are", () => {
  const properties = JSON.parse('{"__proto__":{"x":1},"constructor":2}');
  const subject = eventOf({}, properties);
  for (const text of ["has:prop.__proto__", "prop.__proto__.x:1", "prop.constructor:2"])
    expect(filterOf(readEventFilter(text)).test(subject, now)).toBe(true);
});

test("globs that others would take for ever over", () => {
  const filter = filterOf(readEventFilter(`event:${"a*".repeat(900)}b`));
  expect(filter.test(eventOf({ event: "a".repeat(100_000) }), now)).toBe(false);
});

test("a request without events has none of theirs", () => {
  const filter = filterOf(readRequestFilter("event:* OR has:lib OR is:warned"));
  expect(filter.test(requestOf({}), now)).toBe(false);
});
