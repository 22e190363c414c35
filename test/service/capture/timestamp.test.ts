import { describe, expect, test } from "vitest";
import { eventTime, parseRfc3339, parseTime } from "../../../src/service/capture/timestamp.ts";

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
    ["+2024-01-02T03:04Z", "2024-01-02T03:04:00.000Z"],
    ["012024-01-02", "+012024-01-02T00:00:00.000Z"],
    ["2024-01-02T3:04:05,5z", "2024-01-02T03:04:05.500Z"],
    ["2024-01-02t03:04:05.123456789 UTC", "2024-01-02T03:04:05.123Z"],
    ["2024-01-02T03:04:05.5GMT", "2024-01-02T03:04:05.500Z"],
    ["2024-01-02T03:04+14:00", "2024-01-01T13:04:00.000Z"],
    ["2024-01-02T23:59:60Z", "2024-01-03T00:00:00.000Z"],
    ["2024-01-02T23:59:59Z", "2024-01-02T23:59:59.000Z"],
    ["  2024-01-02 ", "2024-01-02T00:00:00.000Z"],
    ["2 Jan 2024 03:04 GMT", "2024-01-02T03:04:00.000Z"],
    ["2 Jan 2024 03:04 Z", "2024-01-02T03:04:00.000Z"],
    ["Tue,02  Jan  2024  03:04:05  -01:30", "2024-01-02T04:34:05.000Z"],
    ["5", "1970-01-01T00:00:05.000Z"],
    ["1.5", "1970-01-01T00:00:01.500Z"],
    ["1704164645678.9", "2024-01-02T03:04:05.678Z"],
    ["99999999999", "5138-11-16T09:46:39.000Z"],
    ["100000000000", "1973-03-03T09:46:40.000Z"],
    // Other orders: the examples of the crate dateparser, which the service uses.
    ["12/31/2022 10:00:00", "2022-12-31T10:00:00.000Z"],
    ["4/8/2014 22:05", "2014-04-08T22:05:00.000Z"],
    ["4/8/14 22:05", "2014-04-08T22:05:00.000Z"],
    ["8/8/1965 12:00:00 AM", "1965-08-08T00:00:00.000Z"],
    ["8/8/1965 01:00:01 PM", "1965-08-08T13:00:01.000Z"],
    ["8/8/1965 1:00 PM", "1965-08-08T13:00:00.000Z"],
    ["03/19/2012 10:11:59.3186369", "2012-03-19T10:11:59.318Z"],
    ["08/21/71", "1971-08-21T00:00:00.000Z"],
    ["4-8-2014 22:05", "2014-04-08T22:05:00.000Z"],
    ["3.31.2014", "2014-03-31T00:00:00.000Z"],
    ["2014.03.30", "2014-03-30T00:00:00.000Z"],
    ["2021-Feb-21", "2021-02-21T00:00:00.000Z"],
    ["May 8, 2009 5:57:51 PM", "2009-05-08T17:57:51.000Z"],
    ["September 17, 2012 10:09am", "2012-09-17T10:09:00.000Z"],
    ["Feb 4, 2014", "2014-02-04T00:00:00.000Z"],
    ["12 Feb 2006, 19:17:22", "2006-02-12T19:17:22.000Z"],
    ["14 May 2019 19:11:40.164", "2019-05-14T19:11:40.164Z"],
    ["7 oct 70", "1970-10-07T00:00:00.000Z"],
    ["2014年04月08日", "2014-04-08T00:00:00.000Z"],
    // Near to them.
    ...[
      ..."13/31/2022|2/30/2022|12/31/2022 25:00|12/31/2022 13:00 PM|12/31/2022 10:60|1/2/022".split("|"),
      ..."Fob 4, 2014|Febru 4, 2014|7 octo 70|2021-Fib-21|12/31-2022".split("|"),
    ].map((text): [string, string] => [text, "unreadable"]),
    // A date that is none is not the day after, in whatever spelling.
    ...[
      ..."2023-02-29 2023-02-29T00:00:00Z 2024-02-30T00:00:00.000Z 2024-04-31T03:04:05+00:00".split(" "),
      ..."2024-13-01 2024-00-01 2024-01-00 2024-01-32".split(" "),
      ..."2024-01-02T24:00:00Z 2024-01-02T24:00:00 2024-01-02T25:00:00 2024-01-02T03:60:00".split(" "),
      ..."2024-01-02T03:04:61Z 2024-01-02T03:60:05+00:00".split(" "),
      ..."31 Feb 2024 03:04:05 GMT|30 Feb 2024 03:04 GMT|32 Jan 2024 03:04 GMT".split("|"),
    ].map((text): [string, string] => [text, "unreadable"]),
    // Near to a spelling.
    ...[
      ..."a2024-01-02 2024-01-02a 202-01-02 2024--02 2024-01- 2024-001-02 2024-01-002 0002024-01-02".split(" "),
      ..."2024-01-02T:04 2024-01-02T003:04 2024-01-02T03:4 2024-01-02T03:004 2024-01-02T03:04:5".split(" "),
      ..."2024-01-02T03:04:05. 2024-01-02T03:04:05.1234567890 2024-01-02T03:04:05+2 2024-01-02T03:04:05+020".split(" "),
      ..."2024-01-02T03:04:05+02:000 2024-01-02T03:04:05CET 2024-01-02T03:04:0506Z".split(" "),
      "x, 2 Jan 2024 03:04 GMT",
      "Tuesday, 2 Jan 2024 03:04 GMT",
      "Jan 2024 03:04 GMT",
      "002 Jan 2024 03:04 GMT",
      "2 January 2024 03:04 GMT",
      "2 Jan 24 03:04 GMT",
      "2 Jan 2024 3:04 GMT",
      "2 Jan 2024 03:04 GMT (UTC)",
      "at 2 Jan 2024 03:04 GMT",
      ..."x5 5x 5. 5.x .5 -5 1e9 12345678901234567 5.1234567890".split(" "),
    ].map((text): [string, string] => [text, "unreadable"]),
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
    ["2024-01-02t03:04:05.1z", "2024-01-02T03:04:05.100Z"],
    ["2024-01-02 03:04:05-00:30", "2024-01-02T03:34:05.000Z"],
    ["2024-01-02T03:04:05", "unreadable"],
    ["2024-01-02T03:04Z", "unreadable"],
    ["2024-01-02T03:04:05+01", "unreadable"],
    ["2024-01-02T03:04:05+0100", "unreadable"],
    ["2024-1-02T03:04:05Z", "unreadable"],
    ["+2024-01-02T03:04:05Z", "unreadable"],
    ["2024-01-02T03:04:05Zulu", "unreadable"],
    ["2024-01-02T03:04:05,5Z", "unreadable"],
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
    ["offset beats timestamp", { offset: 1000, timestamp: at(-hour), sentAt: now - minute }, -1000, undefined],
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
    ["null is no timestamp", { timestamp: null, offset: null }, 0, undefined],
    [
      "the first moment of the year 0",
      { timestamp: "0000-01-01T00:00:00Z" },
      Date.parse("0000-01-01T00:00:00Z") - now,
      undefined,
    ],
    ["the last moment before it: the epoch", { offset: now - Date.parse("0000-01-01T00:00:00Z") + 1 }, -now, undefined],
    ["an absurd offset: the epoch", { offset: 1e17 }, -now, undefined],
  ])("%s", (_, timing, shift, warning) => {
    const timed = eventTime({ ...none, ...timing });
    expect([timed.time - now, timed.warning]).toEqual([shift, warning]);
  });
});
