import { setTimeout as pause } from "node:timers/promises";
import { callSim } from "../../cli/ask-sim.ts";
import type { Ending } from "../../cli/command.ts";
import { Failure } from "../../cli/failure.ts";
import type { Running } from "../../cli/running-sim.ts";
import { untilSignal } from "../../cli/signals.ts";
import type { StoredEvent } from "../../index.ts";
import { queryText } from "./query-text.ts";

type Query = Parameters<typeof queryText>[0];

/** The sim holds an answer back so long when there is nothing to tell, ms. */
const holdMs = 20_000;

/** After an empty answer that came at once: a sim that does not hold answers back is not to be hurried, ms. */
const breathMs = 500;

interface Page {
  readonly events: readonly StoredEvent[];
  readonly cursor: number;
}

/**
 * Hands on events as they come, from `query.since` (default: now) on, until a signal comes or nobody reads.
 * @throws Failure no_sim when the sim goes away
 */
export async function followEvents(
  running: Running,
  query: Query,
  tell: (events: readonly StoredEvent[]) => void,
): Promise<Ending> {
  const ended = new AbortController();
  const signal = untilSignal(process, (again) => process.kill(process.pid, again));
  const unread = new Promise<"ok">((resolve) => {
    process.stdout.on("error", () => resolve("ok"));
  });
  const followed = follow(running, query, tell, ended.signal);
  try {
    return await Promise.race([signal, unread, followed]);
  } finally {
    ended.abort();
  }
}

async function follow(
  running: Running,
  query: Query,
  tell: (events: readonly StoredEvent[]) => void,
  ended: AbortSignal,
): Promise<never> {
  let since = Number(query.since ?? running.info.cursor ?? 0);
  for (;;) {
    const asked = performance.now();
    const page = await nextPage(running, { ...query, since, wait_ms: holdMs });
    if (ended.aborted) return new Promise(() => {});
    since = page.cursor;
    if (page.events.length > 0) tell(page.events);
    else if (performance.now() - asked < breathMs) await pause(breathMs);
  }
}

async function nextPage(running: Running, query: Query): Promise<Page> {
  try {
    return await callSim<Page>(running, "GET", `events${queryText(query)}`, undefined, 2 * holdMs);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== "no_sim") throw error;
    throw new Failure("no_sim", `the sim at ${running.url} is gone`, error);
  }
}
