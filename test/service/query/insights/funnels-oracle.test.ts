import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { funnelsKind } from "../../../../src/service/query/insights/funnels.ts";
import type { TableEvent } from "../table-of.ts";
import { runKind } from "./stage.ts";

/** Funnels computed from their definition, by trying all ways through an actor's events. */

const start = Date.UTC(2020, 0, 10);
const windowMinutes = 30;

interface Happening {
  event: string;
  minute: number;
}

/** The events of one person, each at another minute. */
const aStory = fc
  .uniqueArray(fc.record({ event: fc.constantFrom("a", "b", "c", "x"), minute: fc.nat({ max: 90 }) }), {
    maxLength: 9,
    selector: ({ minute }) => minute,
  })
  .map((list) => list.sort((a, b) => a.minute - b.minute));

/** Steps reached from an event on: the next ones come later, within the window of the first. */
function reachedFrom(events: readonly Happening[], steps: readonly string[], first: number): number {
  let most = 0;
  for (const [i, { event, minute }] of events.entries()) {
    if (event !== steps[0] || minute - first > windowMinutes) continue;
    most = Math.max(most, 1 + reachedFrom(events.slice(i + 1), steps.slice(1), first));
  }
  return most;
}

/** As above, but with nothing in between; an event may be there again, as the service has it. */
function strictlyFrom(
  [next, ...later]: readonly Happening[],
  steps: readonly string[],
  done: number,
  first: number,
): number {
  if (!next || done === steps.length) return done;
  const isNext = next.event === steps[done] && next.minute - first <= windowMinutes;
  const isAgain = done > 0 && next.event === steps[done - 1];
  return Math.max(
    isNext ? strictlyFrom(later, steps, done + 1, first) : done,
    isAgain ? strictlyFrom(later, steps, done, first) : done,
  );
}

const definitions = {
  ordered: (events: readonly Happening[], steps: readonly string[]): number =>
    Math.max(0, ...events.map(({ minute }, i) => reachedFrom(events.slice(i), steps, minute))),
  strict: (events: readonly Happening[], steps: readonly string[]): number =>
    Math.max(0, ...events.map(({ minute }, i) => strictlyFrom(events.slice(i), steps, 0, minute))),
  unordered: (events: readonly Happening[], steps: readonly string[]): number =>
    Math.max(
      0,
      ...events.map(({ minute }) => {
        const within = events.filter((it) => it.minute >= minute && it.minute - minute <= windowMinutes);
        return new Set(within.map(({ event }) => event).filter((it) => steps.includes(it))).size;
      }),
    ),
};

describe("funnels are what their definition says", () => {
  test.each(Object.keys(definitions) as (keyof typeof definitions)[])("%s", async (order) => {
    const aCase = fc.record({
      stories: fc.array(aStory, { maxLength: 8 }),
      // A step that comes twice would need two events in an unordered funnel, which the definition here does not know.
      steps:
        order === "unordered"
          ? fc.constant<string[]>(["a", "b", "c"])
          : fc.array(fc.constantFrom<string[]>("a", "b", "c"), { minLength: 2, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(aCase, async ({ stories, steps }) => {
        const events = stories.flatMap((story, person) =>
          story.map(({ event, minute }): TableEvent => {
            return { event, id: `p${person}`, at: new Date(start + minute * 60_000).toISOString() };
          }),
        );
        const query = {
          dateRange: { date_from: "2020-01-01" },
          series: steps.map((event) => ({ kind: "EventsNode", event })),
          funnelsFilter: {
            funnelOrderType: order,
            funnelWindowInterval: windowMinutes,
            funnelWindowIntervalUnit: "minute",
          },
        };
        // The table's order is that of arrival, not of the events.
        const { results } = await runKind(funnelsKind, query, { events: events.toReversed() });
        const reached = stories.map((story) => definitions[order](story, steps));
        const expected = steps.map((_, i) => reached.filter((it) => it > i).length);
        const counts = (results as { count: number }[]).map(({ count }) => count);
        expect(counts).toEqual(expected[0] === 0 ? [] : expected);
      }),
      { numRuns: 100 },
    );
  });
});
