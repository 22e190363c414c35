import type { JsonObject } from "../../kernel/json.ts";
import type { Progress } from "../totals-answer.ts";

/** What the control API answers of decisions about flags. The page reads it, too. */

/** What a request for flags said of whom it asked about. */
export interface FlagsAsked {
  readonly person_properties: JsonObject;
  /** Keys of groups by their type, as sent. */
  readonly groups: JsonObject;
  readonly group_properties: JsonObject;
  readonly device_id: string | null;
  readonly anon_distinct_id: string | null;
  /** The caller's address; null where it was not to count. */
  readonly ip: string | null;
  /** Only these flags; null: all. */
  readonly keys: readonly string[] | null;
}

/** What a flag was for somebody. */
export interface DecidedFlag {
  readonly key: string;
  /** null: an SDK had no value. */
  readonly value: boolean | string | null;
  /** JSON text. */
  readonly payload: string | null;
  /** null where it was not told. */
  readonly reason: { readonly code: string; readonly description: string } | null;
  /** Which condition set decided, from 0. */
  readonly condition_index: number | null;
  readonly failed: boolean;
}

/** A `$feature_flag_called` event: an app used a flag. */
export interface FlagCall {
  readonly seq: number;
  /** Number of the request that carried it. */
  readonly request: number;
  readonly at: string;
  readonly key: string;
  /** What the app was given; null: nothing. */
  readonly response: boolean | string | null;
  /** Is that something else than what was decided? */
  readonly differs: boolean;
}

/** Flags were decided for somebody. */
export interface FlagDecisionMade {
  /** In an answer of `/flags` or `/decide`; or by an SDK that evaluates by itself and said so in an event. */
  readonly by: "answer" | "local_evaluation";
  readonly at: string;
  /** Number of the request. */
  readonly request: number;
  /** Number of the event that said so; null for an answer. */
  readonly seq: number | null;
  readonly project: number | null;
  readonly distinct_id: string | null;
  /** The caller's `User-Agent`. */
  readonly client: string | null;
  readonly status: number;
  /** Why the request was rejected. */
  readonly rejected: string | null;
  /** Names of the faults that touched the request. */
  readonly fault: string | null;
  /** Did the answer say `errorsWhileComputingFlags`? */
  readonly has_errors: boolean;
  /** null for an evaluation by an SDK, which does not tell. */
  readonly asked: FlagsAsked | null;
  readonly flags: readonly DecidedFlag[];
  /** The uses of these flags that followed, newest first. */
  readonly called: readonly FlagCall[];
}

/** Answer of GET /__sim/flag-decisions. */
export interface FlagDecisionsMade {
  /** Newest first. */
  readonly decisions: readonly FlagDecisionMade[];
  /** Where to go on with `before`; null: there are no more. */
  readonly before: number | null;
}

/** How often a flag had a value. */
interface FlagValueTotal {
  /** null: an app was given nothing. */
  readonly value: boolean | string | null;
  /** In answers, or found by an SDK. */
  readonly served: number;
  /** Used by an app, as it reports with `$feature_flag_called`. */
  readonly called: number;
}

/** How often a flag was decided, over all requests that arrived. */
export interface FlagTotal {
  readonly project: number | null;
  readonly key: string;
  readonly served: number;
  readonly called: number;
  /** Uses with another value than was decided. */
  readonly differs: number;
  /** The most frequent ones first. */
  readonly values: readonly FlagValueTotal[];
}

/** Answer of GET /__sim/flag-decisions/totals. */
export interface FlagTotals extends Progress {
  /** In no order. */
  readonly flags: readonly FlagTotal[];
}
