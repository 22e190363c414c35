import { setImmediate as turn } from "node:timers/promises";
import type { Call } from "../../http/call.ts";
import { json, type Reply } from "../../http/reply.ts";
import { headerIn } from "../../ingest/client-address.ts";
import { keysOf, showEvent } from "../../ingest/show.ts";
import { isObject, own } from "../../kernel/json.ts";
import type { StoredEvent } from "../../model/event.ts";
import type { TrafficLine } from "../../model/traffic.ts";
import { queryNumber } from "../body.ts";
import type { ControlDesk } from "../desk.ts";
import { askedIn, distinctIdOf, flagsBody } from "./asked.ts";
import { flagsIn, valueIn } from "./decided.ts";
import type { FlagCall, FlagDecisionMade, FlagDecisionsMade } from "./decision-answers.ts";

const most = Number.MAX_SAFE_INTEGER;
const defaultLimit = 50;
const largestLimit = 500;
/** Looked at for one answer, at most: a page asks again and again, and lines may be large. */
const farthest = { lines: 5_000, bytes: 8_000_000 };
/** Uses of flags are looked for in so many requests after those that are listed. */
const ahead = 300;
/** Uses of one decision that are told. */
const mostCalls = 100;
/** Lines looked at before other work gets a turn. */
const slice = 200;

/** Which decisions; absent keys do not restrict. */
interface Wish {
  readonly key: string | undefined;
  readonly project: number | undefined;
  readonly distinctId: string | undefined;
  readonly before: number | undefined;
  readonly since: number;
  readonly limit: number;
}

const wishOf = (call: Call): Wish => ({
  key: call.query.get("key") || undefined,
  project: queryNumber(call, "project", { min: 0, max: most }),
  distinctId: call.query.get("distinct_id") ?? undefined,
  before: queryNumber(call, "before", { min: 1, max: most }),
  since: queryNumber(call, "since", { min: 0, max: most }) ?? 0,
  limit: queryNumber(call, "limit", { min: 1, max: largestLimit }) ?? defaultLimit,
});

/** What is told of any request. */
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
function answered(line: TrafficLine): FlagDecisionMade | undefined {
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
interface Use {
  readonly call: Omit<FlagCall, "differs">;
  readonly distinctId: string;
  /** Names the answer that it is of; SDKs before 2025 do not tell. */
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

/** Newest first. Most events are something else, which their names tell cheaply. */
const usesIn = (line: TrafficLine): Use[] =>
  keysOf(line)
    .flatMap(({ event }, i) => (event === "$feature_flag_called" ? (useOf(line, i) ?? []) : []))
    .reverse();

/** SDKs that evaluate flags by themselves tell so with the event of the first use. */
function evaluatedLocally({ call, distinctId, event, line }: Use): FlagDecisionMade {
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

const requestIdIn = ({ reply }: TrafficLine): string | null =>
  isObject(reply) ? textIn(own(reply, "requestId")) : null;

/** Does a use follow from this answer? The pass is backwards: nearer answers were asked before. */
function follows(use: Use, made: FlagDecisionMade, requestId: string | null): boolean {
  if (use.distinctId !== made.distinct_id || use.line.project !== made.project) return false;
  if (use.requestId !== null && requestId !== null) return use.requestId === requestId;
  const { key } = use.call;
  const keys = made.asked?.keys ?? null;
  return (
    made.flags.some((it) => it.key === key) || (made.status === 200 && (keys === null || keys.includes(key)))
  );
}

/** Was the app given something else? A flag that the answer did not have is off, or nothing, to it. */
function differs({ key, response }: Use["call"], { flags }: FlagDecisionMade): boolean {
  const value = flags.find((it) => it.key === key)?.value ?? null;
  return value === null ? response !== null && response !== false : response !== value;
}

/** Uses whose answer the backwards pass has not come to yet. */
function createWaiting() {
  let waiting: Use[] = [];
  return {
    add: (uses: readonly Use[]) => {
      waiting.push(...uses);
    },
    /** Those that follow from the answer, taken out. */
    take(made: FlagDecisionMade, requestId: string | null): FlagCall[] {
      const taken = waiting.filter((it) => follows(it, made, requestId));
      if (taken.length > 0) waiting = waiting.filter((it) => !taken.includes(it));
      return taken.slice(0, mostCalls).map(({ call }) => ({ ...call, differs: differs(call, made) }));
    },
  };
}

/** What is left of a decision when only one flag was asked for; undefined: nothing. */
function aboutKey(made: FlagDecisionMade, key: string | undefined): FlagDecisionMade | undefined {
  if (key === undefined) return made;
  const flags = made.flags.filter((it) => it.key === key);
  const called = made.called.filter((it) => it.key === key);
  const isFailed = made.by === "answer" && made.status !== 200 && (made.asked?.keys?.includes(key) ?? true);
  return flags.length + called.length > 0 || isFailed ? { ...made, flags, called } : undefined;
}

function isWished(made: FlagDecisionMade, { before = most, since, distinctId }: Wish): boolean {
  const isInRange = made.request < before && made.request > since;
  return isInRange && (distinctId === undefined || made.distinct_id === distinctId);
}

/** The decisions that a line made; uses are kept for the answers before it. */
function madeBy(line: TrafficLine, waiting: ReturnType<typeof createWaiting>): FlagDecisionMade[] {
  const uses = usesIn(line);
  waiting.add(uses.filter((it) => !it.isLocal));
  const answer = answered(line);
  if (answer) return [{ ...answer, called: waiting.take(answer, requestIdIn(line)) }];
  return uses.filter((it) => it.isLocal).map(evaluatedLocally);
}

/** Counts what was looked at, and tells when it is enough for one answer. */
function createBudget() {
  let [lines, bytes] = [0, 0];
  return function isSpent(size: number): boolean {
    bytes += size;
    return ++lines >= farthest.lines || bytes >= farthest.bytes;
  };
}

async function decisionsOf({ log }: ControlDesk, wish: Wish): Promise<FlagDecisionsMade> {
  const { before = most, project, key, since, limit } = wish;
  const waiting = createWaiting();
  const isSpent = createBudget();
  const decisions: FlagDecisionMade[] = [];
  let looked = 0;
  const from = before === most ? {} : { before: before + ahead };
  for (const n of log.requests({ ...from, ...(project !== undefined && { project }) })) {
    if (n <= since) break;
    const line = log.line(n);
    for (const made of line ? madeBy(line, waiting) : []) {
      const shown = isWished(made, wish) ? aboutKey(made, key) : undefined;
      if (shown) decisions.push(shown);
    }
    // A request's decisions stay together: the next page starts before it.
    const isEnough = n < before && (isSpent(log.sizeOf(n)) || decisions.length >= limit);
    if (isEnough) return { decisions, before: n };
    if (++looked % slice === 0) await turn();
  }
  return { decisions, before: null };
}

/**
 * Who was given which flags and why, as the answers told it, and what was done with them; newest first. A
 * call looks at a part of the journal only: `before` tells where to go on, also where nothing was found.
 */
export const flagDecisions = async (desk: ControlDesk, call: Call): Promise<Reply> =>
  json({ ...(await decisionsOf(desk, wishOf(call))) });
