import { stackOf } from "../../../kernel/base/errors.ts";
import { type Batch, bytesOf } from "./batch.ts";
import { readFrame, readSubscription, type Subscribe, type Subscription } from "./client-frames.ts";
import { closing, protocol, type SimFrame, type Stat } from "./frames.ts";
import { type FeedConnection, type FilterReaders, type Kinds, limits, type Session, type Timer } from "./ports.ts";

export interface Common {
  readonly epoch: string;
  /** The oldest request that can be sent, and the newest. */
  readonly oldest: number;
  readonly last: number;
  /** The newest request of the journal; it may not be written yet. */
  readonly newest: number;
  readonly token: string | null;
  readonly read: FilterReaders;
  readonly timer: Timer;
  stat(): Stat;
  batchAfter(cursor: number, subscription: Subscription): Batch;
  /** A session needs other rows than before. */
  attend(): void;
  leave(session: FeedSession): void;
  notice(text: string): void;
}

export interface FeedSession extends Session {
  /** The kinds of rows that it needs; undefined: none. */
  readonly needs: Kinds | undefined;
  /** Sends what is new, as far as the connection takes it. */
  pump(): void;
  /** Sends a frame to a client that sent hello. Returns false if the connection has no room. */
  send(frame: Buffer): boolean;
  /** Rows of a project or (null) of all were hidden or became visible: the client must read them again. */
  reset(project: number | null): void;
  /** Disconnects a stalled client, and sends a pending reset. */
  check(): void;
  /** Sends `bye` and disconnects. */
  end(code: number, message: string): void;
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

/** Sends frames without a queue of its own. @param onSent Called whenever the system has taken a frame */
function createOutlet(wire: FeedConnection, timer: Timer, onSent: () => void) {
  let progressAt = timer.now();
  let waiting = 0;
  const progress = () => {
    progressAt = timer.now();
  };
  const sent = () => {
    progress();
    onSent();
  };
  function send(bytes: Buffer): void {
    if (wire.buffered() === 0) progress();
    wire.send(bytes, sent);
  }
  return {
    send,
    sendFrame: (frame: SimFrame) => send(bytesOf(frame)),
    hasRoom: () => wire.buffered() < limits.buffered,
    /** True if the client received nothing for too long; called regularly. */
    isStalled() {
      const now = wire.buffered();
      if (now === 0 || now < waiting) progress();
      waiting = now;
      return timer.now() - progressAt > limits.stalled;
    },
  };
}

interface Position {
  readonly subscription: Subscription;
  /** Everything up to this request was sent. */
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

/** True if the subscription has rows of this project, or (null) of any. */
const concerns = ({ project: own }: Subscription, project: number | null): boolean =>
  project === null || own === undefined || own === project;

/** Serves one client. */
export function createSession(common: Common, wire: FeedConnection): FeedSession {
  const { timer } = common;
  const mayReceive = createAllowance(limits.messages, timer);
  const mayReset = createAllowance(limits.resets, timer);
  /** True if there was more than the connection took. Otherwise new rows wait for the next round, for few frames. */
  let isBehind = false;
  const outlet = createOutlet(wire, timer, () => {
    if (isBehind) guarded(pump);
  });
  let isOpen = true;
  let isGreeted = false;
  /** Undefined without a subscription. */
  let position: Position | undefined;
  let pendingReset: { project: number | null } | undefined;
  let isPumpDue = false;
  const cancelHello = timer.after(limits.hello, () => end(closing.bad_frame, "no hello in time"));

  function leave(): void {
    if (!isOpen) return;
    isOpen = false;
    position = undefined;
    cancelHello();
    common.leave(session);
  }

  function end(code: number, message: string): void {
    if (!isOpen) return;
    outlet.sendFrame({ t: "bye", code, message });
    leave();
    wire.close(code, message);
  }

  function greet(token: string | undefined): CloseFrame | undefined {
    if (isGreeted) return [closing.bad_frame, "hello was said before"];
    if (common.token !== null && token !== common.token) return [closing.token_required, tokenMissing];
    isGreeted = true;
    cancelHello();
    outlet.sendFrame({ t: "hello", v: protocol, epoch: common.epoch, stat: common.stat() });
    return undefined;
  }

  function subscribe(asked: Subscribe): void {
    const { id } = asked;
    const subscription = readSubscription(asked, common.read);
    if (!("key" in subscription)) {
      for (const refusal of subscription) outlet.sendFrame({ t: "refused", id, ...refusal });
      return;
    }
    const { cursor, reset } = startOf(asked, common);
    const { needs } = subscription;
    const isNothing = !needs.events && !needs.requests;
    position = isNothing ? undefined : { subscription, cursor, isBack: cursor === asked.cursor };
    common.attend();
    outlet.sendFrame({ t: "subscribed", id, epoch: common.epoch, cursor, reset });
    pump();
  }

  function handle(message: string | null): CloseFrame | undefined {
    if (!mayReceive()) return [closing.too_many_messages, `more than ${limits.messages} messages a second`];
    const reading = readFrame(message);
    if ("problem" in reading) return [closing.bad_frame, reading.problem];
    const { frame } = reading;
    if (frame.t === "hello") return greet(frame.token);
    if (!isGreeted) return [closing.bad_frame, "hello must be said first"];
    subscribe(frame);
    return undefined;
  }

  function receive(message: string | null): void {
    const close = handle(message);
    if (close !== undefined) end(...close);
  }

  function sendReset(): void {
    if (pendingReset === undefined || !outlet.hasRoom() || !mayReset()) return;
    outlet.sendFrame({ t: "reset", epoch: common.epoch, ...pendingReset });
    pendingReset = undefined;
  }

  function sendMore(at: Position): void {
    if (at.cursor + 1 < common.oldest) {
      const to = common.oldest - 1;
      outlet.sendFrame({ t: "gap", from: at.cursor + 1, to, why: at.isBack ? "old" : "slow" });
      at.cursor = to;
      return;
    }
    const { bytes, to } = common.batchAfter(at.cursor, at.subscription);
    at.cursor = to;
    outlet.send(bytes);
  }

  function pump(): void {
    sendReset();
    const until = timer.now() + limits.turn;
    while (isOpen && position !== undefined && position.cursor < common.last && outlet.hasRoom()) {
      if (timer.now() > until) {
        pumpSoon();
        return;
      }
      sendMore(position);
    }
    isBehind = pendingReset !== undefined || (position !== undefined && position.cursor < common.last);
    if (!isBehind && position !== undefined) position.isBack = false;
  }

  function pumpSoon(): void {
    if (isPumpDue) return;
    isPumpDue = true;
    timer.soon(() => {
      isPumpDue = false;
      guarded(pump);
    });
  }

  /** A bug in the feed must not end the sim. */
  function guarded(work: () => void): void {
    try {
      if (isOpen) work();
    } catch (error) {
      common.notice(`the feed failed: ${stackOf(error)}`);
      end(internalError, "a bug in phx-sim");
    }
  }

  const session: FeedSession = {
    get needs() {
      return position?.subscription.needs;
    },
    receive: (message) => guarded(() => receive(message)),
    gone: leave,
    pump: () => guarded(pump),
    send(frame) {
      if (!isOpen || !isGreeted) return true;
      const hasRoom = outlet.hasRoom();
      if (hasRoom) outlet.send(frame);
      return hasRoom;
    },
    reset(project) {
      if (!isGreeted) return;
      const isOther = pendingReset !== undefined && pendingReset.project !== project;
      pendingReset = { project: isOther ? null : project };
      if (position !== undefined && concerns(position.subscription, project)) position.cursor = common.newest;
      guarded(pump);
    },
    check() {
      if (outlet.isStalled()) end(closing.stalled, "nothing was taken for 30 s");
      else if (pendingReset !== undefined) guarded(pump);
    },
    end,
  };
  return session;
}

const tokenMissing = "the feed is open to the network and needs its token";
const internalError = 1011;
