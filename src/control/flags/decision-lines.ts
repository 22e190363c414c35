import { headerIn } from "../../ingest/client-address.ts";
import { keysOf, showEvent } from "../../ingest/show.ts";
import { isObject, own } from "../../kernel/json.ts";
import type { StoredEvent } from "../../model/event.ts";
import type { TrafficLine } from "../../model/traffic.ts";
import { flagUse } from "../../store/facets.ts";
import { askedIn, distinctIdOf, flagsBody } from "./asked.ts";
import { flagsIn, valueIn } from "./decided.ts";
import type { FlagCall, FlagDecisionMade } from "./decision-answers.ts";

/** What the lines of the journal say about decisions: answers of requests for flags, and events about the use of flags. */

/** What is reported of any request. */
const factsOf = (line: TrafficLine) => ({
  at: new Date(line.at).toISOString(),
  request: line.n,
  project: line.project,
  client: headerIn(line.headers, "user-agent") ?? null,
  status: line.status,
  rejected: line.rejected?.detail ?? null,
  fault: line.fault ?? null,
});

/** The answer of a request for flags. */
export function answered(line: TrafficLine): FlagDecisionMade | undefined {
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

/** A use of a flag, and what it says about the decision that it follows. */
export interface Use {
  readonly call: Omit<FlagCall, "differs">;
  readonly distinctId: string;
  /** Names the answer that it is of; SDKs before 2025 do not send it. */
  readonly requestId: string | null;
  readonly isLocal: boolean;
  readonly line: TrafficLine;
  readonly event: StoredEvent;
}

const textIn = (value: unknown): string | null => (typeof value === "string" ? value : null);

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
export function evaluatedLocally({ call, distinctId, event, line }: Use): FlagDecisionMade {
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

export const requestIdIn = ({ reply }: TrafficLine): string | null =>
  isObject(reply) ? textIn(own(reply, "requestId")) : null;

/** Does a use follow from this answer? The pass is backwards: nearer answers were asked before. */
export function follows(use: Use, made: FlagDecisionMade, requestId: string | null): boolean {
  if (use.distinctId !== made.distinct_id || use.line.project !== made.project) return false;
  if (use.requestId !== null && requestId !== null) return use.requestId === requestId;
  const { key } = use.call;
  const keys = made.asked?.keys ?? null;
  return (
    made.flags.some((it) => it.key === key) || (made.status === 200 && (keys === null || keys.includes(key)))
  );
}

/** Was the app given something else? A flag that the answer did not have is off, or nothing, to it. */
export function differs({ key, response }: Use["call"], { flags }: FlagDecisionMade): boolean {
  const value = flags.find((it) => it.key === key)?.value ?? null;
  return value === null ? response !== null && response !== false : response !== value;
}
