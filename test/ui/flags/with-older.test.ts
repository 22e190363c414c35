import { expect, test } from "vitest";
import { withOlder } from "../../../ui/views/flags/decision-data.ts";
import { aDecision } from "./a-decision.ts";

const made = (...requests: number[]) => requests.map((request) => aDecision({}, { request }));

test.each([
  [[], [], []],
  [[3, 2], [], [3, 2]],
  [[], [2, 1], [2, 1]],
  [
    [3, 2],
    [2, 1],
    [3, 2, 1],
  ],
  [
    [5, 4],
    [2, 1],
    [5, 4, 2, 1],
  ],
])("%j, then %j", (newest, older, all) => {
  expect(withOlder(made(...newest), made(...older)).map((it) => it.request)).toEqual(all);
});
