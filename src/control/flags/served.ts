import type { Call } from "../../http/call.ts";
import { json, type Reply } from "../../http/reply.ts";
import { SimError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import type { TrafficLine } from "../../model/traffic.ts";
import { queryNumber } from "../body.ts";
import type { ControlDesk } from "../desk.ts";
import type { FlagServing, FlagServings } from "./answers.ts";
import { distinctIdOf, flagsBody } from "./asked.ts";
import { flagsIn } from "./decided.ts";
import { type DecisionBook, flagRequests } from "./decision-book.ts";
import { usesIn } from "./decision-lines.ts";

const most = Number.MAX_SAFE_INTEGER;
const longestWait = 60_000;
const defaultLimit = 20;

/** Which servings of a flag are asked for; absent keys do not restrict. */
interface Wish {
  readonly key: string;
  readonly project: number | undefined;
  readonly distinctId: string | undefined;
  /** The value it must have had for the wait to be over; any but "not there" when absent. */
  readonly value: boolean | string | undefined;
}

/** The value of a flag in an answer of any version; null where the answer does not have it. */
const servedValue = (reply: Json | undefined, key: string): boolean | string | null =>
  flagsIn(reply).find((it) => it.key === key)?.value ?? null;

function answered(line: TrafficLine, key: string): FlagServing | undefined {
  const body = flagsBody(line);
  if (!body) return undefined;
  return {
    by: "answer",
    at: new Date(line.at).toISOString(),
    request: line.n,
    seq: null,
    project: line.project,
    distinct_id: distinctIdOf(body),
    value: line.rejected || line.status !== 200 ? null : servedValue(line.reply, key),
    status: line.status,
    fault: line.fault ?? null,
  };
}

/** SDKs that evaluate flags locally report it with an event. */
const evaluatedLocally = (line: TrafficLine, key: string): FlagServing[] =>
  usesIn(line)
    .filter(({ isLocal, call }) => isLocal && call.key === key)
    .map(({ call: { at, seq, response }, distinctId }) => ({
      by: "local_evaluation" as const,
      at,
      request: line.n,
      seq,
      project: line.project,
      distinct_id: distinctId,
      value: response,
      status: line.status,
      fault: line.fault ?? null,
    }))
    .toReversed();

const inScope = (serving: FlagServing, { project, distinctId }: Wish): boolean =>
  (project === undefined || serving.project === project) &&
  (distinctId === undefined || serving.distinct_id === distinctId);

function servingsIn(desk: ControlDesk, n: number, wish: Wish): FlagServing[] {
  const line = desk.log.line(n);
  if (!line) return [];
  const answer = answered(line, wish.key);
  return [...(answer ? [answer] : []), ...evaluatedLocally(line, wish.key)].filter((it) => inScope(it, wish));
}

const fits = ({ value }: FlagServing, wish: Wish): boolean =>
  wish.value === undefined ? value !== null : value === wish.value;

/** What was served up to now, newest first. Stops at the first that fits, or at `limit`. */
async function lookBack(
  desk: ControlDesk,
  book: DecisionBook,
  wish: Wish,
  limit: number,
): Promise<FlagServing[]> {
  const found: FlagServing[] = [];
  // Of any flag: an answer without it is listed, too.
  const mayHold = await book.finder({ key: undefined, distinctId: wish.distinctId });
  const within = wish.project === undefined ? {} : { project: wish.project };
  for await (const n of flagRequests(desk.log, within, mayHold)) {
    found.push(...servingsIn(desk, n, wish));
    if (found.some((it) => fits(it, wish)) || found.length >= limit) break;
  }
  return found;
}

/** Waits for a serving that fits; what comes besides is collected. Listening starts before the look back. */
async function collect(
  desk: ControlDesk,
  book: DecisionBook,
  wish: Wish,
  { wait, limit, gone }: { wait: number; limit: number; gone: AbortSignal },
) {
  const ended = new AbortController();
  const later: FlagServing[] = [];
  const stop = desk.log.subscribe(({ n }) => {
    later.unshift(...servingsIn(desk, n, wish));
    later.length = Math.min(later.length, limit);
    if (later.some((it) => fits(it, wish))) ended.abort();
  });
  const timer = setTimeout(() => ended.abort(), wait);
  try {
    const earlier = await lookBack(desk, book, wish, limit);
    if (!earlier.some((it) => fits(it, wish))) await over(AbortSignal.any([ended.signal, gone]));
    const known = new Set(later.map((it) => `${it.request}/${it.seq}`));
    return [...later, ...earlier.filter((it) => !known.has(`${it.request}/${it.seq}`))].slice(0, limit);
  } finally {
    stop();
    clearTimeout(timer);
  }
}

const over = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      });

/** `true`, `false`, or a variant's name; also as a JSON string, for a variant called "true". */
function valueGiven(call: Call): boolean | string | undefined {
  const text = call.query.get("value");
  if (text === null || text === "") return undefined;
  if (text === "true" || text === "false") return text === "true";
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch (cause) {
    throw new SimError("invalid_input", '"value" must be true, false or a variant', {
      pointer: "?value",
      cause,
    });
  }
}

/**
 * What a flag was in the answers that clients got, newest first, and in the evaluations that SDKs made by
 * themselves; `fits` tells whether one has the value that was asked for.
 */
export const served =
  (book: DecisionBook) =>
  async (desk: ControlDesk, call: Call): Promise<Reply> => {
    const wish: Wish = {
      key: call.params.key ?? "",
      project: queryNumber(call, "project", { min: 0, max: most }),
      distinctId: call.query.get("distinct_id") ?? undefined,
      value: valueGiven(call),
    };
    const wait = queryNumber(call, "wait_ms", { min: 0, max: longestWait }) ?? 0;
    const limit = queryNumber(call, "limit", { min: 1, max: 1_000 }) ?? defaultLimit;
    const servings = await collect(desk, book, wish, { wait, limit, gone: call.signal });
    const answer: FlagServings = {
      key: wish.key,
      fits: servings.some((it) => fits(it, wish)),
      served: servings,
    };
    return json({ ...answer });
  };
