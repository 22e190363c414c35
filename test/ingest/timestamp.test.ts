import { describe, expect, test } from "vitest";
import { eventTime, parseRfc3339, parseTime } from "../../src/ingest/timestamp.ts";

const iso = (time: number): string => (Number.isNaN(time) ? "unreadable" : new Date(time).toISOString());

describe("parseTime", () => {
  test.each([
    ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05.000Z"],
    ["2024-01-02T03:04:05.678Z", "2024-01-02T03:04:05.678Z"],
    ["2024-01-02T03:04:05.678901Z", "2024-01-02T03:04:05.678Z"],
    ["2024-01-02T03:04:05.6Z", "2024-01-02T03:04:05.600Z"],
    ["2024-01-02T03:04:05.678901+00:00", "2024-01-02T03:04:05.678Z"],
    ["2024-01-02T03:04:05+02:00", "2024-01-02T01:04:05.000Z"],
    ["2024-01-02T03:04:05-0330", "2024-01-02T06:34:05.000Z"],
    ["2024-01-02T03:04:05+03", "2024-01-02T00:04:05.000Z"],
    ["2024-01-02T03:04:05", "2024-01-02T03:04:05.000Z"],
    ["2024-01-02 03:04:05", "2024-01-02T03:04:05.000Z"],
    ["2024-01-02T03:04", "2024-01-02T03:04:00.000Z"],
    ["2024-01-02", "2024-01-02T00:00:00.000Z"],
    ["2024/01/02", "2024-01-02T00:00:00.000Z"],
    ["2024/1/2 03:04:05", "2024-01-02T03:04:05.000Z"],
    ["Tue, 02 Jan 2024 03:04:05 GMT", "2024-01-02T03:04:05.000Z"],
    ["02 Jan 2024 03:04:05 +0200", "2024-01-02T01:04:05.000Z"],
    ["1704164645", "2024-01-02T03:04:05.000Z"],
    ["1704164645.678", "2024-01-02T03:04:05.678Z"],
    ["1704164645678", "2024-01-02T03:04:05.678Z"],
    ["0050-01-02T03:04:05Z", "0050-01-02T03:04:05.000Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["2023-02-29", "unreadable"],
    ["2024-13-01", "unreadable"],
    ["2024-01-02T25:00:00", "unreadable"],
    ["yesterday", "unreadable"],
    ["", "unreadable"],
    ["[object Object]", "unreadable"],
    ["aaaaaaaaaaTaaaaaaaaaaaaZ", "unreadable"],
  ])("%s is %s", (text, expected) => {
    expect(iso(parseTime(text))).toBe(expected);
  });
});

describe("parseRfc3339", () => {
  test.each([
    ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05.000Z"],
    ["2024-01-02T03:04:05.123+01:00", "2024-01-02T02:04:05.123Z"],
    ["2024-01-02T03:04:05", "unreadable"],
    ["2024-01-02", "unreadable"],
    ["1704164645", "unreadable"],
    ["2024-02-30T03:04:05Z", "unreadable"],
  ])("%s is %s", (text, expected) => {
    expect(iso(parseRfc3339(text))).toBe(expected);
  });
});

describe("eventTime", () => {
  const now = Date.parse("2026-07-01T12:00:00.000Z");
  const minute = 60_000;
  const hour = 60 * minute;
  const none = { timestamp: undefined, offset: undefined, sentAt: undefined, now, ignoreSentAt: false };
  const at = (shift: number) => new Date(now + shift).toISOString();

  test.each([
    ["nothing: arrival", {}, 0, undefined],
    ["timestamp only", { timestamp: at(-hour) }, -hour, undefined],
    ["offset", { offset: 2884 }, -2884, undefined],
    [
      "offset beats timestamp",
      { offset: 1000, timestamp: at(-hour), sentAt: now - minute },
      -1000,
      undefined,
    ],
    [
      "the sender's clock is behind",
      { timestamp: at(-hour), sentAt: now - 10 * minute },
      -hour + 10 * minute,
      undefined,
    ],
    ["the sender's clock is ahead", { timestamp: at(hour), sentAt: now + hour }, 0, undefined],
    ["ignoreSentAt", { timestamp: at(-hour), sentAt: now - minute, ignoreSentAt: true }, -hour, undefined],
    ["not readable: arrival", { timestamp: "soon" }, 0, "ignored_invalid_timestamp"],
    ["23 hours ahead", { timestamp: at(23 * hour) }, 23 * hour, undefined],
    ["further ahead: arrival", { timestamp: at(23 * hour + 1) }, 0, "timestamp_in_the_future"],
    ["ahead by a negative offset", { offset: -24 * hour }, 0, "timestamp_in_the_future"],
    ["far past", { timestamp: "1999-12-31T23:59:59Z" }, Date.parse("1999-12-31T23:59:59Z") - now, undefined],
    ["before the year 0: the epoch", { timestamp: "-000001-01-01T00:00:00Z" }, -now, undefined],
    ["an absurd offset: the epoch", { offset: 1e17 }, -now, undefined],
  ])("%s", (_, timing, shift, warning) => {
    const timed = eventTime({ ...none, ...timing });
    expect([timed.time - now, timed.warning]).toEqual([shift, warning]);
  });
});
