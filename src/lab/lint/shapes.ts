import { z } from "zod";
import { type LintCode, lintCodes } from "./codes.ts";

/** Of one call, ms. */
export const longestWork = 60_000;

export const LintQuery = z.strictObject({
  project: z.int().min(0).optional().describe("Only findings of this project"),
  max_ms: z.int().min(1).max(longestWork).optional().describe("Examines new events for about this long, then answers"),
});

export const LintFinding = z
  .strictObject({
    code: z.enum(Object.keys(lintCodes) as [LintCode, ...LintCode[]]),
    severity: z.enum(["warning", "hint"]).describe("hint: it may be intended"),
    sentence: z.string().describe("The mistake"),
    fix: z.string(),
    project: z.int(),
    event: z.string().nullable().describe("Name of the event; null for a request"),
    detail: z.string().describe("The place and the observation, without values that may be private"),
    first_seq: z.int().nullable(),
    last_seq: z.int().nullable(),
    count: z.int().describe("Number of occurrences"),
    n: z.int().describe("Number of the last request with the mistake"),
  })
  .meta({ title: "LintFinding" });
export type LintFinding = z.infer<typeof LintFinding>;

export const LintPage = z
  .strictObject({
    findings: z
      .array(LintFinding)
      .describe("One for each code, project, event and subject, in the order of their first occurrence"),
    looked: z.int().describe("Events examined since the start, or the last clear"),
    skipped: z.int().describe("Events that were skipped because there were too many new ones"),
    behind: z.int().describe("Events not examined yet; 0 without `max_ms`"),
    cursor: z.int().describe("The last examined event"),
  })
  .meta({ title: "LintPage" });
export type LintPage = z.infer<typeof LintPage>;
