import { z } from "zod";
import { RunVerdict } from "../run-report/shapes.ts";

const Flags = z.record(z.string(), z.union([z.boolean(), z.string()]));

/** The result of the runs of a command with combinations of flags. */
export const MatrixVerdict = z
  .strictObject({
    schema_version: z.literal(1).describe("Rises when a field is removed or changes its meaning"),
    verdict: z.enum(["passed", "failed"]).describe("`failed` if a run failed"),
    exit_code: z.int().describe("Of the first failed run"),
    strength: z.int().describe("Every choice of values of N flags occurs in a run"),
    runs: z
      .array(
        z.strictObject({
          flags: Flags,
          verdict: RunVerdict.describe("It has a section `matrix` with the combination"),
        }),
      )
      .describe("One for each combination, in order"),
    left_out: z.int().describe("Combinations that did not run, after a signal"),
    cause: z
      .enum(["none", "one", "several", "all"])
      .describe("`one`: all failed runs have the same cause; `all`: every combination failed"),
    smallest_failing: z
      .array(Flags)
      .describe("The fewest flag values that all failed runs have and no other; several are alternatives, or causes"),
  })
  .meta({ title: "MatrixVerdict" });
export type MatrixVerdict = z.infer<typeof MatrixVerdict>;
