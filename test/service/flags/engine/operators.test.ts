import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import {
  checkOperator,
  defaultMatching,
  operatorNames,
  prepareTest,
} from "../../../../src/service/flags/engine/operators.ts";
import { FlagFailure } from "../../../../src/service/flags/engine/reasons.ts";
import { utc } from "../../../../src/service/flags/engine/zone.ts";
import { now } from "./a-flag.ts";
import table from "./operators.json" with { type: "json" };

// What the import infers from the file is a union of everything in it.
type Row = [operator: string, filter: Json, property: Json, expected: boolean];
const rows = table.rows as Row[];
type FlagMatrixRow = [operator: string, filter: Json, version1: string, version2?: string];
const matrix = table.matrix.rows as FlagMatrixRow[];
const properties = table.matrix.properties as Json[];

const prepare = (operator: string, filter: Json, version: 1 | 2) =>
  prepareTest(operator, filter, { version, zone: utc });

describe("operators", () => {
  test.each(rows)("%s %j: %j is %s", (operator, filter, property, expected) => {
    expect(prepare(operator, filter, 1).passes(property, now)).toBe(expected);
  });

  // One mark for each of the file's properties: 1 passes, . does not; the first property is absent.
  describe.each(matrix)("%s %j", (operator, filter, version1, version2 = version1) => {
    test.each([
      [1, version1],
      [2, version2],
    ] as const)("in version %d", (version, expected) => {
      const { missing, passes } = prepare(operator, filter, version);
      const marks = properties.map((property, i) => ((i === 0 ? missing : passes(property, now)) ? "1" : "."));
      expect(marks.join("")).toBe(expected);
    });
  });

  test("every operator is in the matrix", () => {
    const tested = new Set(matrix.map(([operator]) => operator));
    expect(operatorNames.filter((name) => !tested.has(name))).toEqual([]);
  });

  test("in version 2 only the empty list compares truth, not the empty text", () => {
    const { passes } = prepare("exact", "", 2);
    expect([passes(null, now), passes(0, now), passes("", now)]).toEqual([false, false, true]);
    expect(prepareTest("exact", "false", defaultMatching).passes(0, now)).toBe(true);
  });

  test("an absent value is as null", () => {
    for (const name of operatorNames) {
      const [absent, none] = [undefined, null].map((it) => prepareTest(name, it, { version: 1, zone: utc }));
      expect([name, absent?.missing, absent?.passes("x", now)]).toEqual([name, none?.missing, none?.passes("x", now)]);
      expect([name, absent?.passes("x", now)]).toEqual([name, name === "is_set"]);
    }
  });

  test("names are checked where nothing is compared, too", () => {
    for (const name of operatorNames) expect(() => checkOperator(name)).not.toThrow();
    expect(() => checkOperator("sounds_like")).toThrow(new FlagFailure("unsupported_operator"));
  });

  test.each<[operator: string, lower: boolean, same: boolean, higher: boolean]>([
    ["semver_eq", false, true, false],
    ["semver_neq", true, false, true],
    ["semver_gt", false, false, true],
    ["semver_gte", false, true, true],
    ["semver_lt", true, false, false],
    ["semver_lte", true, true, false],
  ])("%s 1.2.3: 1.2.2 is %s, 1.2.3 is %s, 1.2.4 is %s", (operator, ...expected) => {
    const { passes } = prepare(operator, "1.2.3", 1);
    expect(["1.2.2", "1.2.3", "1.2.4"].map((version) => passes(version, now))).toEqual(expected);
  });

  test("an unknown operator is refused, not guessed", () => {
    expect(() => prepare("sounds_like", "x", 1)).toThrow(FlagFailure);
    expect(() => prepare("constructor", "x", 1)).toThrow(FlagFailure);
  });
});
