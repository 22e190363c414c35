import type { Explanation } from "../../flags/explain.ts";
import type { Distribution } from "../../flags/simulate.ts";
import type { FlagWords } from "../../flags/words.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";

/** What the flag endpoints of the control API answer; the TypeScript API hands it on. */

/** What a flag is to be, whatever its rules say. */
export interface ShownOverride {
  readonly project: number;
  /** The flag's key. */
  readonly key: string;
  /** Only for this distinct id; null: for everybody. */
  readonly distinct_id: string | null;
  /** A text is a variant. */
  readonly value: boolean | string;
  /** null: what the flag's own payloads say for the value. */
  readonly payload: Json;
  readonly created_at: string;
}

/** An override that was just set. */
export interface SetOverride extends ShownOverride {
  /** Does the project have a flag with this key? If not, clients get the override all the same. */
  readonly known: boolean;
  /** What to look at when it does not. */
  readonly hint: string | null;
}

/** A flag and its overrides. */
export interface ShownFlag {
  readonly project: number;
  readonly key: string;
  /** null for a key that has overrides only. */
  readonly id: number | null;
  readonly name: string;
  readonly active: boolean;
  /** The condition sets, then the variants, in words. */
  readonly rules: readonly string[];
  readonly variants: readonly string[];
  /** The variants with their shares, in percent. */
  readonly shares: readonly { readonly variant: string; readonly percentage: number }[];
  /** The rules in plain English; null for a key that has overrides only. */
  readonly words: FlagWords | null;
  readonly overrides: readonly ShownOverride[];
}

/** A flag with its rules as they are written. */
export interface ShownFlagInFull extends ShownFlag {
  /** null for a key that has overrides only. */
  readonly filters: JsonObject | null;
}

/** What a flag comes to. */
export type FlagDecision = Pick<
  Explanation,
  "value" | "enabled" | "variant" | "payload" | "failed" | "reason" | "condition_index"
>;

/** Why a flag is what it is for somebody. What `/flags` would answer, and how that came about. */
export interface FlagExplanation extends Omit<Explanation, "id"> {
  readonly project: number;
  readonly distinct_id: string;
  /** null for a key that has overrides only. */
  readonly id: number | null;
  /** The override that made the value; null: the rules did. */
  readonly override: ShownOverride | null;
  /** What the rules say, overridden or not; null where there are none. */
  readonly by_rules: FlagDecision | null;
}

/** What the rules give to generated subjects. */
export interface FlagDistribution extends Distribution {
  readonly project: number;
  /** The override for everybody, which is what they would get instead. */
  readonly override: ShownOverride | null;
}

/** A flag's value that somebody got, or found by itself. */
export interface FlagServing {
  /** In an answer of `/flags` or `/decide`; or by an SDK that evaluates by itself and said so in an event. */
  readonly by: "answer" | "local_evaluation";
  readonly at: string;
  /** Number of the request. */
  readonly request: number;
  /** Number of the event that said so; null for an answer. */
  readonly seq: number | null;
  readonly project: number | null;
  readonly distinct_id: string | null;
  /** null: the answer did not have the flag. */
  readonly value: boolean | string | null;
  readonly status: number;
  /** Names of the faults that touched the request. */
  readonly fault: string | null;
}

/** What a flag was for those who asked. */
export interface FlagServings {
  readonly key: string;
  /** Is there one with the value that was asked for? */
  readonly fits: boolean;
  /** Newest first. */
  readonly served: readonly FlagServing[];
}
