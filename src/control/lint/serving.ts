import { pathOf } from "../../http/call.ts";
import { isObject, type Json, type JsonObject, own } from "../../kernel/json.ts";
import type { Serving } from "../../lint/types.ts";
import type { TrafficLine } from "../../model/traffic.ts";

const flagPaths: ReadonlySet<string> = new Set(["/flags", "/decide"]);

/** What a detail of `/flags?v=2`, or of a plain map of values, says; undefined: the flag failed. */
function valueIn(entry: Json | undefined): boolean | string | undefined {
  if (typeof entry === "boolean" || typeof entry === "string") return entry;
  if (!isObject(entry) || entry.failed === true) return undefined;
  return typeof entry.variant === "string" ? entry.variant : entry.enabled === true;
}

/** The flags of an answer of any version that names values; undefined where they cannot be read. */
function valuesIn(reply: Json | undefined): Map<string, boolean | string> | undefined {
  if (!isObject(reply)) return undefined;
  const entries = isObject(reply.flags) ? reply.flags : reply.featureFlags;
  if (!isObject(entries)) return undefined;
  const values = new Map<string, boolean | string>();
  for (const [flag, entry] of Object.entries(entries)) {
    const value = valueIn(entry);
    if (value !== undefined) values.set(flag, value);
  }
  return values;
}

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : undefined;

const firstOf = (body: JsonObject, ...names: readonly string[]): Json | undefined =>
  names.map((name) => own(body, name)).find((it) => it !== undefined && it !== null);

/** What a client was given by an answer about flags; undefined where the request is about something else, or failed. */
export function servingOf({
  method,
  target,
  status,
  rejected,
  body,
  reply,
}: TrafficLine): Serving | undefined {
  if (method !== "POST" || status !== 200 || rejected || !flagPaths.has(pathOf(target))) return undefined;
  if (!isObject(body)) return undefined;
  const distinctId = textOf(firstOf(body, "distinct_id", "$distinct_id"));
  if (distinctId === undefined) return undefined;
  const asked = firstOf(body, "flag_keys_to_evaluate", "flag_keys");
  return {
    distinctId,
    anonymousId: textOf(firstOf(body, "$anon_distinct_id", "anon_distinct_id")),
    asked: Array.isArray(asked) ? asked.filter((it) => typeof it === "string") : [],
    values: valuesIn(reply),
  };
}
