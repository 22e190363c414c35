import { stackOf } from "../../base/stack-of.ts";
import { type Batch, batchAfter, bytesOf } from "./batch.ts";
import { closing, type Stat } from "./frames.ts";
import { limits } from "./limits.ts";
import {
  type FilterReaders,
  type Journal,
  machineTimer,
  type Session,
  type Timer,
  type Wire,
} from "./ports.ts";
import { type Common, createSession, type FeedSession } from "./session.ts";
import { isNews } from "./stat-news.ts";
import type { Subscription } from "./subscription.ts";
import { createTail } from "./tail.ts";

export interface FeedOptions {
  readonly journal: Journal;
  readonly read: FilterReaders;
  /** The time of the sim's clock, by which arrivals are stamped, ms. */
  now(): number;
  /** How the sim is; `pages` is the feed's to say. */
  stat(): Omit<Stat, "pages">;
  /** What a client must know; null: nothing. */
  readonly token: string | null;
  /** Names a past; never the same twice. */
  makeEpoch(): string;
  notice(text: string): void;
  readonly timer?: Timer;
}

/** The live feed of requests and events (frames.ts). Nothing is made for it that nobody has asked for. */
export interface Feed {
  /** Which past is shown: cursors of another one mean nothing. */
  readonly epoch: string;
  /** Number of the newest request. */
  readonly cursor: number;
  connect(wire: Wire): Session;
  /** Lets go of everything; the doors close the connections. */
  close(): void;
}

/** Frames that clients at the same place share, until the next round. */
const mostShared = 16;

const nobody: Session = { receive() {}, gone() {} };

export function createFeed(options: FeedOptions): Feed {
  const { journal, timer = machineTimer, makeEpoch } = options;
  const sessions = new Set<FeedSession>();
  const shared = new Map<string, Batch>();
  const tail = createTail(journal, () => roundSoon());
  let epoch = makeEpoch();
  let told: Stat | undefined;
  let roundAt = Number.NEGATIVE_INFINITY;
  let isRoundDue = false;
  let isClosed = false;
  let cancelTick = () => {};

  const statNow = (): Stat => ({ ...options.stat(), pages: sessions.size });

  function sharedBatch(cursor: number, subscription: Subscription): Batch {
    const key = `${cursor} ${subscription.key}`;
    const known = shared.get(key);
    if (known !== undefined) return known;
    const batch = batchAfter(cursor, tail, subscription, options.now());
    if (sessions.size > 1 && shared.size < mostShared) shared.set(key, batch);
    return batch;
  }

  const common: Common = {
    get epoch() {
      return epoch;
    },
    get last() {
      return tail.last;
    },
    get oldest() {
      return tail.oldest;
    },
    get newest() {
      return Math.max(journal.last, tail.last);
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
      if (sessions.size === 0) rest();
    },
    notice: options.notice,
  };

  /** Makes what the sessions need, and no more. */
  function attend(): void {
    const needs = [...sessions].flatMap((it) => it.needs ?? []);
    tail.attend({ events: needs.some((it) => it.events), requests: needs.some((it) => it.requests) });
  }

  function round(): void {
    isRoundDue = false;
    roundAt = timer.now();
    shared.clear();
    for (const session of sessions) session.pump();
  }

  /** The first after silence goes out at once. */
  function roundSoon(): void {
    if (isRoundDue) return;
    isRoundDue = true;
    const wait = roundAt + limits.round - timer.now();
    if (wait <= 0) timer.soon(round);
    else timer.after(wait, round);
  }

  function tellStat(): void {
    const stat = statNow();
    if (!isNews(stat, told)) return;
    const frame = bytesOf({ t: "stat", stat });
    const taken = Array.from(sessions, (it) => it.tell(frame));
    // who took nothing is told with a later look
    told = taken.every(Boolean) ? stat : undefined;
  }

  function tick(): void {
    for (const session of sessions) session.look();
    if (sessions.size === 0) return;
    cancelTick = timer.after(limits.tick, tick);
    try {
      tellStat();
    } catch (error) {
      // nobody else would catch it, and a mistake of ours must not end the sim
      options.notice(`the feed cannot tell how the sim is: ${stackOf(error)}`);
    }
  }

  function wake(): void {
    told = undefined;
    cancelTick = timer.after(limits.tick, tick);
  }

  function rest(): void {
    cancelTick();
    shared.clear();
  }

  const unveil = journal.onVeiled((project) => {
    epoch = makeEpoch();
    shared.clear();
    tail.begin();
    for (const session of sessions) session.reset(project);
  });

  return {
    get epoch() {
      return epoch;
    },
    get cursor() {
      return journal.last;
    },
    connect(wire) {
      if (isClosed) {
        wire.close(goingAway, "the sim is closing");
        return nobody;
      }
      const session = createSession(common, wire);
      if (sessions.size >= limits.pages) {
        session.end(closing.too_many_pages, `more than ${limits.pages} pages`);
        return nobody;
      }
      if (sessions.size === 0) wake();
      sessions.add(session);
      return session;
    },
    close() {
      isClosed = true;
      unveil();
      for (const session of sessions) session.gone();
    },
  };
}

/** The code of the protocol for a server that goes down. */
const goingAway = 1001;
