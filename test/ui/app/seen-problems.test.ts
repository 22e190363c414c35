import { expect, test } from "vitest";
import type { Problems } from "../../../src/sim/problem-shapes.ts";
import { problemKeys, readSeen, unseen, withSeen } from "../../../ui/app/seen-problems.ts";

const none = readSeen(null, "1");

test("a problem is new until it was shown, for its project or for all", () => {
  const seen = withSeen(withSeen(none, ["a"], 2), ["b"], undefined);
  expect(unseen(["a", "b", "c"], seen, 2)).toEqual(["c"]);
  expect(unseen(["a", "b", "c"], seen, 3)).toEqual(["a", "c"]);
  expect(unseen(["a", "b", "c"], seen, undefined)).toEqual(["a", "c"]);
});

test("one that was cleared is new when it comes back", () => {
  const seen = withSeen(withSeen(none, ["a", "b"], 2), ["b"], 2);
  expect(unseen(["a", "b"], seen, 2)).toEqual(["a"]);
});

test("another run begins anew, and damage is nothing", () => {
  const text = JSON.stringify(withSeen(none, ["a"], 2));
  expect(unseen(["a"], readSeen(text, "1"), 2)).toEqual([]);
  expect(unseen(["a"], readSeen(text, "2"), 2)).toEqual(["a"]);
  for (const damaged of ["", "{", "null", "1", '{"run":"1"}', '{"run":"1","projects":{"2":[1],"3":null}}'])
    expect(readSeen(damaged, "1")).toEqual(none);
});

test("what is stored stays small", () => {
  let seen = none;
  const keys = Array.from({ length: 2_000 }, (_, i) => `key ${i}`);
  for (let i = 0; i < 100; i++) seen = withSeen(seen, keys, i);
  expect(Object.keys(seen.projects)).toHaveLength(20);
  expect(seen.projects["99"]).toHaveLength(500);
});

test("each unknown path is one problem, as the sim counts them", () => {
  const request = { reason: "not_found", detail: "x".repeat(900), count: 1, last: 1 };
  const problems: Problems = {
    complete: true,
    counting: false,
    events: [{ code: "missing_distinct_id", count: 2, dropped: 2, last: 3 }],
    requests: [
      { ...request, status: 404, what: "POST /a" },
      { ...request, status: 400, what: "POST /b" },
    ],
    other_requests: 0,
  };
  const keys = problemKeys(problems);
  expect(keys.slice(0, 2)).toEqual(["event missing_distinct_id", "request POST /a"]);
  expect(keys[2]).toHaveLength(200);
});
