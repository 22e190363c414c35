import { describe, expect, test } from "vitest";
import { inspectLink } from "../../../../src/lab/assert/match/report-text.ts";
import type { EventRow } from "../../../../src/state/journal/feed/feed-row.ts";
import { readEventFilter } from "../../../../src/state/journal/filter/read.ts";
import { hrefTo, readRoute } from "../../../../ui/app/route.ts";

const url = "http://127.0.0.1:4777";
const place = { url, project: { id: 7 } };

/** The link's filter, as the page reads it from its address. */
const filterOf = (names: readonly string[]): string | undefined =>
  readRoute(new URL(inspectLink(place, names)).hash).params.f;

const finds = (filter: string, event: string): boolean => {
  const reading = readEventFilter(filter);
  if (!("filter" in reading)) throw new Error(JSON.stringify(reading.problems));
  const row: Partial<EventRow> = { event };
  // its light fields only look at the row
  return reading.filter.test(
    { row: row as EventRow, properties: () => ({}), exceptionGroup: () => undefined, request: () => undefined },
    Date.now(),
  );
};

describe("the link of a report", () => {
  test("is written as the page writes it", () => {
    const params = { project: 7, f: "event:$pageview,signed_up" };
    expect(inspectLink(place, ["$pageview", "signed_up", "$pageview"])).toBe(
      `${url}/__sim/${hrefTo("events", [], params)}`,
    );
    expect(inspectLink(place, [])).toBe(`${url}/__sim/${hrefTo("events", [], { project: 7 })}`);
    expect(inspectLink({ url, project: null }, [])).toBe(`${url}/__sim/${hrefTo("events")}`);
  });

  const names = ["signed_up", "$pageview", "sign up", 'a "b" \\c', "a,b", "(x", "-x", ">5", "~x", "é", "a:b"];
  const odd = ["", "wild*", "OR", "null", "#/%2f&f=x", "\u001b[2J\n", "__proto__"];
  test.each([...names, ...odd])("finds the event %j and no other", (name) => {
    const filter = filterOf([name]) ?? "";
    expect(finds(filter, name)).toBe(true);
    expect(finds(filter, `${name}er`)).toBe(false);
  });

  test("finds any of several, and shows four at most", () => {
    const filter = filterOf(["a", "b c", "d", "e", "f"]) ?? "";
    expect(["a", "b c", "d", "e", "f"].filter((it) => finds(filter, it))).toEqual(["a", "b c", "d", "e"]);
  });

  test("leaves names out that are too long for a line", () => {
    expect(inspectLink(place, ["é".repeat(200)])).toBe(inspectLink(place, []));
  });
});
