import { firstOf, isObject, type Json, type JsonObject, own, textOrNumber } from "../../kernel/base/json.ts";
import { pathOf } from "../../kernel/http/call.ts";
import { clientAddress, headerIn } from "../../kernel/http/client-address.ts";
import { servedValueOf } from "../../state/documents/flag-config.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import { flagUse } from "../../state/journal/log/facets.ts";
import { keysOf, showEvent } from "../../state/journal/show.ts";
import type { TrafficLine } from "../../state/journal/traffic.ts";
import type { DecidedFlag, FlagCall, FlagDecision, FlagsAsked } from "./decision-shapes.ts";
import { flagsRequestOf } from "./endpoint/flags-request.ts";

/** What the lines of the journal report about flags: requests and their answers, and events about the use of a flag. */

const textIn = (value: unknown): string | null => (typeof value === "string" ? value : null);

const flagPaths: ReadonlySet<string> = new Set(["/flags", "/decide"]);

function flagsBody({ method, target, body }: TrafficLine): JsonObject | undefined {
  return method === "POST" && flagPaths.has(pathOf(target)) && isObject(body) ? body : undefined;
}

const distinctIdOf = (body: JsonObject): string | null =>
  textOrNumber(firstOf(body, "distinct_id", "$distinct_id")) ?? null;

function askedIn(body: JsonObject, line: TrafficLine): FlagsAsked {
  const request = flagsRequestOf(body);
  return {
    person_properties: request.personProperties,
    groups: request.groups,
    group_properties: request.groupProperties,
    device_id: request.deviceId ?? null,
    anon_distinct_id: request.anonymousId ?? null,
    ip: request.isGeoipDisabled ? null : clientAddress((name) => headerIn(line.headers, name), line.peer),
    keys: request.flagKeys ? [...request.flagKeys] : null,
  };
}

/** The value in an entry of `/flags?v=2` or later, or of a plain map of values; null for anything else. */
const valueIn = (entry: Json | undefined): boolean | string | null => {
  if (typeof entry === "boolean" || typeof entry === "string") return entry;
  if (!isObject(entry)) return null;
  return servedValueOf(entry);
};

/** A typed number or object as JSON text: the value in `/flags?v=3`, the payload in older versions. */
const typedPayload = (value: Json | undefined): string | null =>
  typeof value === "number" || isObject(value) ? JSON.stringify(value) : null;

const payloadIn = (payload: Json | undefined): string | null => textIn(payload) ?? typedPayload(payload);

function reasonIn(entry: JsonObject): Pick<DecidedFlag, "reason" | "condition_index"> {
  const reason = own(entry, "reason");
  if (!isObject(reason)) return { reason: null, condition_index: null };
  const index = own(reason, "condition_index");
  return {
    reason: { code: textIn(own(reason, "code")) ?? "", description: textIn(own(reason, "description")) ?? "" },
    condition_index: typeof index === "number" ? index : null,
  };
}

/** Versions before `/flags?v=2` have values only. */
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
  const payload = (isObject(metadata) ? payloadIn(own(metadata, "payload")) : null) ?? typedPayload(entry.value);
  return [{ ...bare(key, value, payload), ...reasonIn(entry), failed: own(entry, "failed") === true }];
}

function flagsIn(reply: Json | undefined): DecidedFlag[] {
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
    return value === null ? [] : [bare(key, value, payloadIn(own(payloads, key)))];
  });
}

const factsOf = (line: TrafficLine) => ({
  at: new Date(line.at).toISOString(),
  request: line.n,
  project: line.project,
  client: headerIn(line.headers, "user-agent") ?? null,
  status: line.status,
  rejected: line.rejected?.detail ?? null,
  fault: line.fault ?? null,
});

export function answered(line: TrafficLine): FlagDecision | undefined {
  const body = flagsBody(line);
  if (!body) return undefined;
  const isAnswer = !line.rejected && line.status === 200;
  return {
    by: "answer",
    ...factsOf(line),
    seq: null,
    distinct_id: distinctIdOf(body),
    has_errors: isObject(line.reply) && own(line.reply, "errorsWhileComputingFlags") === true,
    asked: askedIn(body, line),
    flags: isAnswer ? flagsIn(line.reply) : [],
    called: [],
  };
}

export interface Use {
  readonly call: Omit<FlagCall, "differs">;
  readonly distinctId: string;
  /** Id of the answer that it follows; SDKs before 2025 do not send it. */
  readonly requestId: string | null;
  readonly isLocal: boolean;
  readonly line: TrafficLine;
  readonly event: StoredEvent;
}

function useOf(line: TrafficLine, index: number): Use | undefined {
  const event = showEvent(line, index);
  const key = textIn(event.properties.$feature_flag);
  if (event.outcome !== "kept" || key === null) return undefined;
  return {
    call: {
      seq: event.seq,
      request: line.n,
      at: event.received_at,
      key,
      response: valueIn(event.properties.$feature_flag_response),
    },
    distinctId: event.distinct_id,
    requestId: textIn(event.properties.$feature_flag_request_id),
    isLocal: event.properties.locally_evaluated === true,
    line,
    event,
  };
}

/** Newest first. Most events are something else: their names are cheap to compare. */
export const usesIn = (line: TrafficLine): Use[] =>
  keysOf(line)
    .flatMap(({ event }, i) => (event === flagUse ? (useOf(line, i) ?? []) : []))
    .reverse();

/** SDKs that evaluate flags locally report it with the event of the first use. */
export function evaluatedLocally({ call, distinctId, event, line }: Use): FlagDecision {
  const reason = textIn(event.properties.$feature_flag_reason);
  const flag = {
    key: call.key,
    value: call.response,
    payload: null,
    reason: reason === null ? null : { code: "", description: reason },
    condition_index: null,
    failed: false,
  };
  return {
    by: "local_evaluation",
    ...factsOf(line),
    seq: call.seq,
    distinct_id: distinctId,
    has_errors: false,
    asked: null,
    flags: [flag],
    called: [{ ...call, differs: false }],
  };
}

/** The decisions of a line: its answer, else the evaluations that its events report, newest first. */
export function decisionsIn(line: TrafficLine): FlagDecision[] {
  const answer = answered(line);
  if (answer) return [answer];
  return usesIn(line)
    .filter((it) => it.isLocal)
    .map(evaluatedLocally);
}

export const requestIdIn = ({ reply }: TrafficLine): string | null =>
  isObject(reply) ? textIn(own(reply, "requestId")) : null;

/** True if a use follows from this answer. The pass is backwards: nearer answers were tried before. */
export function follows(use: Use, made: FlagDecision, requestId: string | null): boolean {
  if (use.distinctId !== made.distinct_id || use.line.project !== made.project) return false;
  if (use.requestId !== null && requestId !== null) return use.requestId === requestId;
  const { key } = use.call;
  const keys = made.asked?.keys ?? null;
  return made.flags.some((it) => it.key === key) || (made.status === 200 && (keys === null || keys.includes(key)));
}

/** True if the app used another value. A flag that the answer did not have is off, or has no value. */
export function differs({ key, response }: Use["call"], { flags }: FlagDecision): boolean {
  const value = flags.find((it) => it.key === key)?.value ?? null;
  return value === null ? response !== null && response !== false : response !== value;
}
