import { expectTypeOf, test } from "vitest";
import type { FlagExplanation, ShownFlag, ShownFlagInFull } from "../../../src/control/flags/answers.ts";
import type { Explanation, Flag, FlagInFull } from "../../../ui/views/flags/answers.ts";

test("what the page reads is what the control API answers", () => {
  expectTypeOf<ShownFlag>().toExtend<Flag>();
  expectTypeOf<ShownFlagInFull>().toExtend<FlagInFull>();
  expectTypeOf<FlagExplanation>().toExtend<Explanation>();
});
