import { expect as jest } from "expect";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { checkPattern, fits } from "../../../../src/lab/assert/match/pattern.ts";
import { toWire } from "../../../../src/lab/assert/match/wire.ts";
import { fc } from "../../../support/chance.ts";

const iso = "2026-01-05T09:00:00.000Z";

/** What vitest and jest both offer. */
interface Runner {
  any(sample: unknown): unknown;
  anything(): unknown;
  stringContaining(sample: string): unknown;
  stringMatching(sample: string | RegExp): unknown;
  objectContaining(sample: Record<string, unknown>): unknown;
  arrayContaining(sample: unknown[]): unknown;
  closeTo(sample: number, digits?: number): unknown;
  not: {
    stringContaining(sample: string): unknown;
    stringMatching(sample: string | RegExp): unknown;
    objectContaining(sample: Record<string, unknown>): unknown;
    arrayContaining(sample: unknown[]): unknown;
    closeTo?(sample: number, digits?: number): unknown;
  };
}
// Their types differ in what is of no matter here.
const runners: [name: string, runner: Runner][] = [
  ["vitest", expect as unknown as Runner],
  ["jest", jest as unknown as Runner],
];

/** name, the pattern, its wire form, is it exact? */
type Row = [name: string, pattern: unknown, wire: Json, exact: boolean];

const own: Row[] = [
  ["literal", { a: [1, "x", null, true] }, { a: [1, "x", null, true] }, true],
  ["operators", { a: { "@gte": 1, "@lt": 3 } }, { a: { "@gte": 1, "@lt": 3 } }, true],
  ["escaped key", { "@@a": 1 }, { "@@a": 1 }, true],
  ["undefined", { a: undefined }, { a: { "@exists": false } }, true],
  ["RegExp", /^a/, { "@regex": "^a" }, true],
  ["RegExp with flags", /a/gi, { "@regex": { pattern: "a", flags: "i" } }, true],
  ["sticky RegExp", /a/y, { "@regex": "a" }, false],
  ["long RegExp", new RegExp("a".repeat(1001)), { "@exists": true }, false],
  ["Date", new Date(iso), { "@at": iso }, true],
  ["invalid Date", new Date(Number.NaN), { "@in": [] }, true],
  ["URL", new URL("http://x/"), "http://x/", true],
  ["NaN", Number.NaN, { "@in": [] }, true],
  ["Map", new Map(), { "@in": [] }, true],
  ["predicate", { a: () => true, b: 1 }, { a: { "@exists": true }, b: 1 }, false],
  ["own matcher", { asymmetricMatch: () => true }, { "@exists": true }, false],
  ["predicate denied", { "@not": () => true }, { "@all": [] }, false],
  [
    "two that are left out",
    { "@not": () => true, "@all": [() => true] },
    { "@all": [{ "@all": [] }, { "@all": [{ "@exists": true }] }] },
    false,
  ],
  ["Date in a comparison", { "@gte": new Date(iso) }, { "@gte": iso }, true],
  ["Date in @ne", { "@ne": new Date(iso) }, { "@all": [] }, false],
  ["RegExp in @regex", { "@regex": /a/i }, { "@regex": { pattern: "a", flags: "i" } }, true],
  ["@each", { "@each": /a/ }, { "@each": { "@regex": "a" } }, true],
  ["@any with a predicate", { "@any": [1, () => true] }, { "@any": [1, { "@exists": true }] }, false],
  ["unknown operator", { "@wat": 1 }, { "@wat": 1 }, true],
  ["unknown operator, not JSON", { "@wat": /x/ }, { "@wat": null }, true],
  ["__proto__", JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 1}'), true],
];

const ofRunner = (r: Runner): Row[] => [
  ["any(String)", r.any(String), { "@type": "string" }, true],
  ["any(Number)", r.any(Number), { "@type": "number" }, true],
  ["any(Boolean)", r.any(Boolean), { "@type": "boolean" }, true],
  ["any(Array)", r.any(Array), { "@type": "array" }, true],
  ["any(Object)", r.any(Object), { "@type": ["object", "array", "null"] }, true],
  ["any(Function)", r.any(Function), { "@in": [] }, true],
  ["any(Date)", r.any(Date), { "@exists": true }, false],
  ["anything()", r.anything(), { "@exists": true, "@ne": null }, true],
  ["stringContaining", r.stringContaining("a"), { "@type": "string", "@contains": "a" }, true],
  ["stringMatching", r.stringMatching(/a/i), { "@regex": { pattern: "a", flags: "i" } }, true],
  ["stringMatching text", r.stringMatching("a.c"), { "@regex": "a.c" }, true],
  ["stringMatching with memory", r.stringMatching(/a/g), { "@regex": "a" }, false],
  ["objectContaining", r.objectContaining({ a: { b: 1 } }), { a: { "@eq": { b: 1 } } }, true],
  ["objectContaining, @ key", r.objectContaining({ "@gte": 1 }), { "@@gte": { "@eq": 1 } }, true],
  ["objectContaining, nested", r.objectContaining({ a: r.any(Number) }), { a: { "@type": "number" } }, true],
  ["objectContaining, inherited", r.objectContaining({ toString: 1 }), { "@exists": true }, false],
  ["objectContaining, nothing", r.objectContaining({}), { "@exists": true }, false],
  [
    "arrayContaining",
    r.arrayContaining([1, "a"]),
    { "@type": "array", "@all": [{ "@contains": { "@eq": 1 } }, { "@contains": { "@eq": "a" } }] },
    true,
  ],
  ["arrayContaining, nothing", r.arrayContaining([]), { "@exists": true }, true],
  ["closeTo", r.closeTo(0.3, 5), { "@closeTo": { value: 0.3, digits: 5 } }, true],
  [
    "not.stringContaining",
    r.not.stringContaining("a"),
    { "@exists": true, "@not": { "@type": "string", "@contains": "a" } },
    true,
  ],
  ["not.stringMatching with memory", r.not.stringMatching(/a/g), { "@exists": true }, false],
  ["not.objectContaining", r.not.objectContaining({ a: 1 }), { "@exists": true, "@not": { a: { "@eq": 1 } } }, false],
  [
    "not.arrayContaining",
    r.not.arrayContaining([1]),
    { "@exists": true, "@not": { "@type": "array", "@all": [{ "@contains": { "@eq": 1 } }] } },
    true,
  ],
];

test.each(own)("%s", (_, pattern, wire, exact) => {
  expect(toWire(pattern)).toEqual({ wire, exact });
});

describe.each(runners)("matchers of %s", (_, runner) => {
  test.each(ofRunner(runner))("%s", (_, pattern, wire, exact) => {
    expect(toWire(pattern)).toEqual({ wire, exact });
  });
});

test("jest's own", () => {
  expect(toWire(jest.arrayOf(jest.any(Number)))).toEqual({ wire: { "@each": { "@type": "number" } }, exact: true });
  expect(toWire(jest.not.arrayOf(1))).toEqual({
    wire: { "@exists": true, "@not": { "@each": { "@eq": 1 } } },
    exact: true,
  });
});

test("a cycle ends", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.a = cyclic;
  const { wire, exact } = toWire(cyclic);
  expect(exact).toBe(false);
  expect(checkPattern(wire)).toEqual([]);
});

/** Few names and values, so that patterns often fit. */
const key = fc.constantFrom("a", "b", "plan", "@gte", "__proto__", "length", "0", "constructor");
const scalar = fc.constantFrom<Json>(null, true, false, 0, -0, 1, 1.004, 49, "", "a", "ab", "49", iso, "2026-01-05");
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(key, tie("value"), { maxKeys: 3 }),
  ),
}));

const matchersOf = (runner: Runner, inner: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.constantFrom(String, Number, Boolean, Array, Object, Date).map((it) => runner.any(it)),
    fc.constant(runner.anything()),
    fc.constantFrom("", "a", "4").map((it) => runner.stringContaining(it)),
    fc.constantFrom("", "a", "4").map((it) => runner.not.stringContaining(it)),
    fc.constantFrom(/a/, /A/i, /^\d+$/, "b").map((it) => runner.stringMatching(it)),
    fc.constantFrom(/a/, /A/i, /^\d+$/, "b").map((it) => runner.not.stringMatching(it)),
    fc.constantFrom(0, 1, 49).map((it) => runner.closeTo(it)),
    fc.dictionary(key, inner, { maxKeys: 2 }).map((it) => runner.objectContaining(it)),
    fc.dictionary(key, inner, { maxKeys: 2 }).map((it) => runner.not.objectContaining(it)),
    fc.array(inner, { maxLength: 2 }).map((it) => runner.arrayContaining(it)),
    fc.array(inner, { maxLength: 2 }).map((it) => runner.not.arrayContaining(it)),
  );

const operatorsOf = (inner: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.record({ "@gte": fc.constantFrom<unknown>(1, iso, new Date(iso)) }),
    fc.record({ "@at": fc.constantFrom<unknown>(iso, new Date(iso)) }),
    fc.record({ "@ne": fc.oneof(value, fc.constant(new Date(iso))) }),
    fc.record({ "@eq": value }),
    fc.record({ "@nin": fc.array(fc.oneof(value, fc.constant(new Date(iso)))) }),
    fc.record({ "@not": inner }),
    fc.record({ "@any": fc.array(inner, { maxLength: 2 }) }),
    fc.record({ "@all": fc.array(inner, { maxLength: 2 }), "@not": inner }),
    fc.record({ "@each": inner }),
    fc.record({ "@contains": inner }),
    fc.record({
      "@len": fc.oneof(
        fc.nat(3),
        fc.constant((it: unknown) => it === 1),
      ),
    }),
    fc.record({ "@regex": fc.constantFrom<unknown>("a", /a/i) }),
  );

const plainKey = fc.constantFrom("a", "b", "plan", "@@gte", "__proto__", "length", "constructor");

const patternOf = (runner: Runner): fc.Arbitrary<unknown> =>
  fc.letrec<{ pattern: unknown }>((tie) => ({
    pattern: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      scalar,
      fc.constantFrom<unknown>(undefined, /a/, /4/y, /B/gi, new Date(iso), Number.NaN, new Map()),
      fc.constantFrom<unknown>(
        (it: unknown) => typeof it === "string",
        (it: string) => it.includes("a"),
      ),
      fc.array(tie("pattern"), { maxLength: 3 }),
      fc.dictionary(plainKey, tie("pattern"), { maxKeys: 3 }),
      matchersOf(runner, tie("pattern")),
      operatorsOf(tie("pattern")),
    ),
  })).pattern;

/** A value that is likely to have to do with the pattern: its own literals, if it is one. */
const pairOf = (runner: Runner) =>
  fc
    .tuple(patternOf(runner), value)
    .chain(([pattern, other]) =>
      fc.tuple(
        fc.constant(pattern),
        fc.oneof(fc.constant(other), fc.constant(asValue(pattern) ?? other), fc.constant(undefined)),
      ),
    );

const asValue = (pattern: unknown): Json | undefined => {
  try {
    const text = JSON.stringify(pattern);
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
};

describe.each(runners)("over HTTP, with matchers of %s", (_, runner) => {
  test("what fits also fits there; nothing else does, where it is exact; it is well formed", () => {
    const seen = { fitting: 0, exact: 0, inexact: 0 };
    fc.assert(
      fc.property(pairOf(runner), ([pattern, value]) => {
        const { wire, exact } = toWire(pattern);
        const sent = JSON.parse(JSON.stringify(wire)) as Json;
        const [here, there] = [fits(pattern, value), fits(sent, value)];
        expect(checkPattern(sent)).toEqual([]);
        if (here) expect(there).toBe(true);
        if (exact) expect(there).toBe(here);
        if (here) seen.fitting += 1;
        seen[exact ? "exact" : "inexact"] += 1;
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 3_000) },
    );
    expect(Math.min(seen.fitting, seen.exact, seen.inexact)).toBeGreaterThan(100);
  });
});
