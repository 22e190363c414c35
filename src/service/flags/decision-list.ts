import { setImmediate as turn } from "node:timers/promises";
import { inSlices } from "../../kernel/base/work.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { createBudget } from "../../state/journal/search.ts";
import type { TrafficLine } from "../../state/journal/traffic.ts";
import { type DecisionIndex, flagRequests } from "./decision-index.ts";
import { decisionsIn, differs, follows, requestIdIn, type Use, usesIn } from "./decision-lines.ts";
import type { DecisionSelection, FlagCall, FlagDecision, FlagDecisions } from "./decision-shapes.ts";

const most = Number.MAX_SAFE_INTEGER;
const defaultLimit = 50;
/** Read for one page, at most: clients page repeatedly, and lines may be large. */
const farthest = { entries: 5_000, bytes: 8_000_000 };
/** Uses of flags are searched for in this many requests with flags after the listed ones. */
const ahead = 300;
/** Uses listed for one decision, at most. */
const mostCalls = 100;
/** Rows of the index that are read in a step. */
const window = 16_384;

/** Uses whose answer the backwards pass has not come to yet. */
function createWaiting() {
  let waiting: Use[] = [];
  return {
    add: (uses: readonly Use[]) => {
      waiting.push(...uses);
    },
    /** Those that follow from the answer, taken out. */
    take(made: FlagDecision, requestId: string | null): FlagCall[] {
      const taken = waiting.filter((it) => follows(it, made, requestId));
      if (taken.length > 0) waiting = waiting.filter((it) => !taken.includes(it));
      return taken.slice(0, mostCalls).map(({ call }) => ({ ...call, differs: differs(call, made) }));
    },
  };
}

/** What is left of a decision when only one flag was asked for; undefined: nothing. */
function aboutKey(made: FlagDecision, key: string | undefined): FlagDecision | undefined {
  if (key === undefined) return made;
  const flags = made.flags.filter((it) => it.key === key);
  const called = made.called.filter((it) => it.key === key);
  const isFailed = made.by === "answer" && made.status !== 200 && (made.asked?.keys?.includes(key) ?? true);
  return flags.length + called.length > 0 || isFailed ? { ...made, flags, called } : undefined;
}

function isListed(
  made: FlagDecision,
  { before = most, since = 0, distinct_id: distinctId }: DecisionSelection,
): boolean {
  const isInRange = made.request < before && made.request > since;
  return isInRange && (distinctId === undefined || made.distinct_id === distinctId);
}

/** The decisions of a line with their uses; further uses are kept for the answers before it. */
function withUses(line: TrafficLine, waiting: ReturnType<typeof createWaiting>): FlagDecision[] {
  waiting.add(usesIn(line).filter((it) => !it.isLocal));
  return decisionsIn(line).map((it) =>
    it.by === "answer" ? { ...it, called: waiting.take(it, requestIdIn(line)) } : it,
  );
}

/** Where the pass begins, so that it meets uses of the flags that it lists: a few requests after those. */
async function beginAt(log: TrafficLog, { before = most, project }: DecisionSelection): Promise<number> {
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

/**
 * The decisions about flags and the uses that followed, newest first. The index skips requests that have nothing to do
 * with flags. A call reads a limited number of lines: the next page begins at `before`, also where nothing was found.
 */
export async function listDecisions(
  log: TrafficLog,
  index: DecisionIndex,
  query: DecisionSelection,
): Promise<FlagDecisions> {
  const { before = most, project, since = 0, distinct_id: distinctId, limit = defaultLimit } = query;
  const key = query.key || undefined;
  const mayHold = await index.finder({ key, distinctId });
  const waiting = createWaiting();
  const isSpent = createBudget(farthest);
  const decisions: FlagDecision[] = [];
  const from = await beginAt(log, query);
  const within = { before: from, ...(project !== undefined && { project }) };
  for await (const n of flagRequests(log, within, mayHold)) {
    if (n <= since) break;
    const line = await inSlices(log.reading(n));
    for (const made of line ? withUses(line, waiting) : []) {
      const shown = isListed(made, query) ? aboutKey(made, key) : undefined;
      if (shown) decisions.push(shown);
    }
    // A request's decisions stay together: the next page starts before it.
    const isEnough = n < before && (isSpent(log.sizeOf(n)) || decisions.length >= limit);
    if (isEnough) return { decisions, before: n };
  }
  return { decisions, before: null };
}
