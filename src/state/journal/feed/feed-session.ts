import { stackOf } from "../../../kernel/base/errors.ts";
import { readFrame, readSubscription, type Subscribe, type Subscription } from "./client-frames.ts";
import { closing, protocol, type SimFrame, type Stat } from "./frames.ts";
import { type FeedConnection, type FilterReaders, type Kinds, limits, type Session, type Timer } from "./ports.ts";
import { type Batch, bytesOf } from "./recent.ts";

export interface Common {
  readonly epoch: string;
  readonly oldest: number;
  readonly last: number;
  readonly newest: number;
  readonly token: string | null;
  readonly read: FilterReaders;
  readonly timer: Timer;
  stat(): Stat;
  batchAfter(cursor: number, subscription: Subscription): Batch;
  attend(): void;
  leave(session: FeedSession): void;
  notice(text: string): void;
}

/** Lets `perSecond` messages through in a second, and as many at once after silence. */
function createAllowance(perSecond: number, { now }: Timer): () => boolean {
  let left = perSecond;
  let at = now();
  return () => {
    const time = now();
    left = Math.min(perSecond, left + ((time - at) / 1000) * perSecond);
    at = time;
    if (left < 1) return false;
    left--;
    return true;
  };
}

/** Sends frames without a queue of its own. */
class Outlet {
  readonly #wire: FeedConnection;
  readonly #timer: Timer;
  readonly #onSent: () => void;
  #progressAt: number;
  #waiting = 0;

  constructor(wire: FeedConnection, timer: Timer, onSent: () => void) {
    this.#wire = wire;
    this.#timer = timer;
    this.#onSent = onSent;
    this.#progressAt = timer.now();
  }

  send(bytes: Buffer): void {
    if (this.#wire.buffered() === 0) this.#progressAt = this.#timer.now();
    this.#wire.send(bytes, () => {
      this.#progressAt = this.#timer.now();
      this.#onSent();
    });
  }

  sendFrame(frame: SimFrame): void {
    this.send(bytesOf(frame));
  }

  hasRoom(): boolean {
    return this.#wire.buffered() < limits.buffered;
  }

  isStalled(): boolean {
    const now = this.#wire.buffered();
    if (now === 0 || now < this.#waiting) this.#progressAt = this.#timer.now();
    this.#waiting = now;
    return this.#timer.now() - this.#progressAt > limits.stalled;
  }
}

interface Position {
  readonly subscription: Subscription;
  cursor: number;
  /** True if it came with a cursor of its own, and has not received all that it missed. */
  isBack: boolean;
}

type CloseFrame = readonly [code: number, message: string];

/** Where the rows continue; `reset`: the client's own cursor means nothing here. */
function startOf({ epoch, cursor }: Subscribe, common: Common): { cursor: number; reset: boolean } {
  if (epoch === common.epoch && cursor !== undefined && cursor <= common.newest) return { cursor, reset: false };
  const isOther = epoch !== undefined && epoch !== common.epoch;
  return { cursor: common.last, reset: isOther || cursor !== undefined };
}

const concerns = ({ project: own }: Subscription, project: number | null): boolean =>
  project === null || own === undefined || own === project;

export class FeedSession implements Session {
  readonly #common: Common;
  readonly #wire: FeedConnection;
  readonly #outlet: Outlet;
  readonly #mayReceive: () => boolean;
  readonly #mayReset: () => boolean;
  readonly #cancelHello: () => void;
  /** True if there was more than the connection took. Otherwise new rows wait for the next round, for few frames. */
  #isBehind = false;
  #isOpen = true;
  #isGreeted = false;
  #position: Position | undefined;
  #pendingReset: { project: number | null } | undefined;
  #isPumpDue = false;

  constructor(common: Common, wire: FeedConnection) {
    const { timer } = common;
    this.#common = common;
    this.#wire = wire;
    this.#mayReceive = createAllowance(limits.messages, timer);
    this.#mayReset = createAllowance(limits.resets, timer);
    this.#outlet = new Outlet(wire, timer, () => {
      if (this.#isBehind) this.pump();
    });
    this.#cancelHello = timer.after(limits.hello, () => this.end(closing.bad_frame, "no hello in time"));
  }

  get needs(): Kinds | undefined {
    return this.#position?.subscription.needs;
  }

  gone(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#position = undefined;
    this.#cancelHello();
    this.#common.leave(this);
  }

  end(code: number, message: string): void {
    if (!this.#isOpen) return;
    this.#outlet.sendFrame({ t: "bye", code, message });
    this.gone();
    this.#wire.close(code, message);
  }

  #greet(token: string | undefined): CloseFrame | undefined {
    const { token: expected, epoch } = this.#common;
    if (this.#isGreeted) return [closing.bad_frame, "hello was said before"];
    if (expected !== null && token !== expected) return [closing.token_required, tokenMissing];
    this.#isGreeted = true;
    this.#cancelHello();
    this.#outlet.sendFrame({ t: "hello", v: protocol, epoch, stat: this.#common.stat() });
    return undefined;
  }

  #subscribe(frame: Subscribe): void {
    const { id } = frame;
    const subscription = readSubscription(frame, this.#common.read);
    if (!("key" in subscription)) {
      for (const refusal of subscription) this.#outlet.sendFrame({ t: "refused", id, ...refusal });
      return;
    }
    const { cursor, reset } = startOf(frame, this.#common);
    const { needs } = subscription;
    const isNothing = !needs.events && !needs.requests;
    this.#position = isNothing ? undefined : { subscription, cursor, isBack: cursor === frame.cursor };
    this.#common.attend();
    this.#outlet.sendFrame({ t: "subscribed", id, epoch: this.#common.epoch, cursor, reset });
    this.#pump();
  }

  #handle(message: string | null): CloseFrame | undefined {
    if (!this.#mayReceive()) return [closing.too_many_messages, `more than ${limits.messages} messages a second`];
    const reading = readFrame(message);
    if ("problem" in reading) return [closing.bad_frame, reading.problem];
    const { frame } = reading;
    if (frame.t === "hello") return this.#greet(frame.token);
    if (!this.#isGreeted) return [closing.bad_frame, "hello must be said first"];
    this.#subscribe(frame);
    return undefined;
  }

  receive(message: string | null): void {
    this.#guarded(() => {
      const close = this.#handle(message);
      if (close !== undefined) this.end(...close);
    });
  }

  #sendReset(): void {
    if (this.#pendingReset === undefined || !this.#outlet.hasRoom() || !this.#mayReset()) return;
    this.#outlet.sendFrame({ t: "reset", epoch: this.#common.epoch, ...this.#pendingReset });
    this.#pendingReset = undefined;
  }

  #sendMore(at: Position): void {
    const { oldest } = this.#common;
    if (at.cursor + 1 < oldest) {
      const to = oldest - 1;
      this.#outlet.sendFrame({ t: "gap", from: at.cursor + 1, to, why: at.isBack ? "old" : "slow" });
      at.cursor = to;
      return;
    }
    const { bytes, to } = this.#common.batchAfter(at.cursor, at.subscription);
    at.cursor = to;
    this.#outlet.send(bytes);
  }

  #hasMore(position: Position | undefined): position is Position {
    return position !== undefined && position.cursor < this.#common.last;
  }

  pump(): void {
    this.#guarded(() => this.#pump());
  }

  #pump(): void {
    const { timer } = this.#common;
    this.#sendReset();
    const until = timer.now() + limits.turn;
    while (this.#isOpen && this.#hasMore(this.#position) && this.#outlet.hasRoom()) {
      if (timer.now() > until) {
        this.#pumpSoon();
        return;
      }
      this.#sendMore(this.#position);
    }
    this.#isBehind = this.#pendingReset !== undefined || this.#hasMore(this.#position);
    if (!this.#isBehind && this.#position !== undefined) this.#position.isBack = false;
  }

  #pumpSoon(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    this.#common.timer.soon(() => {
      this.#isPumpDue = false;
      this.pump();
    });
  }

  /** A bug in the feed must not end the sim. */
  #guarded(work: () => void): void {
    try {
      if (this.#isOpen) work();
    } catch (error) {
      this.#common.notice(`the feed failed: ${stackOf(error)}`);
      this.end(internalError, "a bug in phx-sim");
    }
  }

  /** Sends a frame to a client that sent hello. Returns false if the connection has no room. */
  send(frame: Buffer): boolean {
    if (!this.#isOpen || !this.#isGreeted) return true;
    const hasRoom = this.#outlet.hasRoom();
    if (hasRoom) this.#outlet.send(frame);
    return hasRoom;
  }

  /** Rows of a project or (null) of all were hidden or became visible: the client must read them again. */
  reset(project: number | null): void {
    if (!this.#isGreeted) return;
    const position = this.#position;
    const isOther = this.#pendingReset !== undefined && this.#pendingReset.project !== project;
    this.#pendingReset = { project: isOther ? null : project };
    if (position !== undefined && concerns(position.subscription, project)) position.cursor = this.#common.newest;
    this.pump();
  }

  /** Disconnects a stalled client, and sends a pending reset. */
  check(): void {
    if (this.#outlet.isStalled()) this.end(closing.stalled, "nothing was taken for 30 s");
    else if (this.#pendingReset !== undefined) this.pump();
  }
}

const tokenMissing = "the feed is open to the network and needs its token";
const internalError = 1011;
