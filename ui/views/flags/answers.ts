import type { FlagSummary } from "../../../src/flags/shapes.ts";

export type {
  DecidedFlag,
  FlagCall,
  FlagDecision as Decision,
  FlagDecisions as Decisions,
  FlagTotal,
  FlagTotals,
} from "../../../src/flags/decision-shapes.ts";
export type {
  ConditionTrace,
  FlagExplanation as Explanation,
  FlagInFull,
  FlagOverride as Override,
  FlagSummary as Flag,
  HashTrace as Hash,
  PropertyTrace,
  TreeTrace,
  VariantRange,
} from "../../../src/flags/shapes.ts";

export type FlagValue = boolean | string;

export type Share = FlagSummary["shares"][number];
