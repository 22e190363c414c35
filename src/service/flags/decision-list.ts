import { setImmediate as turn } from "node:timers/promises";
import { SimError } from "../../kernel/base/errors.ts";
import { clearTimeout, setTimeout } from "../../kernel/base/real-time.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { createBudget } from "../../state/journal/search.ts";
import type { TrafficLine } from "../../state/journal/traffic.ts";
import { flagLines } from "./decision-index.ts";
import { decisionsIn, differs, follows, requestIdIn, type Use, usesIn } from "./decision-lines.ts";
import type {
  DecisionSelection,
  FlagCall,
  FlagDecision,
  FlagDecisions,
  FlagServing,
  FlagServings,
  ServedQuery,
} from "./decision-shapes.ts";
import type { FlagPorts } from "./ports.ts";

type Ports = Pick<FlagPorts, "log" | "decisions">;

const most = Number.MAX_SAFE_INTEGER;
/** Read for one page, at most: clients page repeatedly, and lines may be large. */
const farthest = { entries: 5_000, bytes: 8_000_000 };
/** Uses of flags are searched for in this many requests with flags after the listed ones. */
const ahead = 300;
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
    take(made: FlagDecision, requestId: string | null): FlagCall[] {
      const taken = waiting.filter((it) => follows(it, made, requestId));
      if (taken.length > 0) waiting = waiting.filter((it) => !taken.includes(it));
      return taken.slice(0, mostCalls).map(({ call }) => ({ ...call, differs: differs(call, made) }));
    },
  };
}

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

function withUses(line: TrafficLine, waiting: ReturnType<typeof createWaiting>): FlagDecision[] {
  waiting.add(usesIn(line).filter((it) => !it.isLocal));
  return decisionsIn(line).map((it) =>
    it.by === "answer" ? { ...it, called: waiting.take(it, requestIdIn(line)) } : it,
  );
}

/** Where the pass begins, so that it meets uses of the flags that it lists: a few requests after those. */
async function beginAt(log: TrafficLog, { before = most, project }: DecisionSelection): Promise<number> {
  if (before > log.lastRequest) return most;
  let left = ahead;
  for (let from = before; from <= log.lastRequest; from += window) {
    let last = 0;
    log.eachRequest(from, from + window - 1, { flags: true, project }, ({ n }) => {
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
  { log, decisions: index }: Ports,
  query: DecisionSelection,
): Promise<FlagDecisions> {
  const { before = most, project, since, distinct_id: distinctId, limit = 50 } = query;
  const key = query.key || undefined;
  const mayHold = await index.finder({ key, distinctId });
  const waiting = createWaiting();
  const isSpent = createBudget(farthest);
  const decisions: FlagDecision[] = [];
  const from = await beginAt(log, query);
  for await (const { n, line } of flagLines(log, { before: from, project, since }, mayHold)) {
    for (const made of line ? withUses(line, waiting) : []) {
      const shown = isListed(made, query) ? aboutKey(made, key) : undefined;
      if (shown) decisions.push(shown);
    }
    // A request's decisions stay together: the next page starts before it.
    if (n < before && (isSpent(log.sizeOf(n)) || decisions.length >= limit)) return { decisions, before: n };
  }
  return { decisions, before: null };
}

interface Wanted {
  readonly key: string;
  readonly project: number | undefined;
  readonly distinctId: string | undefined;
  /** The value that ends a wait (default: any, but not an answer without the flag). */
  readonly value: boolean | string | undefined;
}

function servingIn(made: FlagDecision, wanted: string): FlagServing {
  const { by, at, request, seq, project, distinct_id, status, fault, flags } = made;
  const value = flags.find(({ key }) => key === wanted)?.value ?? null;
  return { by, at, request, seq, project, distinct_id, value, status, fault };
}

const inScope = (serving: FlagServing, { project, distinctId }: Wanted): boolean =>
  (project === undefined || serving.project === project) &&
  (distinctId === undefined || serving.distinct_id === distinctId);

function servingsIn(line: TrafficLine | undefined, wanted: Wanted): FlagServing[] {
  return (line ? decisionsIn(line) : [])
    .filter(({ by, flags }) => by === "answer" || flags.some(({ key }) => key === wanted.key))
    .map((it) => servingIn(it, wanted.key))
    .filter((it) => inScope(it, wanted))
    .toReversed();
}

const fits = ({ value }: FlagServing, wanted: Wanted): boolean =>
  wanted.value === undefined ? value !== null : value === wanted.value;

async function lookBack({ log, decisions }: Ports, wanted: Wanted, limit: number): Promise<FlagServing[]> {
  const found: FlagServing[] = [];
  // Of any flag: an answer without it is listed, too.
  const mayHold = await decisions.finder({ key: undefined, distinctId: wanted.distinctId });
  for await (const { line } of flagLines(log, { project: wanted.project }, mayHold)) {
    found.push(...servingsIn(line, wanted));
    if (found.some((it) => fits(it, wanted)) || found.length >= limit) break;
  }
  return found;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      });

/** Waits for a serving that fits and collects the others. Listening starts before the look back. */
async function collect(
  ports: Ports,
  wanted: Wanted,
  { wait, limit, gone }: { wait: number; limit: number; gone: AbortSignal },
): Promise<FlagServing[]> {
  const ended = new AbortController();
  const later: FlagServing[] = [];
  const stop = ports.log.subscribe(({ n }) => {
    later.unshift(...servingsIn(ports.log.line(n), wanted));
    later.length = Math.min(later.length, limit);
    if (later.some((it) => fits(it, wanted))) ended.abort();
  });
  const timer = setTimeout(() => ended.abort(), wait);
  try {
    const earlier = await lookBack(ports, wanted, limit);
    if (!earlier.some((it) => fits(it, wanted))) await aborted(AbortSignal.any([ended.signal, gone]));
    const known = new Set(later.map((it) => `${it.request}/${it.seq}`));
    return [...later, ...earlier.filter((it) => !known.has(`${it.request}/${it.seq}`))].slice(0, limit);
  } finally {
    stop();
    clearTimeout(timer);
  }
}

/** `true`, `false`, or a variant; also as a JSON string, for a variant called "true". @throws SimError invalid_input */
function valueIn(text: string | undefined): boolean | string | undefined {
  if (text === undefined || text === "") return undefined;
  if (text === "true" || text === "false") return text === "true";
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch (cause) {
    throw new SimError("invalid_input", '"value" must be true, false or a variant', { pointer: "?value", cause });
  }
}

/**
 * The values of a flag in the answers that clients got and in the evaluations of SDKs, newest first.
 * @param gone Aborted when the client no longer waits
 */
export async function servingsOf(
  ports: Ports,
  key: string,
  query: ServedQuery,
  gone: AbortSignal,
): Promise<FlagServings> {
  const wanted: Wanted = { key, project: query.project, distinctId: query.distinct_id, value: valueIn(query.value) };
  const { wait_ms: wait = 0, limit = 20 } = query;
  const served = await collect(ports, wanted, { wait, limit, gone });
  return { key, fits: served.some((it) => fits(it, wanted)), served };
}
