import { describe, expect, test } from "vitest";
import { Evaluation } from "../../../../src/lab/assert/match/evaluate.ts";
import type { Expectation, Terms } from "../../../../src/lab/assert/match/types.ts";
import type { StoredEvent } from "../../../../src/state/journal/event.ts";
import { stored } from "./events.ts";

/** `a b a`: events of these names, numbered from 1. */
const log = (names: string): StoredEvent[] =>
  names.split(" ").flatMap((name, i) => (name === "" ? [] : [stored(i + 1, name)]));

const named = (event: unknown, min?: number, max?: number): Expectation => ({
  match: { event },
  ...((min !== undefined || max !== undefined) && {
    count: { ...(min !== undefined && { min }), ...(max !== undefined && { max }) },
  }),
});

function evaluationOf(terms: Terms, events: readonly StoredEvent[]): Evaluation {
  const evaluation = new Evaluation(terms);
  for (const event of events) evaluation.take(event);
  return evaluation;
}

const evaluate = (terms: Terms, events: readonly StoredEvent[]) => evaluationOf(terms, events).verdict();

/** Complaints in a word each. */
const said = (terms: Terms, names: string): string[] =>
  evaluate(terms, log(names)).complaints.map((it) => {
    if (it.kind === "out_of_order") return `${it.expectation} after ${it.after}: #${it.event.seq} #${it.previous.seq}`;
    if (it.kind === "unexpected") return `unexpected ${it.events.map(({ seq }) => `#${seq}`).join(" ")} of ${it.total}`;
    if ("sent" in it) return `${it.kind} ${it.sent.join()}`;
    return `${it.kind} ${it.expectation}: ${it.got}`;
  });

const [a, b] = [named("a"), named("b")];

const rows: [what: string, terms: Terms, names: string, complaints: string[]][] = [
  ["nothing wanted", { expect: [] }, "a b", []],
  ["once", { expect: [a] }, "b a", []],
  ["once, none came", { expect: [a] }, "b", ["too_few 0: 0"]],
  ["more than once is enough", { expect: [a] }, "a a", []],
  ["twice, once came", { expect: [named("a", 2)] }, "a b", ["too_few 0: 1"]],
  ["at most once", { expect: [named("a", undefined, 1)] }, "a a", ["too_many 0: 2"]],
  ["at most once, none came", { expect: [named("a", undefined, 1)] }, "b", []],
  ["never", { expect: [named("a", undefined, 0)] }, "a", ["too_many 0: 1"]],
  ["never, none came", { expect: [named("a", undefined, 0)] }, "b", []],
  ["exactly", { expect: [named("a", 2, 2)] }, "a b a", []],
  ["an empty count wants nothing", { expect: [{ match: { event: "a" }, count: {} }] }, "", []],
  ["one event counts for several", { expect: [a, named(/a/)] }, "a", []],
  ["several complaints", { expect: [a, named("b", 0, 0)] }, "b", ["too_few 0: 0", "too_many 1: 1"]],
  ["order", { expect: [a, b], ordered: true }, "a b", []],
  ["order, others between", { expect: [a, b], ordered: true }, "x a x b x", []],
  ["order, wrong", { expect: [a, b], ordered: true }, "b a", ["1 after 0: #1 #2"]],
  ["order is not asked", { expect: [a, b] }, "b a", []],
  ["order, one came early too", { expect: [a, b], ordered: true }, "b a b", []],
  ["order, the same twice", { expect: [a, b, a], ordered: true }, "a b a", []],
  ["order, the same twice, came once", { expect: [a, b, a], ordered: true }, "a b", ["2 after 1: #1 #2"]],
  [
    "order, all of the minimum come first",
    { expect: [named("a", 2), b], ordered: true },
    "a b a",
    ["1 after 0: #2 #3"],
  ],
  ["order, minimum served", { expect: [named("a", 2), b], ordered: true }, "a a b", []],
  ["order, second part too late", { expect: [a, named("b", 2)], ordered: true }, "b a b", ["1 after 0: #1 #2"]],
  [
    "order leaves out what is missing",
    { expect: [a, named("x"), b], ordered: true },
    "b a",
    ["too_few 1: 0", "2 after 0: #1 #2"],
  ],
  ["order leaves out what need not be", { expect: [a, named("x", 0, 1), b], ordered: true }, "x a b", []],
  ["nothing else", { expect: [a], nothingElse: true }, "a a", []],
  ["nothing else, but there is", { expect: [a], nothingElse: true }, "b a c", ["unexpected #1 #3 of 2"]],
  ["nothing else, of the SDK's own", { expect: [a], nothingElse: true }, "$pageview a", []],
  [
    "nothing else, of the SDK's own, named",
    { expect: [a, { match: { event: "$pageview", properties: { x: 1 } }, count: { max: 1 } }], nothingElse: true },
    "$pageview a",
    ["unexpected #1 of 1"],
  ],
  [
    "nothing else, named by a pattern",
    { expect: [{ match: { event: /^\$p/, distinct_id: "u2" }, count: { min: 0 } }], nothingElse: true },
    "$pageview $identify",
    ["unexpected #1 of 1"],
  ],
  [
    "nothing else, named inside @all",
    {
      expect: [{ match: { "@all": [{ event: "$pageview" }, { distinct_id: "u2" }] }, count: { min: 0 } }],
      nothingElse: true,
    },
    "$pageview",
    ["unexpected #1 of 1"],
  ],
  [
    "nothing else, where a pattern names none",
    { expect: [{ match: { distinct_id: "u2" }, count: { min: 0 } }], nothingElse: true },
    "$pageview",
    [],
  ],
  [
    "nothing else, of several names not all",
    {
      expect: [{ match: { "@all": [{ event: /^\$p/ }, { event: "$pageleave" }] }, count: { min: 0 } }],
      nothingElse: true,
    },
    "$pageview $pageleave",
    [],
  ],
  ...[null, "$pageview", 5, ["$pageview"]].map((match): (typeof rows)[number] => [
    `nothing else, for the pattern ${JSON.stringify(match)}`,
    { expect: [{ match, count: { min: 0 } }], nothingElse: true },
    "$pageview a",
    ["unexpected #2 of 1"],
  ]),
  ["nothing at all", { expect: [], nothingElse: true }, "a $b", ["unexpected #1 of 1"]],
  [
    "what is too many is not also unexpected",
    { expect: [named("a", 0, 0)], nothingElse: true },
    "a",
    ["too_many 0: 1"],
  ],
];

test.each(rows)("%s", (_, terms, names, complaints) => {
  expect(said(terms, names)).toEqual(complaints);
  const evaluation = evaluationOf(terms, log(names));
  expect(evaluation.verdict().passed).toBe(complaints.length === 0);
  expect(evaluation.isExceeded()).toBe(complaints.some((it) => it.startsWith("too_many")));
  expect(evaluation.isMet()).toBe(!complaints.some((it) => /^too_few|after/.test(it)));
});

describe("evaluate", () => {
  test("names an event in short", () => {
    const [complaint] = evaluate({ expect: [named("a", 0, 0)] }, [stored(1, "a", { x: 1 })]).complaints;
    const sighting = { seq: 1, event: "a", distinct_id: "u1", project: 7, received_at: "2026-01-05T09:00:00.100Z" };
    expect(complaint).toEqual({
      kind: "too_many",
      expectation: 0,
      wanted: { min: 0, max: 0 },
      got: 1,
      events: [sighting],
    });
  });

  test("reports which events fit what", () => {
    expect(evaluate({ expect: [a, named(/./)] }, log("b a b a")).matched).toEqual([
      [2, 4],
      [1, 2, 3, 4],
    ]);
  });

  test("names at most 20 events, and counts all", () => {
    const [complaint] = evaluate({ expect: [named("a", 0, 0)] }, log("a ".repeat(50).trim())).complaints;
    expect(complaint).toMatchObject({ kind: "too_many", got: 50, wanted: { min: 0, max: 0 } });
    expect(complaint && "events" in complaint && complaint.events).toHaveLength(20);
  });
});

describe("the events of a sequence", () => {
  test.each<[names: string, seqs: number[] | undefined]>([
    ["a a b", [1, 2, 3]],
    ["b a x a a b b", [2, 4, 6]],
    ["a b a", undefined],
    ["a b", undefined],
    ["", undefined],
  ])("two of a, then b, in %s", (names, seqs) => {
    const { isMet, chosen } = evaluationOf({ expect: [named("a", 2), b], ordered: true }, log(names));
    expect(isMet() ? chosen.map(({ seq }) => seq) : undefined).toEqual(seqs);
  });
});
