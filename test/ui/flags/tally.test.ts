import { expect, test } from "vitest";
import type { Decision, FlagCall, FlagValue } from "../../../ui/views/flags/answers.ts";
import { noTally, tallyOf } from "../../../ui/views/flags/tally.ts";
import { aCall, aDecision } from "./a-decision.ts";

const served = (value: FlagValue, ...called: FlagCall[]): Decision => aDecision({ f: value }, { called });

test("counts what was given and what was used, the most frequent first", () => {
  const tally = tallyOf([
    served("b", aCall("f", "b")),
    served("a"),
    served("b", aCall("f", "c", true), aCall("f", "b")),
  ])(1, "f");
  expect(tally).toEqual({
    served: 3,
    called: 3,
    differing: 1,
    values: [
      { value: "b", served: 2, called: 2 },
      { value: "a", served: 1, called: 0 },
      { value: "c", served: 0, called: 1 },
    ],
  });
});

test("true and a variant of that name are two", () => {
  expect(tallyOf([served(true), served("true")])(1, "f").values).toHaveLength(2);
});

test.each([
  ["another flag", 1, "g"],
  ["another project", 2, "f"],
  ["a key of prototypes", 1, "__proto__"],
] as const)("of %s nothing is known", (_, project, key) => {
  expect(tallyOf([served(true)])(project, key)).toBe(noTally);
});
