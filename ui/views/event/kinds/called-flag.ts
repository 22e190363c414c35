import { type JsonObject, own } from "../../../../src/kernel/base/json.ts";
import type { FlagDecision } from "../../../../src/service/flags/decision-shapes.ts";
import type { StoredEvent } from "../../../../src/state/journal/stored-event.ts";
import { textIn } from "./read-values.ts";

/** The flag of a `$feature_flag_called` event. */
export interface CalledFlag {
  readonly key: string;
  /** null: the app got none, or what is no value of a flag. */
  readonly value: boolean | string | null;
  /** True if the SDK evaluated it. */
  readonly isLocal: boolean;
}

export function calledFlag(properties: JsonObject): CalledFlag | undefined {
  const key = textIn(properties, "$feature_flag");
  if (key === undefined) return undefined;
  const value = own(properties, "$feature_flag_response");
  return {
    key,
    value: typeof value === "boolean" || typeof value === "string" ? value : null,
    isLocal: own(properties, "locally_evaluated") === true,
  };
}

/** The decision that the event used: the one it was counted for, else the last one before it. */
export const decisionFor = (
  { seq, request }: Pick<StoredEvent, "seq" | "request">,
  decisions: readonly FlagDecision[],
): FlagDecision | undefined =>
  decisions.find(({ called }) => called.some((it) => it.seq === seq)) ??
  decisions.find((it) => it.by === "answer" && it.request < request && it.rejected === null);
