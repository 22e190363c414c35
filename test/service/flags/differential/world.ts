import { fc } from "../../../support/chance.ts";
import { type CohortDraft, cohortDraft } from "./cohort-drafts.ts";
import { type FlagDraft, flagDraft } from "./flag-drafts.ts";
import { type Who, who } from "./subjects.ts";

/**
 * Generated worlds. References between documents are drawn as numbers and resolved when the documents
 * are made, so that a world stays whole while it is made smaller.
 */
export interface WorldDraft {
  /** What the clock says. */
  readonly now: string;
  readonly timezone: string;
  readonly matchingVersion: 1 | 2;
  readonly cohorts: readonly CohortDraft[];
  readonly flags: readonly FlagDraft[];
  readonly subjects: readonly Who[];
}

export const worldDraft: fc.Arbitrary<WorldDraft> = fc.record({
  now: fc.constantFrom(
    "2026-03-31T12:00:00.000Z",
    "2024-02-29T23:30:00.250Z",
    "2026-01-31T00:00:00.000Z",
    "2025-12-31T23:59:59.999Z",
  ),
  timezone: fc.constantFrom("UTC", "America/New_York"),
  matchingVersion: fc.constantFrom(1, 2) as fc.Arbitrary<1 | 2>,
  cohorts: fc.array(cohortDraft, { maxLength: 6, size: "max" }),
  flags: fc.array(flagDraft, { minLength: 1, maxLength: 12, size: "max" }),
  subjects: fc.array(who, { minLength: 1, maxLength: 20, size: "max" }),
});
