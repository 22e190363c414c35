import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Evaluation, sightingOf } from "../../../../src/lab/assert/match/evaluate.ts";
import { type Findings, reportOf } from "../../../../src/lab/assert/match/failure-report.ts";
import type { Surroundings } from "../../../../src/lab/assert/match/report-shapes.ts";
import type { Terms } from "../../../../src/lab/assert/match/types.ts";
import type { StoredEvent } from "../../../../src/state/journal/event.ts";
import { around, stored } from "./events.ts";

interface Case {
  title?: string;
  terms: Terms;
  kept?: StoredEvent[];
  dropped?: StoredEvent[];
  around?: Partial<Surroundings>;
}

const signup = { event: "signup_completed", properties: { plan: "pro", amount: 49 } };
const wanted: Terms = { expect: [{ match: signup }] };
const title = 'toHaveCaptured("signup_completed", {plan: "pro", amount: 49})';
const pageviews = [stored(1, "$pageview"), stored(2, "$pageview"), stored(3, "signup_started")];
const it = stored(9, "signup_completed", { plan: "pro", amount: 49 });
const none: Terms = { expect: [{ match: { event: "error_shown" }, count: { max: 0 } }] };
const node = { lib: "posthog-node", version: "5.70.0" };
const lost = stored(9, "signup_completed", signup.properties, {
  outcome: "dropped",
  reason: "missing_distinct_id",
  distinct_id: "",
});

const cases: Record<string, Case> = {
  "near-miss-type": {
    terms: wanted,
    kept: [
      ...pageviews,
      stored(4, "signup_complete", { plan: "pro" }),
      stored(5, "signup_completed", { plan: "pro", amount: "49" }),
    ],
  },
  "near-miss-value": {
    terms: wanted,
    kept: [...pageviews, stored(4, "signup_completed", { plan: "Pro", amount: 50 })],
  },
  "near-miss-name": { terms: wanted, kept: [...pageviews, stored(4, "Signup Completed", { plan: "pro", amount: 49 })] },
  "near-miss-missing": {
    terms: wanted,
    kept: [
      stored(4, "signup_completed", { Plan: "pro", $set: { amount: 49 } }),
      stored(5, "signup_completed", { plan: null, amount: 49 }, { distinct_id: "u2" }),
    ],
  },
  "nothing-captured": { terms: wanted, around: { requests: 2, senders: [node] } },
  "bot-filter": { terms: wanted, around: { requests: 2, senders: [{ lib: "posthog-js", version: "1.449.2" }] } },
  "no-request": { terms: wanted, around: { requests: 0, last_request_ms_ago: null } },
  "no-request-all-projects": { terms: wanted, around: { requests: 0, last_request_ms_ago: null, project: null } },
  "other-project": {
    terms: wanted,
    around: { elsewhere: [{ ...sightingOf(it), project: 1, api_key: "phc_sim_default" }] },
  },
  "before-the-mark": { terms: wanted, around: { since: 12, early: [sightingOf(it)] } },
  "too-late": { terms: wanted, kept: pageviews, around: { late: [{ ...sightingOf(it), ms_late: 312 }] } },
  dropped: {
    terms: wanted,
    kept: pageviews,
    dropped: [stored(8, "other", {}, { outcome: "dropped", reason: "invalid_alias" }), lost],
  },
  rejected: {
    terms: wanted,
    around: {
      rejected: [1, 2, 3].map((n) => ({
        n,
        method: "POST",
        target: "/batch/",
        reason: "missing_token",
        detail: "no api_key",
      })),
    },
  },
  unmatched: { terms: wanted, around: { unmatched: [{ n: 4, method: "POST", target: "/captur/" }] } },
  "too-few": {
    title: 'toHaveCapturedTimes("$pageview", 3)',
    terms: { expect: [{ match: { event: "$pageview" }, count: { min: 3, max: 3 } }] },
    kept: pageviews,
    around: { senders: [{ lib: "posthog-go", version: "1.5.3" }] },
  },
  "too-many": {
    title: 'toHaveCapturedTimes("$pageview", 1)',
    terms: { expect: [{ match: { event: "$pageview" }, count: { min: 1, max: 1 } }] },
    kept: pageviews,
  },
  "out-of-order": {
    title: 'toHaveCapturedInOrder(["signup_started", "signup_completed"])',
    terms: {
      expect: [{ match: { event: "signup_started" } }, { match: { event: "signup_completed" } }],
      ordered: true,
    },
    kept: [stored(1, "signup_completed"), stored(2, "$pageview"), stored(3, "signup_started")],
  },
  "one-for-two": {
    title: 'toHaveCapturedInOrder(["a", "a"])',
    terms: { expect: [{ match: { event: "a" } }, { match: { event: "a" } }], ordered: true },
    kept: [stored(1, "a")],
  },
  unexpected: {
    title: 'toHaveCapturedOnly(["signup_started"])',
    terms: { expect: [{ match: { event: "signup_started" } }], nothingElse: true },
    kept: [...pageviews, stored(4, "error_shown"), stored(5, "error_shown")],
  },
  "expect-none": {
    title: 'not.toHaveCaptured("error_shown")',
    terms: none,
    kept: [stored(4, "error_shown"), stored(5, "error_shown")],
    around: { waited_ms: null },
  },
  "fault-active": { terms: wanted, around: { faults: [{ name: "capture-503", touched: 3 }] } },
  evicted: { terms: wanted, around: { since: 4, evicted: true } },
  "in-flight": { terms: wanted, around: { in_flight: 1 } },
  "still-queued": {
    terms: wanted,
    kept: pageviews,
    around: { senders: [node, { lib: "posthog-js", version: "1.449.2" }] },
  },
  several: {
    title: "verify",
    terms: {
      expect: [
        { match: signup },
        { match: { event: "$pageview" }, count: { min: 1, max: 1 } },
        { match: { event: "signup_started" } },
      ],
      nothingElse: true,
    },
    kept: [...pageviews, stored(4, "error_shown")],
  },
  "ends-with-the-run": { terms: wanted, kept: pageviews, around: { inspectable: false } },
  untitled: { title: "", terms: wanted, kept: pageviews },
  crowded: {
    terms: {
      expect: [
        { match: { event: "e", properties: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`p${i}`, i])) } },
      ],
    },
    kept: Array.from({ length: 40 }, (_, i) => stored(i + 1, i < 5 ? "e" : `name ${i}`, { p0: "0" })),
    dropped: Array.from({ length: 9 }, (_, i) => ({ ...lost, seq: 50 + i })),
    around: {
      rejected: Array.from({ length: 9 }, (_, n) => ({
        n,
        method: "POST",
        target: "/batch/",
        reason: "r",
        detail: "d",
      })),
      unmatched: Array.from({ length: 9 }, (_, n) => ({ n, method: "POST", target: "/nowhere" })),
      faults: Array.from({ length: 9 }, (_, n) => ({ name: `fault-${n}`, touched: n })),
      in_flight: 2,
    },
  },
  hostile: {
    title: "waitFor(\u001b[31mred\n)",
    terms: { expect: [{ match: { event: "a\u001b[2J", properties: { "k\u202e": "x\u0007" } } }] },
    kept: [
      stored(1, "a\u001b[2J", { "k\u202e": "\u001b]0;title\u0007" }, { distinct_id: "\u009b1m" }),
      stored(2, "__proto__"),
    ],
    around: {
      project: { id: 7, name: "\u001b[0m\n", api_key: "phc_\u001b" },
      unmatched: [{ n: 1, method: "GET", target: "/\u001b[1m" }],
      senders: [{ lib: "posthog-node\u001b", version: "\n" }],
      faults: [{ name: "\u001b[7m", touched: 0 }],
    },
  },
};

function findings({ kept = [], dropped = [], terms, ...it }: Case): Findings {
  const evaluation = new Evaluation(terms);
  for (const event of kept) evaluation.take(event);
  const verdict = evaluation.verdict();
  return { title: it.title ?? title, terms, verdict, kept, dropped, surroundings: around(it.around) };
}

const folder = join(import.meta.dirname, "golden");
const names = Object.keys(cases);

describe("a report's text", () => {
  test.each(names)("%s", (name) => {
    const found = findings(cases[name] ?? { terms: wanted });
    const { text } = reportOf(found);
    const file = join(folder, `${name}.txt`);
    if (process.env.UPDATE_GOLDEN) writeFileSync(file, `${text}\n`);
    expect(found.verdict.passed).toBe(false);
    expect(existsSync(file)).toBe(true);
    expect(`${text}\n`).toBe(readFileSync(file, "utf8"));
  });

  test.each(names)("%s is short, narrow and plain", (name) => {
    const lines = reportOf(findings(cases[name] ?? { terms: wanted })).text.split("\n");
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(240);
    expect(lines.filter((line) => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(line))).toEqual([]);
  });

  test("there is no golden file without a case", () => {
    expect(readdirSync(folder).sort()).toEqual(names.map((name) => `${name}.txt`).sort());
  });
});

describe("a report's machine form", () => {
  test("survives JSON", () => {
    const report = reportOf(findings(cases["near-miss-type"] ?? { terms: wanted }));
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  test("names the nearest first, with what differs", () => {
    const { near_misses, seen, wanted } = reportOf(findings(cases["near-miss-type"] ?? { terms: none }));
    expect(near_misses.map(({ seq }) => seq)).toEqual([5, 4]);
    expect(near_misses[0]?.differences).toEqual([
      { path: "properties.amount", expected: "49", actual: '"49"', hint: "number as a string" },
    ]);
    expect(seen).toEqual({ $pageview: 2, signup_started: 1, signup_complete: 1, signup_completed: 1 });
    expect(wanted).toEqual(['{event: "signup_completed", properties: {plan: "pro", amount: 49}}']);
  });

  test("says of dropped events whether they would have fitted", () => {
    const { dropped } = reportOf(findings(cases.dropped ?? { terms: wanted }));
    expect(dropped.map(({ seq, fits }) => [seq, fits])).toEqual([
      [9, true],
      [8, false],
    ]);
  });

  test("counts names that objects have by nature", () => {
    const { seen } = reportOf(findings({ terms: none, kept: [stored(1, "__proto__"), stored(2, "constructor")] }));
    expect(Object.entries(seen)).toEqual([
      ["__proto__", 1],
      ["constructor", 1],
    ]);
  });
});
