import { type Batch, batchAfter, bytesOf } from "./batch.ts";
import { closing, type Stat } from "./frames.ts";
import { type Held, holdEntry } from "./held.ts";
import { limits } from "./limits.ts";
import {
  type FilterReaders,
  type Journal,
  machineTimer,
  type Session,
  type Timer,
  type Wire,
} from "./ports.ts";
import { createRing } from "./ring.ts";
import { type Common, createSession, type FeedSession } from "./session.ts";
import { isNews } from "./stat-news.ts";
import type { Subscription } from "./subscription.ts";

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

/** The live feed of requests and events (frames.ts). Nothing is made for it while nobody is connected. */
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
  const ring = createRing(limits.ring, journal.last);
  let epoch = makeEpoch();
  let told: Stat | undefined;
  let roundAt = Number.NEGATIVE_INFINITY;
  let isRoundDue = false;
  let isClosed = false;
  let rest = () => {};

  const statNow = (): Stat => ({ ...options.stat(), pages: sessions.size });

  /** From the ring; what came before it was begun is read again. */
  function heldAt(n: number): Held | undefined {
    if (n >= ring.begun) return ring.at(n);
    const entry = journal.read(n);
    return entry && holdEntry(entry);
  }

  const source = {
    journal,
    get last() {
      return ring.last;
    },
    at: heldAt,
  };

  function sharedBatch(cursor: number, subscription: Subscription): Batch {
    const key = `${cursor} ${subscription.key}`;
    const known = shared.get(key);
    if (known !== undefined) return known;
    const batch = batchAfter(cursor, source, subscription, options.now());
    if (sessions.size > 1 && shared.size < mostShared) shared.set(key, batch);
    return batch;
  }

  const common: Common = {
    get epoch() {
      return epoch;
    },
    get last() {
      return ring.last;
    },
    get oldest() {
      return ring.first > ring.begun ? ring.first : Math.max(1, ring.begun - limits.readBack);
    },
    get newest() {
      return Math.max(journal.last, ring.last);
    },
    token: options.token,
    read: options.read,
    timer,
    stat: statNow,
    batchAfter: sharedBatch,
    leave(session) {
      sessions.delete(session);
      if (sessions.size === 0) rest();
    },
    notice: options.notice,
  };

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

  function tick(): void {
    for (const session of sessions) session.look();
    if (sessions.size === 0) return;
    const stat = statNow();
    if (isNews(stat, told)) {
      told = stat;
      const frame = bytesOf({ t: "stat", stat });
      for (const session of sessions) session.tell(frame);
    }
    cancelTick = timer.after(limits.tick, tick);
  }

  let cancelTick = () => {};

  function wake(): void {
    ring.begin(journal.last);
    const stop = journal.onEntry((entry) => {
      // it was read again for whoever asked
      if (entry.n <= ring.last) return;
      ring.push(holdEntry(entry));
      roundSoon();
    });
    told = undefined;
    cancelTick = timer.after(limits.tick, tick);
    rest = () => {
      stop();
      cancelTick();
      shared.clear();
      ring.begin(journal.last);
      rest = () => {};
    };
  }

  const unveil = journal.onVeiled((project) => {
    epoch = makeEpoch();
    shared.clear();
    ring.begin(journal.last);
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
      rest();
      sessions.clear();
    },
  };
}

/** The code of the protocol for a server that goes down. */
const goingAway = 1001;
