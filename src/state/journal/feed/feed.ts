import { stackOf } from "../../../kernel/base/errors.ts";
import type { Subscription } from "./client-frames.ts";
import { type Common, FeedSession } from "./feed-session.ts";
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
import { type Batch, batchAfter, bytesOf, Recent } from "./recent.ts";

export interface FeedOptions {
  readonly journal: Journal;
  readonly read: FilterReaders;
  /** The time of the sim's clock, ms. */
  now(): number;
  stat(): Omit<Stat, "pages">;
  /** The token that a client must send; null: none. */
  readonly token: string | null;
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

/** The live feed of requests and events (frames.ts). It makes only rows that a client has subscribed to. */
export class Feed implements Common {
  readonly #options: FeedOptions;
  readonly timer: Timer;
  readonly #sessions = new Set<FeedSession>();
  readonly #shared = new Map<string, Batch>();
  readonly #recent: Recent;
  readonly #stopVeiled: () => void;
  #epoch: string;
  /** Undefined until every session has received a stat. */
  #lastStat: Stat | undefined;
  #roundAt = Number.NEGATIVE_INFINITY;
  #isRoundDue = false;
  #isClosed = false;
  #cancelTick = () => {};

  constructor(options: FeedOptions) {
    const { journal, timer = machineTimer, makeEpoch } = options;
    this.#options = options;
    this.timer = timer;
    this.#recent = new Recent(journal, () => this.#roundSoon());
    this.#epoch = makeEpoch();
    this.#stopVeiled = journal.onVeiled((project) => {
      this.#epoch = makeEpoch();
      this.#shared.clear();
      this.#recent.begin();
      for (const session of this.#sessions) session.reset(project);
    });
  }

  get epoch(): string {
    return this.#epoch;
  }

  get cursor(): number {
    return this.#options.journal.last;
  }

  get last(): number {
    return this.#recent.last;
  }

  get oldest(): number {
    return this.#recent.oldest;
  }

  get newest(): number {
    return Math.max(this.cursor, this.last);
  }

  get token(): string | null {
    return this.#options.token;
  }

  get read(): FilterReaders {
    return this.#options.read;
  }

  stat(): Stat {
    return { ...this.#options.stat(), pages: this.#sessions.size };
  }

  notice(text: string): void {
    this.#options.notice(text);
  }

  batchAfter(cursor: number, subscription: Subscription): Batch {
    const key = `${cursor} ${subscription.key}`;
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const batch = batchAfter(cursor, this.#recent, subscription, this.#options.now());
    if (this.#sessions.size > 1 && this.#shared.size < mostShared) this.#shared.set(key, batch);
    return batch;
  }

  attend(): void {
    const needs = [...this.#sessions].flatMap((it) => it.needs ?? []);
    this.#recent.attend({ events: needs.some((it) => it.events), requests: needs.some((it) => it.requests) });
  }

  leave(session: FeedSession): void {
    this.#sessions.delete(session);
    this.attend();
    if (this.#sessions.size > 0) return;
    this.#cancelTick();
    this.#shared.clear();
  }

  connect(wire: FeedConnection): Session {
    if (this.#isClosed) {
      wire.close(goingAway, "the sim is closing");
      return noSession;
    }
    const session = new FeedSession(this, wire);
    if (this.#sessions.size >= limits.pages) {
      session.end(closing.too_many_pages, `more than ${limits.pages} pages`);
      return noSession;
    }
    if (this.#sessions.size === 0) {
      this.#lastStat = undefined;
      this.#tickLater();
    }
    this.#sessions.add(session);
    return session;
  }

  /** Ends the sessions; their connections are closed by the server. */
  close(): void {
    this.#isClosed = true;
    this.#stopVeiled();
    for (const session of this.#sessions) session.gone();
  }

  #round(): void {
    this.#isRoundDue = false;
    this.#roundAt = this.timer.now();
    this.#shared.clear();
    for (const session of this.#sessions) session.pump();
  }

  /** After silence, a round begins at once. */
  #roundSoon(): void {
    if (this.#isRoundDue) return;
    this.#isRoundDue = true;
    const wait = this.#roundAt + limits.round - this.timer.now();
    if (wait <= 0) this.timer.soon(() => this.#round());
    else this.timer.after(wait, () => this.#round());
  }

  #sendStat(): void {
    const stat = this.stat();
    if (!isNews(stat, this.#lastStat)) return;
    const frame = bytesOf({ t: "stat", stat });
    const sent = Array.from(this.#sessions, (it) => it.send(frame));
    // sessions without room get it with a later tick
    this.#lastStat = sent.every(Boolean) ? stat : undefined;
  }

  #tickLater(): void {
    this.#cancelTick = this.timer.after(limits.tick, () => this.#tick());
  }

  #tick(): void {
    for (const session of this.#sessions) session.check();
    if (this.#sessions.size === 0) return;
    this.#tickLater();
    try {
      this.#sendStat();
    } catch (error) {
      // nothing else catches it, and a bug in the feed must not end the sim
      this.notice(`the feed cannot report the state of the sim: ${stackOf(error)}`);
    }
  }
}

const goingAway = 1001;
