import { resolve } from "node:path";
import { expect, test } from "vitest";
import { missingFiles, targets } from "../../scripts/mutation/targets.mjs";

test("every file that the mutation run names exists", () => {
  expect(Object.keys(targets).length).toBeGreaterThan(40);
  expect(missingFiles(resolve(import.meta.dirname, "../.."))).toEqual([]);
});
