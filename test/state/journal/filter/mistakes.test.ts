import { describe, expect, test } from "vitest";
import { readEventFilter, readRequestFilter } from "../../../../src/state/journal/filter/read.ts";
import type { FilterProblem } from "../../../../src/state/journal/filter/types.ts";

const problemsOf = (text: string, read: (text: string) => object = readEventFilter) => {
  const reading = read(text);
  return "problems" in reading ? (reading.problems as readonly FilterProblem[]) : [];
};

const long = `${"a ".repeat(1_000)}b`;

const rows: [text: string, at: number, marked: string, said: RegExp][] = [
  ["staus:400", 0, "staus", /^there is no field "staus"; did you mean status\?$/],
  ["evnt:a", 0, "evnt", /did you mean event\?$/],
  ["verdit:kept", 0, "verdit", /did you mean verdict\?$/],
  ["pro.plan:x", 0, "pro.plan", /^there is no field "pro.plan"; for a property write prop.pro.plan/],
  ["a plan:pro", 2, "plan", /for a property write prop.plan, for the text "plan:pro"$/],
  ["$current_url~x", 0, "$current_url", /did you mean prop.\$current_url\?$/],
  ["event.name:x", 0, "event.name", /^there is no field "event.name"/],
  ["__proto__:x", 0, "__proto__", /^there is no field "__proto__"/],
  ["constructor:x", 0, "constructor", /^there is no field "constructor"/],
  ["has:emial", 4, "emial", /^there is no field "emial"; for a property write prop.emial/],
  ['has:"prop.x"', 4, '"prop.x"', /^there is no field/],
  ["has:prop", 4, "prop", /^a property's name is missing; for example prop.amount$/],
  ["prop:x", 0, "prop", /^a property's name is missing/],
  ["prop.:x", 0, "prop.", /^a property's name is missing/],
  ["prop.a.:x", 0, "prop.a.", /^a property's name is missing/],
  ["event.:x", 0, "event.", /^there is no field "event"/],
  ["has~prop.x", 4, "prop.x", /^"has" is not compared with ~; for example has:prop.email$/],
  ["is>kept", 3, "kept", /^"is" is not compared with >/],
  ["is:drop", 3, "drop", /did you mean is:dropped\?$/],
  ["is:xyzxyz", 3, "xyzxyz", /^"is" is kept, dropped, warned/],
  ["is:kept,drpped", 8, "drpped", /did you mean is:dropped\?$/],
  ["outcome:rejected", 8, "rejected", /^"outcome" is kept or dropped/],
  ["outcome:drop", 8, "drop", /did you mean outcome:dropped\?$/],
  ["status:abc", 7, "abc", /^"status" is a number; for example status:>=400$/],
  ["status:>=x", 9, "x", /^"status" is a number/],
  ["status:4xx", 7, "4xx", /^"status" is a number/],
  ["status:0x10", 7, "0x10", /^"status" is a number/],
  ["status:Infinity", 7, "Infinity", /^"status" is a number/],
  ['status:""', 7, '""', /^"status" is a number/],
  ["status>4*", 7, "4*", /^"status" is a number/],
  ["status~4", 7, "4", /^"status" is not compared with ~; it takes : > >= < <=, for example status:>=400$/],
  ["status:400,x", 11, "x", /^"status" is a number/],
  ["event>a", 6, "a", /^"event" is not compared with >; it takes : ~, for example event:\$pageview$/],
  ["since:5x", 6, "5x", /^"since" is a length of time .*; for example since:5m/],
  ["since:yesterday", 6, "yesterday", /^"since" is a length of time/],
  ["since:2025-02-30", 6, "2025-02-30", /^"since" is a length of time/],
  ["until:", 5, ":", /^a value is missing here; write "" for none$/],
  ["since>5m", 6, "5m", /^"since" is not compared with >; it takes :, for example since:5m$/],
  ["event:", 5, ":", /^a value is missing here/],
  ["event: a", 5, ":", /^a value is missing here/],
  ["status:>=", 6, ":>=", /^a value is missing here/],
  ["status>", 6, ">", /^a value is missing here/],
  ["event:a,", 7, ",", /^a value is missing here/],
  ["event:,a", 5, ":", /^a value is missing here/],
  ["(event:)", 6, ":", /^a value is missing here/],
  ['a "b', 2, '"b', /^this quote is not closed/],
  ['event:"b c', 6, '"b c', /^this quote is not closed/],
  ['"', 0, '"', /^this quote is not closed/],
  ['"a\\"', 0, '"a\\"', /^this quote is not closed/],
  ['prop."a b:1', 5, '"a b:1', /^this quote is not closed/],
  ["(a", 0, "(", /^this parenthesis is not closed$/],
  ["a (b OR (c)", 2, "(", /^this parenthesis is not closed$/],
  ["a)", 1, ")", /^this parenthesis closes nothing/],
  [")", 0, ")", /^this parenthesis closes nothing/],
  ["()", 0, "()", /^there is nothing in here$/],
  ["a ( )", 2, "( )", /^there is nothing in here$/],
  ["a OR", 2, "OR", /^there is nothing after this OR; write "OR" in quotes to look for it$/],
  ["OR a", 0, "OR", /^there is nothing before this OR/],
  ["or", 0, "or", /^there is nothing before this OR/],
  ["a OR OR b", 2, "OR", /^there is nothing after this OR/],
  ["(a OR)", 3, "OR", /^there is nothing after this OR/],
  ["a OR )", 2, "OR", /^there is nothing after this OR/],
  ["AND a", 0, "AND", /^there is nothing before this AND/],
  ["a OR AND b", 2, "OR", /^there is nothing after this OR/],
  ["(OR a)", 1, "OR", /^there is nothing before this OR/],
  ["a () b", 2, "()", /^there is nothing in here$/],
  [`${"-".repeat(39)}(a`, 39, "(", /^this parenthesis is not closed$/],
  ["a AND", 2, "AND", /^there is nothing after this AND/],
  ["a AND OR b", 2, "AND", /^there is nothing after this AND/],
  ["NOT", 0, "NOT", /^there is nothing after this NOT/],
  ["a -", 2, "-", /^there is nothing after this -/],
  ["a - b", 2, "-", /^there is nothing after this -/],
  ["-)", 0, "-", /^there is nothing after this -/],
  [`${"(".repeat(41)}a${")".repeat(41)}`, 40, "(", /^this is more than 40 parentheses and negations deep$/],
  [`${"-".repeat(41)}a`, 40, "-", /^this is more than 40 parentheses and negations deep$/],
  [long, 2_000, "b", /^a filter has at most 2,000 characters$/],
];

describe("filters of events", () => {
  test.each(rows)("%s", (text, at, marked, said) => {
    const [problem] = problemsOf(text);
    if (!problem) throw new Error("nothing was wrong");
    const { message, hint } = problem;
    expect([problem.at, text.slice(problem.at, problem.at + problem.length)]).toEqual([at, marked]);
    expect(problem.length).toBe(marked.length);
    expect(hint === undefined ? message : `${message}; ${hint}`).toMatch(said);
  });

  test("all that is wrong is reported, first things first", () => {
    const problems = problemsOf("foo:1 status:x is:nope");
    expect(problems.map((it) => it.at)).toEqual([0, 13, 18]);
    expect(problemsOf("OR ".repeat(600)).map((it) => it.at)).toEqual(Array.from({ length: 20 }, (_, i) => 3 * i));
  });

  test.each<[text: string, at: number[]]>([
    ["a OR OR b", [2, 5]],
    ["a AND AND b", [2, 6]],
    ["NOT OR a", [0, 4]],
    ["a) b (c) d)", [1, 10]],
    [`${"(".repeat(41)}a) OR`, [40]],
    [`${"(".repeat(41)}`, [40]],
  ])("%s: one problem for each mistake", (text, at) => {
    expect(problemsOf(text).map((it) => it.at)).toEqual(at);
  });

  test("parentheses beside each other are not nested", () => {
    expect(problemsOf("(a) -b ".repeat(41))).toEqual([]);
  });

  test("the longest that may be", () => {
    expect(problemsOf("a ".repeat(1_000))).toEqual([]);
    expect(problemsOf(`${"(".repeat(40)}a${")".repeat(40)}`)).toEqual([]);
  });
});

const ofRequests: [text: string, said: RegExp][] = [
  ["outcome:dropped", /^"outcome" is answered or rejected/],
  ["event:", /^a value is missing here/],
  ["events:many", /^"events" is a number/],
  ["is:drop", /^"is" is answered, rejected/],
];

test.each(ofRequests)("of requests: %s", (text, said) => {
  expect(problemsOf(text, readRequestFilter)[0]?.message).toMatch(said);
});
