import { describe, expect, test } from "vitest";
import { timeOfProperty, timeOfText } from "../../../../src/service/flags/engine/dates.ts";
import { utc, zoneOf } from "../../../../src/service/flags/engine/zone.ts";
import { now } from "./a-flag.ts";
import table from "./dates.json" with { type: "json" };

type Row = [text: string, expected: string | null];

const shown = (time: number): string | null => (Number.isNaN(time) ? null : new Date(time).toISOString());

describe.each(Object.entries(table.zones))("dates in %s, now being 2026-03-31T12:00Z", (name, rows) => {
  test.each(rows as Row[])("%s is %s", (text, expected) => {
    expect(shown(timeOfText(text, now, zoneOf(name)))).toBe(expected);
  });
});

describe("other spellings, in UTC whatever the zone", () => {
  test.each(table.lenient as Row[])("%s is %s", (text, expected) => {
    expect(shown(timeOfText(text, now, utc))).toBe(expected);
    expect(shown(timeOfText(text, now, zoneOf("Asia/Tokyo")))).toBe(expected);
  });
});

test("months that lack a day shorten it for good", () => {
  const leapDay = Date.UTC(2024, 1, 29);
  expect(shown(timeOfText("-4y", leapDay, utc))).toBe("2020-02-28T00:00:00.000Z");
  expect(shown(timeOfText("-12m", leapDay, utc))).toBe("2023-02-28T00:00:00.000Z");
});

test("numbers are seconds, also as text", () => {
  expect(shown(timeOfProperty("2024", now, utc))).toBe("1970-01-01T00:33:44.000Z");
  expect(shown(timeOfProperty(1.25, now, utc))).toBe("1970-01-01T00:00:01.250Z");
  expect(shown(timeOfProperty(9e15, now, utc))).toBe(null);
});

test("a wall clock and its instant", () => {
  const zone = zoneOf("Europe/Berlin");
  const step = 17 * 60_000;
  for (let instant = Date.UTC(2026, 2, 28); instant < Date.UTC(2026, 2, 30); instant += step) {
    expect(zone.instant(zone.wallClock(instant))).toBe(instant);
  }
});
