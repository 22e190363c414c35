import { describe, expect, test } from "vitest";
import type { FlagTotal } from "../../../src/service/flags/decision-shapes.ts";
import type { FlagSummary } from "../../../src/service/flags/shapes.ts";
import type { SdkTotal } from "../../../src/state/journal/sdk-shapes.ts";
import { flagsToLook } from "../../../ui/views/start/flags-to-look.ts";
import { rejectionTitle } from "../../../ui/views/start/rejection-titles.ts";
import { stepsFor } from "../../../ui/views/start/steps.ts";
import { aboutText, type Figures, shareText, verdictOf } from "../../../ui/views/start/verdict.ts";

const figures = (kept: number, warned: number, dropped: number, rejected: number, requests = 10): Figures => ({
  ...{ kept, warned, dropped, rejected, requests },
  total: kept + warned + dropped,
  isExact: true,
});

describe("the verdict", () => {
  test.each<[Figures, string | undefined, string]>([
    [figures(0, 0, 0, 0), undefined, "Nothing has arrived yet"],
    [figures(0, 0, 0, 10), "rejected", "Requests arrive, but all are rejected"],
    [figures(0, 0, 0, 1), "rejected", "Requests arrive, but no events"],
    [figures(985, 0, 15, 2), "dropped", "Events arrive, but 1.5 % are lost"],
    [figures(0, 0, 1, 0), "dropped", "An event arrived, but it is lost"],
    [figures(0, 0, 7, 0), "dropped", "Events arrive, but all are lost"],
    [figures(1_200, 0, 0, 1), "rejected", "All 1,200 events are kept, but 1 request is rejected"],
    [figures(5, 2, 0, 0), "warned", "All 7 events are kept, 2 with a warning"],
    [figures(0, 1, 0, 0), "warned", "The one event is kept, with a warning"],
    [figures(5, 0, 0, 0), "kept", "All 5 events are kept"],
  ])("%j is %s", (given, of, sentence) => expect(verdictOf(given)).toEqual({ of, sentence }));

  test.each([
    [0, 0, "0 %"],
    [0, 9, "0 %"],
    [9, 9, "100 %"],
    [1, 100_000, "under 0.1 %"],
    [99_999, 100_000, "over 99.9 %"],
    [2, 3, "66.7 %"],
    [1, 2, "50 %"],
  ])("%i of %i are %s", (part, all, text) => expect(shareText(part, all)).toBe(text));

  test("is followed by what to look at", () => {
    expect(aboutText({ lossy: 0, others: 0, warned: 0, news: 0, findings: 0 })).toBe("No problems.");
    expect(aboutText({ lossy: 1, others: 1, warned: 0, news: 1, findings: 3 })).toBe(
      "1 problem loses data, 1 problem of other requests, 3 findings of the linter. 1 is new since you looked.",
    );
  });
});

test("a rejection has words, of phx-sim's own where there are no others", () => {
  const rejected = { detail: "a detail", status: 400, what: "POST /e/" };
  expect(rejectionTitle({ ...rejected, reason: "invalid_api_key" })).toBe("the project key is not known");
  expect(rejectionTitle({ ...rejected, reason: "constructor" })).toBe("a detail");
  expect(rejectionTitle({ ...rejected, reason: "not_found", status: 404 })).toBe("POST /e/ is answered with 404");
});

describe("flags to look at", () => {
  const flag = (key: string, id: number | null = 1): FlagSummary => ({
    ...{ project: 1, key, id, name: "", active: true, rules: [], variants: [], shares: [] },
    ...{ words: null, overrides: [] },
  });
  const total = (key: string, more: Partial<FlagTotal> = {}): FlagTotal => ({
    ...{ project: 1, key, served: 0, called: 0, differs: 0, values: [] },
    ...more,
  });

  test("are those that are not defined, differ, or cannot work", () => {
    const found = flagsToLook({
      flags: [flag("new-checkout"), flag("a/b"), flag("fine"), flag("forced", null)],
      totals: [
        total("new-chekout", { called: 4 }),
        total("something-else", { called: 1, served: 2 }),
        total("new-checkout", { served: 9, called: 3, differs: 2 }),
        total("fine", { served: 3 }),
        total("of no project", { project: null, called: 1 }),
        total("never-asked"),
        total("forced", { served: 1 }),
      ],
      warnings: [
        { pointer: "/projects/0/flags/a~1b/variants", message: "the variants add up to 90" },
        { pointer: "/cohorts/0", message: "a circle" },
      ].map((it) => ({ ...it, file: null, line: null, column: null, hint: null })),
    });
    expect(found.list.map((it) => [it.key, it.text, it.meant, it.asked])).toEqual([
      ["new-chekout", "asked for, not defined", "new-checkout", 4],
      ["something-else", "asked for, not defined", undefined, 2],
      ["new-checkout", "2 uses with another value than was decided", undefined, 9],
      ["a/b", "the variants add up to 90", undefined, undefined],
      [undefined, "a circle", undefined, undefined],
    ]);
    expect(found).toMatchObject({ more: 0, others: 1 });
  });

  test("10,000 of them end soon", () => {
    const totals = Array.from({ length: 10_000 }, (_, i) => total(`flag-number-${i}`, { called: 1 }));
    const flags = Array.from({ length: 10_000 }, (_, i) => flag(`other-number-${i}`));
    const { list, more } = flagsToLook({ flags, totals, warnings: [] });
    expect([list.length, more]).toEqual([8, 9_992]);
  });
});

describe("next steps", () => {
  const sdk = (name: string, kept = 1): SdkTotal => ({
    ...{ name, version: "1", is_sdk: true, requests: 1, rejected: 0, kept, dropped: 0 },
    ...{ last: 1, last_at: "2026-01-31T00:00:00Z", hints: [] },
  });
  const named = (event: string, count = 1, dropped = 0) => ({ event, count, dropped, last: 1, last_at: null });
  const seen = { events: { kept: 1, names: [] }, sdks: [], scenario: "default", isLossy: true };
  const done = (given: Parameters<typeof stepsFor>[0]) => stepsFor(given).map(({ isDone }) => isDone);

  test("are computed from what arrived", () => {
    expect(done(seen)).toEqual([true, false, false, false, false]);
    expect(done({ ...seen, events: { kept: 0, names: [named("$identify", 2, 2)] } })[1]).toBe(false);
    const better = {
      events: { kept: 1, names: [named("$identify")] },
      sdks: [sdk("posthog-js"), sdk("posthog-node")],
      scenario: "world/shop.yaml",
      isLossy: false,
    };
    expect(done(better)).toEqual([true, true, true, false, true]);
    expect(stepsFor(better)[0]?.text).toBe("Events arrive from the app and the server");
    expect(stepsFor({ ...better, sdks: [sdk("posthog-js"), sdk("posthog-go", 0)] })[0]?.text).toBe(
      "Events arrive from the app",
    );
  });
});
