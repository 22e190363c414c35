import { SimError } from "../../kernel/base/errors.ts";
import { clearTimeout, setTimeout } from "../../kernel/base/real-time.ts";
import { inSlices } from "../../kernel/base/work.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import type { TrafficLine } from "../../state/journal/traffic.ts";
import { type DecisionIndex, flagRequests } from "./decision-index.ts";
import { decisionsIn } from "./decision-lines.ts";
import type { FlagDecision, FlagServing, FlagServings, ServedQuery } from "./decision-shapes.ts";

const defaultLimit = 20;

/** Which servings of a flag; absent keys do not restrict. */
interface Wanted {
  readonly key: string;
  readonly project: number | undefined;
  readonly distinctId: string | undefined;
  /** The value that ends a wait (default: any, but not an answer without the flag). */
  readonly value: boolean | string | undefined;
}

/** A decision as a serving of one flag; the value is null where the decision does not have it. */
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

/** Servings up to now, newest first. Stops at the first that fits, or at `limit`. */
async function lookBack(log: TrafficLog, index: DecisionIndex, wanted: Wanted, limit: number): Promise<FlagServing[]> {
  const found: FlagServing[] = [];
  // Of any flag: an answer without it is listed, too.
  const mayHold = await index.finder({ key: undefined, distinctId: wanted.distinctId });
  const within = wanted.project === undefined ? {} : { project: wanted.project };
  for await (const n of flagRequests(log, within, mayHold)) {
    found.push(...servingsIn(await inSlices(log.reading(n)), wanted));
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
  log: TrafficLog,
  index: DecisionIndex,
  wanted: Wanted,
  { wait, limit, gone }: { wait: number; limit: number; gone: AbortSignal },
): Promise<FlagServing[]> {
  const ended = new AbortController();
  const later: FlagServing[] = [];
  const stop = log.subscribe(({ n }) => {
    later.unshift(...servingsIn(log.line(n), wanted));
    later.length = Math.min(later.length, limit);
    if (later.some((it) => fits(it, wanted))) ended.abort();
  });
  const timer = setTimeout(() => ended.abort(), wait);
  try {
    const earlier = await lookBack(log, index, wanted, limit);
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
  log: TrafficLog,
  index: DecisionIndex,
  key: string,
  query: ServedQuery,
  gone: AbortSignal,
): Promise<FlagServings> {
  const wanted: Wanted = { key, project: query.project, distinctId: query.distinct_id, value: valueIn(query.value) };
  const { wait_ms: wait = 0, limit = defaultLimit } = query;
  const served = await collect(log, index, wanted, { wait, limit, gone });
  return { key, fits: served.some((it) => fits(it, wanted)), served };
}
