import { setImmediate as turn } from "node:timers/promises";
import type { Call } from "../../http/call.ts";
import { json, type Reply } from "../../http/reply.ts";
import type { TrafficLine } from "../../model/traffic.ts";
import { queryNumber } from "../body.ts";
import type { ControlDesk } from "../desk.ts";
import { createBudget } from "../search.ts";
import type { FlagCall, FlagDecisionMade, FlagDecisionsMade } from "./decision-answers.ts";
import { type DecisionBook, flagRequests } from "./decision-book.ts";
import {
  answered,
  differs,
  evaluatedLocally,
  follows,
  requestIdIn,
  type Use,
  usesIn,
} from "./decision-lines.ts";

const most = Number.MAX_SAFE_INTEGER;
const defaultLimit = 50;
const largestLimit = 500;
/** Looked at for one answer, at most: a page asks again and again, and lines may be large. */
const farthest = { entries: 5_000, bytes: 8_000_000 };
/** Uses of flags are looked for in this many requests with flags after those that are listed. */
const ahead = 300;
/** Uses of one decision that are told. */
const mostCalls = 100;
/** Rows of the index that are looked at in a step. */
const window = 16_384;

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

/** Where the pass begins, so that it meets uses of the flags that it lists: a few requests after those. */
async function beginAt({ log }: ControlDesk, { before = most, project }: Wish): Promise<number> {
  if (before > log.lastRequest) return most;
  const within = { flags: true, ...(project !== undefined && { project }) } as const;
  let left = ahead;
  for (let from = before; from <= log.lastRequest; from += window) {
    let last = 0;
    log.eachRequest(from, from + window - 1, within, ({ n }) => {
      if (left > 0) last = n;
      left--;
    });
    if (left <= 0) return last + 1;
    await turn();
  }
  return most;
}

async function decisionsOf(desk: ControlDesk, book: DecisionBook, wish: Wish): Promise<FlagDecisionsMade> {
  const { log } = desk;
  const { before = most, project, key, since, distinctId, limit } = wish;
  const mayHold = await book.finder({ key, distinctId });
  const waiting = createWaiting();
  const isSpent = createBudget(farthest);
  const decisions: FlagDecisionMade[] = [];
  const from = await beginAt(desk, wish);
  const within = { before: from, ...(project !== undefined && { project }) };
  for await (const n of flagRequests(log, within, mayHold)) {
    if (n <= since) break;
    const line = log.line(n);
    for (const made of line ? madeBy(line, waiting) : []) {
      const shown = isWished(made, wish) ? aboutKey(made, key) : undefined;
      if (shown) decisions.push(shown);
    }
    // A request's decisions stay together: the next page starts before it.
    const isEnough = n < before && (isSpent(log.sizeOf(n)) || decisions.length >= limit);
    if (isEnough) return { decisions, before: n };
  }
  return { decisions, before: null };
}

/**
 * Who was given which flags and why, by the answers, and how they were used; newest first. Requests that have nothing
 * to do with flags are passed over by the index. A call reads a limited number of lines: `before` is where the next one
 * begins, also where nothing was found.
 */
export const flagDecisions =
  (book: DecisionBook) =>
  async (desk: ControlDesk, call: Call): Promise<Reply> =>
    json({ ...(await decisionsOf(desk, book, wishOf(call))) });
