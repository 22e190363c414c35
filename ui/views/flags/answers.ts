import type { Json, JsonObject } from "../../../src/kernel/json.ts";

export type {
  DecidedFlag,
  FlagCall,
  FlagDecisionMade as Decision,
  FlagDecisionsMade as Decisions,
  FlagTotal,
  FlagTotals,
} from "../../../src/control/flags/decision-answers.ts";

/**
 * What the page reads of the flag endpoints' other answers; src/control/flags/answers.ts has the whole of them.
 * test/ui/flags/answers.test.ts holds the two together.
 */

export type FlagValue = boolean | string;

export interface Override {
  readonly project: number;
  readonly key: string;
  /** null: for everybody. */
  readonly distinct_id: string | null;
  readonly value: FlagValue;
  readonly payload: Json;
  readonly created_at: string;
}

/** A flag's rules in plain English. */
interface Words {
  readonly before: readonly string[];
  readonly sets: readonly string[];
  readonly after: readonly string[];
  readonly cohorts: readonly string[];
}

/** Percent. */
export interface Share {
  readonly variant: string;
  readonly percentage: number;
}

export interface Flag {
  readonly project: number;
  readonly key: string;
  /** null for a key that has overrides only. */
  readonly id: number | null;
  readonly name: string;
  readonly active: boolean;
  readonly variants: readonly string[];
  readonly shares: readonly Share[];
  readonly words: Words | null;
  readonly overrides: readonly Override[];
}

export interface FlagInFull extends Flag {
  readonly filters: JsonObject | null;
}

export interface Hash {
  readonly input: string;
  readonly identifier: string;
  readonly identifier_kind: string;
  readonly hash: number;
}

export interface PropertyTrace {
  readonly type: string;
  readonly key: string;
  readonly operator: string;
  readonly expected: Json;
  /** What it asks for, in plain English. */
  readonly words: string;
  readonly actual?: Json;
  readonly passed: boolean;
  readonly failure?: string;
  readonly cohort?: {
    readonly member: boolean;
    readonly tree: TreeTrace | null;
  };
  readonly flag?: { readonly value: FlagValue | null };
}

export type TreeTrace =
  | { readonly type: "AND" | "OR"; readonly passed: boolean; readonly values: readonly TreeTrace[] }
  | PropertyTrace;

/** From 0 to 1. */
export interface VariantRange {
  readonly variant: string;
  readonly from: number;
  readonly to: number;
  readonly hit: boolean;
}

export interface ConditionTrace {
  readonly index: number;
  readonly reached: boolean;
  readonly matched: boolean;
  readonly miss: string | null;
  readonly failure: string | null;
  readonly group_type_index: number | null;
  readonly group_type: string | null;
  readonly properties: readonly PropertyTrace[];
  readonly rollout: {
    readonly percentage: number;
    readonly hash: Hash | null;
    readonly threshold: number;
    readonly passed: boolean;
  } | null;
  readonly variant: {
    readonly forced: string | null;
    readonly hash: Hash | null;
    readonly ranges: readonly VariantRange[];
  } | null;
}

export interface Explanation {
  readonly distinct_id: string;
  readonly key: string;
  readonly value: FlagValue;
  readonly payload: string | null;
  readonly failed: boolean;
  readonly reason: { readonly code: string; readonly description: string };
  readonly override: Override | null;
  readonly by_rules: {
    readonly value: FlagValue;
    readonly reason: { readonly code: string; readonly description: string };
  } | null;
  readonly enrollment: {
    readonly form: string;
    readonly properties: readonly PropertyTrace[];
    readonly decided: boolean;
  } | null;
  readonly holdout: {
    readonly variant: string;
    readonly percentage: number;
    readonly hash: Hash | null;
    readonly threshold: number;
    readonly held_out: boolean;
  } | null;
  readonly conditions: readonly ConditionTrace[];
  readonly hint: string | null;
}
