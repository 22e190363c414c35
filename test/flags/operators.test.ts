import { describe, expect, test } from "vitest";
import { operatorNames, prepareTest } from "../../src/flags/operators.ts";
import { FlagFailure } from "../../src/flags/reasons.ts";
import { utc } from "../../src/flags/zone.ts";
import type { Json } from "../../src/kernel/json.ts";
import { now } from "./a-flag.ts";
import table from "./operators.json" with { type: "json" };

// What the import infers from the file is a union of everything in it.
type Row = [operator: string, filter: Json, property: Json, expected: boolean];
const rows = table.rows as Row[];
type MatrixRow = [operator: string, filter: Json, version1: string, version2?: string];
const matrix = table.matrix.rows as MatrixRow[];
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
      const marks = properties.map((property, i) =>
        (i === 0 ? missing : passes(property, now)) ? "1" : ".",
      );
      expect(marks.join("")).toBe(expected);
    });
  });

  test("every operator is in the matrix", () => {
    const tested = new Set(matrix.map(([operator]) => operator));
    expect(operatorNames.filter((name) => !tested.has(name))).toEqual([]);
  });

  test("an unknown operator is refused, not guessed", () => {
    expect(() => prepare("sounds_like", "x", 1)).toThrow(FlagFailure);
    expect(() => prepare("constructor", "x", 1)).toThrow(FlagFailure);
  });
});
