import { describe, expect, test } from "vitest";
import { groupedBy } from "../../../src/kernel/base/grouped-by.ts";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import {
  EventGenerator,
  type GeneratedEvent,
  type GenerationPlan,
  unusablePlan,
} from "../../../src/lab/generate/generate.ts";
import { personas } from "../../../src/lab/generate/personas.ts";
import type { Persona } from "../../../src/lab/generate/shapes.ts";
import { zoneOf } from "../../../src/service/flags/engine/zone.ts";

const until = Date.parse("2025-04-16T15:20:00Z");
const plan = (persona: Persona, more: Partial<GenerationPlan> = {}): GenerationPlan => ({
  persona,
  users: 400,
  days: 60,
  seed: 7,
  until,
  timeZone: "Europe/Berlin",
  weekStart: 1,
  ...more,
});

function generated(persona: Persona, more: Partial<GenerationPlan> = {}) {
  const traffic = new EventGenerator(plan(persona, more));
  const events = [...traffic];
  return { events, figures: traffic.figures() };
}

const all = Object.fromEntries(Object.entries(personas).map(([name, it]) => [name, generated(it)]));
const built = (name: string) => all[name] ?? generated(personas.shopper);

const timeOf = ({ timestamp }: GeneratedEvent): number => Date.parse(timestamp);
const berlin = zoneOf("Europe/Berlin");
const dayMs = 86_400_000;
const dateOf = (time: number): string => new Date(berlin.wallClock(time)).toISOString().slice(0, 10);

/** Monday of the week. */
function weekOf(time: number): string {
  const wallClock = berlin.wallClock(time);
  const weekday = (new Date(wallClock).getUTCDay() + 6) % 7;
  return new Date(wallClock - weekday * dayMs).toISOString().slice(0, 10);
}

/** Each user by any of its ids: `$device_id` is on every event. */
const userOf = ({ properties }: GeneratedEvent): string => String(properties.$device_id);

const byUser = (events: readonly GeneratedEvent[]): GeneratedEvent[][] => [...groupedBy(events, userOf).values()];

const countOf = (events: readonly GeneratedEvent[], test: (event: GeneratedEvent) => boolean): number =>
  events.filter(test).length;

describe("events", () => {
  test("the same plan makes the same events; another seed makes others", () => {
    const shorter = { users: 50, days: 20 };
    const first = generated(personas.saas, shorter);
    expect(generated(personas.saas, shorter)).toEqual(first);
    const other = generated(personas.saas, { ...shorter, seed: 8 }).events;
    const ids = new Set(first.events.map((it) => it.uuid));
    expect(other.some((it) => ids.has(it.uuid))).toBe(false);
    expect(other.some((it) => first.events.some((one) => one.distinct_id === it.distinct_id))).toBe(false);
  });

  test.each(Object.keys(personas))("%s: in order of time, within the period, with unique uuids", (name) => {
    const { events, figures } = built(name);
    const times = events.map(timeOf);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]).toBeGreaterThanOrEqual(Date.parse("2025-02-15T23:00:00Z"));
    expect(figures.from).toBe("2025-02-15T23:00:00.000Z");
    expect(times.at(-1)).toBeLessThanOrEqual(until);
    expect(new Set(events.map((it) => it.uuid)).size).toBe(events.length);
    expect(byUser(events)).toHaveLength(400);
  });

  test("a user is anonymous until $identify, which names both ids", () => {
    const { events } = built("shopper");
    for (const own of byUser(events)) {
      const at = own.findIndex((it) => it.event === "$identify");
      const [before, after] = at === -1 ? [own, []] : [own.slice(0, at), own.slice(at)];
      expect(new Set(before.map((it) => it.distinct_id)).size).toBeLessThanOrEqual(1);
      expect(before.every((it) => it.properties.$process_person_profile === false)).toBe(true);
      expect(after.every((it) => /^shopper-7-\d+$/.test(it.distinct_id))).toBe(true);
      expect(countOf(own, (it) => it.event === "$identify")).toBe(after.length > 0 ? 1 : 0);
      expect(after[0]?.properties.$anon_distinct_id ?? userOf(own[0] as GeneratedEvent)).toBe(
        userOf(own[0] as GeneratedEvent),
      );
      expect(Object.keys(after[0]?.$set ?? { email: 0, country: 0, loyalty: 0 })).toEqual([
        "email",
        "country",
        "loyalty",
      ]);
    }
  });

  test("a pause of 30 minutes begins a session, with its own source", () => {
    for (const own of byUser(built("saas").events)) {
      own.slice(1).forEach((event, i) => {
        const before = own[i] as GeneratedEvent;
        const isSame = event.properties.$session_id === before.properties.$session_id;
        expect(isSame).toBe(timeOf(event) - timeOf(before) <= 30 * 60_000);
      });
    }
    const sessions = groupedBy(built("shopper").events, (it) => it.properties.$session_id);
    const sources = [...sessions.values()].map((its) => new Set(its.map((it) => it.properties.utm_source)));
    expect(sources.every((it) => it.size === 1)).toBe(true);
    const google = sources.filter((it) => it.has("google")).length / sources.length;
    expect(google).toBeCloseTo(0.26, 1);
  });

  test("each flag is called once for a user, and all events have its value", () => {
    for (const own of byUser(built("saas").events)) {
      const calls = own.filter((it) => it.event === "$feature_flag_called");
      expect(calls.map((it) => it.properties.$feature_flag)).toEqual(["new-editor"]);
      const values = new Set(own.map((it) => it.properties["$feature/new-editor"]));
      expect([...values]).toEqual([calls[0]?.properties.$feature_flag_response]);
    }
  });

  test("each group is described once, before an event has it", () => {
    const described = new Set<unknown>();
    for (const { event, properties } of built("saas").events) {
      const { $groups, $group_key } = properties;
      if (event === "$groupidentify") {
        expect(described.has($group_key)).toBe(false);
        described.add($group_key);
      } else if (event !== "$identify" && $groups !== undefined)
        expect(described.has(($groups as JsonObject).company)).toBe(true);
    }
    expect(described.size).toBeGreaterThan(20);
  });
});

describe("figures", () => {
  test.each(Object.keys(personas))("%s: events and users by day and week", (name) => {
    const { events, figures } = built(name);
    expect(figures.days).toHaveLength(60);
    expect(figures.weeks[0]).toBe("2025-02-10");
    for (const [event, counts] of [["", figures.events] as const, ...Object.entries(figures.by_event)]) {
      const own = event === "" ? events : events.filter((it) => it.event === event);
      const unique = (its: readonly GeneratedEvent[]) => new Set(its.map(userOf)).size;
      const byDay = groupedBy(own, (it) => dateOf(timeOf(it)));
      const byWeek = groupedBy(own, (it) => weekOf(timeOf(it)));
      expect(counts).toEqual({
        total: own.length,
        users: unique(own),
        by_day: figures.days.map((it) => byDay.get(it)?.length ?? 0),
        users_by_day: figures.days.map((it) => unique(byDay.get(it) ?? [])),
        users_by_week: figures.weeks.map((it) => unique(byWeek.get(it) ?? [])),
      });
    }
    expect(Object.values(figures.by_event).every((it) => it.total > 0)).toBe(true);
  });

  /** Tries every first step. */
  function reached(own: readonly GeneratedEvent[], steps: readonly string[], window: number): number {
    const depthFrom = (start: number): number => {
      let step = 1;
      for (const event of own.slice(start + 1)) {
        const isInTime = timeOf(event) - timeOf(own[start] as GeneratedEvent) <= window;
        if (isInTime && event.event === steps[step]) step++;
      }
      return step;
    };
    return Math.max(0, ...own.map((it, i) => (it.event === steps[0] ? depthFrom(i) : 0)));
  }

  test.each(Object.keys(personas))("%s: the funnel within its window", (name) => {
    const { events, figures } = built(name);
    const { steps, window_ms: window, counts } = figures.funnel;
    const depths = byUser(events).map((own) => reached(own, steps, window));
    expect(counts).toEqual(steps.map((_, i) => depths.filter((it) => it > i).length));
    expect(counts.at(-1)).toBeGreaterThan(5);
  });

  test("the window of a funnel counts", () => {
    const persona = { ...personas.saas, funnel: { steps: ["signed up", "activated"], window: "6h" } };
    const { events, figures } = generated(persona);
    const depths = byUser(events).map((own) => reached(own, figures.funnel.steps, 6 * 3_600_000));
    const within = depths.filter((it) => it > 1).length;
    expect(figures.funnel.counts[1]).toBe(within);
    expect(within).toBeLessThan(figures.by_event.activated?.users ?? 0);
  });

  test.each(Object.keys(personas))("%s: retention and lifecycle", (name) => {
    const { events, figures } = built(name);
    const { retention, lifecycle, weeks } = figures;
    const active = byUser(events.filter((it) => it.event === retention.event)).map(
      (own) => new Set(own.map((it) => weeks.indexOf(weekOf(timeOf(it))))),
    );
    const first = (it: ReadonlySet<number>) => Math.min(...it);
    const count = (test: (it: ReadonlySet<number>) => boolean) => active.filter(test).length;
    const table = (isRow: (it: ReadonlySet<number>, week: number) => boolean) =>
      weeks.map((week, i) => ({
        week,
        counts: weeks.slice(i).map((_, k) => count((it) => isRow(it, i) && it.has(i + k))),
      }));
    expect(retention.first_time).toEqual(table((it, week) => first(it) === week));
    expect(retention.recurring).toEqual(table((it, week) => it.has(week)));
    const byWeek = (test: (it: ReadonlySet<number>, week: number) => boolean) =>
      weeks.map((_, i) => count((it) => test(it, i)));
    expect(lifecycle.by_week).toEqual({
      new: byWeek((it, i) => first(it) === i),
      returning: byWeek((it, i) => it.has(i) && it.has(i - 1)),
      resurrecting: byWeek((it, i) => it.has(i) && !it.has(i - 1) && first(it) < i),
      dormant: byWeek((it, i) => !it.has(i) && it.has(i - 1)),
    });
  });

  test("the sum of revenue", () => {
    const { events, figures } = built("shopper");
    const cents = events
      .filter((it) => it.event === "order placed")
      .reduce((sum, it) => sum + Math.round(Number(it.properties.revenue) * 100), 0);
    expect(figures.revenue?.total).toBe(cents / 100);
    expect(figures.revenue?.by_day.reduce((sum, it) => sum + it, 0)).toBeCloseTo(cents / 100, 6);
    expect(built("reader").figures.revenue).toBeNull();
  });
});

describe("the given rates", () => {
  const persona: Persona = {
    name: "plain",
    steps: [
      { event: "came", times: 2, after: "10s" },
      { event: "stayed", rate: 0.4, after: ["1m", "3m"] },
    ],
    returns: { weeks: [0.5, 0.25], steps: [{ event: "came" }] },
    hours: Array.from({ length: 24 }, (_, hour) => (hour === 9 ? 3 : hour === 20 ? 1 : 0)),
    weekdays: [1, 1, 1, 1, 1, 0, 0],
  };
  const { events, figures } = generated(persona, { users: 4000 });

  test("steps, repetitions and times between them", () => {
    const { came, stayed } = figures.by_event;
    expect(came?.users).toBe(4000);
    expect((stayed?.users ?? 0) / 4000).toBeCloseTo(0.4, 1);
    for (const own of byUser(events)) {
      const [one, two, three] = own.map((it) => [it.event, timeOf(it)] as const);
      if (two) expect([two[0], two[1] - (one?.[1] ?? 0)]).toEqual(["came", 10_000]);
      if (three?.[0] === "stayed") expect(three[1] - (two?.[1] ?? 0)).toBeGreaterThanOrEqual(60_000);
    }
  });

  test("returns by week", () => {
    const rows = figures.retention.first_time.slice(0, -1);
    const sum = (k: number) => rows.slice(0, 6).reduce((total, { counts }) => total + (counts[k] ?? 0), 0);
    expect(sum(1) / sum(0)).toBeCloseTo(0.5, 1);
    expect(sum(2) / sum(0)).toBeCloseTo(0.25, 1);
  });

  test("hours and weekdays of the time zone, also across a change of its clocks", () => {
    const clocks = events.filter((it) => it.event === "came").map((it) => new Date(berlin.wallClock(timeOf(it))));
    expect(new Set(clocks.map((it) => it.getUTCDay()))).toEqual(new Set([1, 2, 3, 4, 5]));
    const hours = clocks.map((it) => it.getUTCHours());
    // a second event may be in the hour after
    expect(hours.every((it) => [9, 10, 20, 21].includes(it))).toBe(true);
    expect(hours.filter((it) => it < 12).length / hours.length).toBeCloseTo(0.75, 1);
  });

  test("a period without a weight has no traffic", () => {
    const sunday = Date.parse("2025-04-13T12:00:00Z");
    expect(unusablePlan(plan(persona, { days: 1, until: sunday }))).toMatch(/^plain has no hour/);
    expect(unusablePlan(plan(persona))).toBeUndefined();
  });
});

test.each([
  ["Asia/Kathmandu", "2025-01-05T10:00:00Z", "2025-01-01T18:15:00.000Z"],
  // clocks go forward at midnight: the day begins at 01:00
  ["Africa/Cairo", "2025-04-26T10:00:00Z", "2025-04-22T22:00:00.000Z"],
])("days of %s begin at its midnight", (timeZone, end, from) => {
  const days = 4;
  const { figures } = generated(personas.reader, { timeZone, until: Date.parse(end), days });
  expect(figures.from).toBe(from);
  expect(figures.days).toHaveLength(days);
  expect(figures.events.by_day.reduce((sum, it) => sum + it, 0)).toBe(figures.events.total);
});
