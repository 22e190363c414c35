import type { DecidedFlag, FlagDecision as Decision } from "../../../src/service/flags/decision-shapes.ts";
import type { FlagValue } from "../../../ui/parts/flag-trace/trace-words.ts";

export const aFlag = (key: string, value: FlagValue | null, more: Partial<DecidedFlag> = {}): DecidedFlag => ({
  key,
  value,
  payload: null,
  reason: null,
  condition_index: null,
  failed: false,
  ...more,
});

export const aDecision = (flags: Readonly<Record<string, FlagValue>>, more: Partial<Decision> = {}): Decision => ({
  by: "answer",
  at: "2026-01-01T00:00:00Z",
  request: 1,
  seq: null,
  project: 1,
  distinct_id: "anna",
  client: null,
  status: 200,
  rejected: null,
  fault: null,
  has_errors: false,
  asked: null,
  flags: Object.entries(flags).map(([key, value]) => aFlag(key, value)),
  called: [],
  ...more,
});
