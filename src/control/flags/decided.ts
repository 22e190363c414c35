import { isObject, type Json, type JsonObject, own } from "../../kernel/json.ts";
import type { DecidedFlag } from "./decision-answers.ts";

/** What a detail of `/flags?v=2` or of a plain map of values says; null for anything else. */
export const valueIn = (entry: Json | undefined): boolean | string | null => {
  if (typeof entry === "boolean" || typeof entry === "string") return entry;
  if (!isObject(entry)) return null;
  return typeof entry.variant === "string" ? entry.variant : entry.enabled === true;
};

const textIn = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);

function reasonIn(entry: JsonObject): Pick<DecidedFlag, "reason" | "condition_index"> {
  const reason = own(entry, "reason");
  if (!isObject(reason)) return { reason: null, condition_index: null };
  const index = own(reason, "condition_index");
  return {
    reason: {
      code: textIn(own(reason, "code")) ?? "",
      description: textIn(own(reason, "description")) ?? "",
    },
    condition_index: typeof index === "number" ? index : null,
  };
}

/** The versions before `/flags?v=2` tell values and nothing else. */
const bare = (key: string, value: boolean | string, payload: string | null): DecidedFlag => ({
  key,
  value,
  payload,
  reason: null,
  condition_index: null,
  failed: false,
});

function detailed([key, entry]: [string, Json]): DecidedFlag[] {
  const value = valueIn(entry);
  if (value === null || !isObject(entry)) return [];
  const metadata = own(entry, "metadata");
  const payload = isObject(metadata) ? textIn(own(metadata, "payload")) : null;
  return [{ ...bare(key, value, payload), ...reasonIn(entry), failed: own(entry, "failed") === true }];
}

/** The flags in an answer of any version. */
export function flagsIn(reply: Json | undefined): DecidedFlag[] {
  if (!isObject(reply)) return [];
  const { flags, featureFlags, featureFlagPayloads } = reply;
  if (isObject(flags)) return Object.entries(flags).flatMap(detailed);
  if (Array.isArray(featureFlags)) {
    return featureFlags.flatMap((key) => (typeof key === "string" ? [bare(key, true, null)] : []));
  }
  if (!isObject(featureFlags)) return [];
  const payloads = isObject(featureFlagPayloads) ? featureFlagPayloads : {};
  return Object.entries(featureFlags).flatMap(([key, entry]) => {
    const value = valueIn(entry);
    return value === null ? [] : [bare(key, value, textIn(own(payloads, key)))];
  });
}
