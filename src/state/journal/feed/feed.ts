import { stackOf } from "../../../kernel/base/errors.ts";
import { type Batch, batchAfter, bytesOf } from "./batch.ts";
import type { Subscription } from "./client-frames.ts";
import { type Common, createSession, type FeedSession } from "./feed-session.ts";
import { closing, type Stat } from "./frames.ts";
import {
  type FeedConnection,
  type FilterReaders,
  type Journal,
  limits,
  machineTimer,
  type Session,
  type Timer,
} from "./ports.ts";
import { createRecent } from "./recent.ts";

export interface FeedOptions {
  readonly journal: Journal;
  readonly read: FilterReaders;
  /** The time of the sim's clock, ms. */
  now(): number;
  /** The state of the sim; the feed adds `pages`. */
  stat(): Omit<Stat, "pages">;
  /** The token that a client must send; null: none. */
  readonly token: string | null;
  /** Returns a new name each time. */
  makeEpoch(): string;
  notice(text: string): void;
  readonly timer?: Timer;
}

/** Frames that clients at the same position share, until the next round. */
const mostShared = 16;

/** Difference between the sim's clock and the machine's that is not reported while the clock runs, ms. */
const jitter = 500;

const distance = ({ at, clock }: Stat): number => (clock.frozen ? clock.now : clock.now - at);

const withoutTime = ({ at: _, clock, ...rest }: Stat): string => JSON.stringify([rest, clock.frozen, clock.real]);

/** True if the stat differs from the last one by more than the passage of time. */
const isNews = (stat: Stat, last: Stat | undefined): boolean =>
  last === undefined ||
  withoutTime(stat) !== withoutTime(last) ||
  Math.abs(distance(stat) - distance(last)) > (stat.clock.frozen ? 0 : jitter);

const noSession: Session = { receive() {}, gone() {} };

export function createFeed(options: FeedOptions) {
  const { journal, timer = machineTimer, makeEpoch } = options;
  const sessions = new Set<FeedSession>();
  const shared = new Map<string, Batch>();
  const recent = createRecent(journal, () => roundSoon());
  let epoch = makeEpoch();
  /** Undefined until every session has received a stat. */
  let lastStat: Stat | undefined;
  let roundAt = Number.NEGATIVE_INFINITY;
  let isRoundDue = false;
  let isClosed = false;
  let cancelTick = () => {};

  const statNow = (): Stat => ({ ...options.stat(), pages: sessions.size });

  function sharedBatch(cursor: number, subscription: Subscription): Batch {
    const key = `${cursor} ${subscription.key}`;
    const known = shared.get(key);
    if (known !== undefined) return known;
    const batch = batchAfter(cursor, recent, subscription, options.now());
    if (sessions.size > 1 && shared.size < mostShared) shared.set(key, batch);
    return batch;
  }

  const common: Common = {
    get epoch() {
      return epoch;
    },
    get last() {
      return recent.last;
    },
    get oldest() {
      return recent.oldest;
    },
    get newest() {
      return Math.max(journal.last, recent.last);
    },
    token: options.token,
    read: options.read,
    timer,
    stat: statNow,
    batchAfter: sharedBatch,
    attend,
    leave(session) {
      sessions.delete(session);
      attend();
      if (sessions.size > 0) return;
      cancelTick();
      shared.clear();
    },
    notice: options.notice,
  };

  /** Makes the rows that the sessions need, and no more. */
  function attend(): void {
    const needs = [...sessions].flatMap((it) => it.needs ?? []);
    recent.attend({ events: needs.some((it) => it.events), requests: needs.some((it) => it.requests) });
  }

  function round(): void {
    isRoundDue = false;
    roundAt = timer.now();
    shared.clear();
    for (const session of sessions) session.pump();
  }

  /** After silence, a round begins at once. */
  function roundSoon(): void {
    if (isRoundDue) return;
    isRoundDue = true;
    const wait = roundAt + limits.round - timer.now();
    if (wait <= 0) timer.soon(round);
    else timer.after(wait, round);
  }

  function sendStat(): void {
    const stat = statNow();
    if (!isNews(stat, lastStat)) return;
    const frame = bytesOf({ t: "stat", stat });
    const sent = Array.from(sessions, (it) => it.send(frame));
    // sessions without room get it with a later tick
    lastStat = sent.every(Boolean) ? stat : undefined;
  }

  function tick(): void {
    for (const session of sessions) session.check();
    if (sessions.size === 0) return;
    cancelTick = timer.after(limits.tick, tick);
    try {
      sendStat();
    } catch (error) {
      // nothing else catches it, and a bug in the feed must not end the sim
      options.notice(`the feed cannot report the state of the sim: ${stackOf(error)}`);
    }
  }

  const stopVeiled = journal.onVeiled((project) => {
    epoch = makeEpoch();
    shared.clear();
    recent.begin();
    for (const session of sessions) session.reset(project);
  });

  return {
    /** Names the history that is shown: cursors of another epoch mean nothing. */
    get epoch() {
      return epoch;
    },
    get cursor() {
      return journal.last;
    },
    connect(wire: FeedConnection) {
      if (isClosed) {
        wire.close(goingAway, "the sim is closing");
        return noSession;
      }
      const session = createSession(common, wire);
      if (sessions.size >= limits.pages) {
        session.end(closing.too_many_pages, `more than ${limits.pages} pages`);
        return noSession;
      }
      if (sessions.size === 0) {
        lastStat = undefined;
        cancelTick = timer.after(limits.tick, tick);
      }
      sessions.add(session);
      return session;
    },
    /** Ends the sessions; their connections are closed by the server. */
    close() {
      isClosed = true;
      stopVeiled();
      for (const session of sessions) session.gone();
    },
  };
}

/** The live feed of requests and events (frames.ts). It makes only rows that a client has subscribed to. */
export type Feed = ReturnType<typeof createFeed>;

/** The websocket code of a server that shuts down. */
const goingAway = 1001;
