import { stackOf } from "../../base/stack-of.ts";
import { createAllowance } from "./allowance.ts";
import type { Batch } from "./batch.ts";
import { closing, protocol, type Stat } from "./frames.ts";
import { limits } from "./limits.ts";
import { createOutlet } from "./outlet.ts";
import type { FilterReaders, Kinds, Session, Timer, Wire } from "./ports.ts";
import { readFrame, type Subscribe } from "./read-frame.ts";
import { readSubscription, type Subscription } from "./subscription.ts";

/** What the sessions share. */
export interface Common {
  readonly epoch: string;
  /** The oldest request that can be told, and the newest. */
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
  /** The session takes no more part. */
  leave(session: FeedSession): void;
  notice(text: string): void;
}

/** A client as the feed sees it. */
export interface FeedSession extends Session {
  /** The rows that are to be made for it; undefined: none. */
  readonly needs: Kinds | undefined;
  /** Sends what there is, as far as the other side takes it. */
  pump(): void;
  /** Tells something to a client that said hello. Returns false where it takes nothing now. */
  tell(frame: Buffer): boolean;
  /** What was told is void. */
  reset(project: number | null): void;
  /** Once in a while: is the other side still taking, and is anything left to be told? */
  look(): void;
  /** Says goodbye. */
  end(code: number, message: string): void;
}

/** How far a client is with what it asked for. */
interface Place {
  readonly subscription: Subscription;
  /** Everything up to this request was told. */
  cursor: number;
  /** It came with a cursor of its own, and is not done with what it missed. */
  isBack: boolean;
}

/** Why a client is sent away. */
type Farewell = readonly [code: number, message: string];

/** Where the rows go on for who asks; `reset`: its own cursor means nothing here. */
function placeOf({ epoch, cursor }: Subscribe, common: Common): { cursor: number; reset: boolean } {
  if (epoch === common.epoch && cursor !== undefined && cursor <= common.newest)
    return { cursor, reset: false };
  const isOther = epoch !== undefined && epoch !== common.epoch;
  return { cursor: common.last, reset: isOther || cursor !== undefined };
}

/** Does it show rows of this project, or (null) of any? */
const concerns = ({ project: shown }: Subscription, project: number | null): boolean =>
  project === null || shown === undefined || shown === project;

/** Talks with one client. */
export function createSession(common: Common, wire: Wire): FeedSession {
  const { timer } = common;
  const allowed = createAllowance(limits.messages, timer.now);
  const mayReset = createAllowance(limits.resets, timer.now);
  /** Was there more than the other side took? Else what is new waits for its round: frames are to be few. */
  let isBehind = false;
  const outlet = createOutlet(wire, timer, () => {
    if (isBehind) guarded(pump);
  });
  let isOpen = true;
  let isGreeted = false;
  /** Undefined while nothing is asked for. */
  let place: Place | undefined;
  /** A reset that was not told yet. */
  let voided: { project: number | null } | undefined;
  let isPumpDue = false;
  const cancelHello = timer.after(limits.hello, () => end(closing.bad_frame, "no hello in time"));

  function leave(): void {
    if (!isOpen) return;
    isOpen = false;
    place = undefined;
    cancelHello();
    common.leave(session);
  }

  function end(code: number, message: string): void {
    if (!isOpen) return;
    outlet.say({ t: "bye", code, message });
    leave();
    wire.close(code, message);
  }

  function greet(token: string | undefined): Farewell | undefined {
    if (isGreeted) return [closing.bad_frame, "hello was said before"];
    if (common.token !== null && token !== common.token) return [closing.token_required, tokenMissing];
    isGreeted = true;
    cancelHello();
    outlet.say({ t: "hello", v: protocol, epoch: common.epoch, stat: common.stat() });
    return undefined;
  }

  function subscribe(asked: Subscribe): void {
    const { id } = asked;
    const subscription = readSubscription(asked, common.read);
    if (!("key" in subscription)) {
      for (const refusal of subscription) outlet.say({ t: "refused", id, ...refusal });
      return;
    }
    const { cursor, reset } = placeOf(asked, common);
    const { needs } = subscription;
    const isNothing = !needs.events && !needs.requests;
    place = isNothing ? undefined : { subscription, cursor, isBack: cursor === asked.cursor };
    common.attend();
    outlet.say({ t: "subscribed", id, epoch: common.epoch, cursor, reset });
    pump();
  }

  function hear(message: string | null): Farewell | undefined {
    if (!allowed()) return [closing.too_many_messages, `more than ${limits.messages} messages a second`];
    const reading = readFrame(message);
    if ("problem" in reading) return [closing.bad_frame, reading.problem];
    const { frame } = reading;
    if (frame.t === "hello") return greet(frame.token);
    if (!isGreeted) return [closing.bad_frame, "hello must be said first"];
    subscribe(frame);
    return undefined;
  }

  function receive(message: string | null): void {
    const farewell = hear(message);
    if (farewell !== undefined) end(...farewell);
  }

  function tellReset(): void {
    if (voided === undefined || !outlet.hasRoom() || !mayReset()) return;
    outlet.say({ t: "reset", epoch: common.epoch, ...voided });
    voided = undefined;
  }

  function tellMore(at: Place): void {
    if (at.cursor + 1 < common.oldest) {
      const to = common.oldest - 1;
      outlet.say({ t: "gap", from: at.cursor + 1, to, why: at.isBack ? "old" : "slow" });
      at.cursor = to;
      return;
    }
    const { bytes, to } = common.batchAfter(at.cursor, at.subscription);
    at.cursor = to;
    outlet.send(bytes);
  }

  function pump(): void {
    tellReset();
    const until = timer.now() + limits.turn;
    while (isOpen && place !== undefined && place.cursor < common.last && outlet.hasRoom()) {
      if (timer.now() > until) {
        pumpSoon();
        return;
      }
      tellMore(place);
    }
    isBehind = voided !== undefined || (place !== undefined && place.cursor < common.last);
    if (!isBehind && place !== undefined) place.isBack = false;
  }

  function pumpSoon(): void {
    if (isPumpDue) return;
    isPumpDue = true;
    timer.soon(() => {
      isPumpDue = false;
      guarded(pump);
    });
  }

  /** A mistake of ours must not end the sim. */
  function guarded(work: () => void): void {
    try {
      if (isOpen) work();
    } catch (error) {
      common.notice(`the feed failed: ${stackOf(error)}`);
      end(broken, "a bug in phx-sim");
    }
  }

  const session: FeedSession = {
    get needs() {
      return place?.subscription.needs;
    },
    receive: (message) => guarded(() => receive(message)),
    gone: leave,
    pump: () => guarded(pump),
    tell(frame) {
      if (!isOpen || !isGreeted) return true;
      const hasRoom = outlet.hasRoom();
      if (hasRoom) outlet.send(frame);
      return hasRoom;
    },
    reset(project) {
      if (!isGreeted) return;
      const isOther = voided !== undefined && voided.project !== project;
      voided = { project: isOther ? null : project };
      if (place !== undefined && concerns(place.subscription, project)) place.cursor = common.newest;
      guarded(pump);
    },
    look() {
      if (outlet.isStalled()) end(closing.stalled, "nothing was taken for 30 s");
      else if (voided !== undefined) guarded(pump);
    },
    end,
  };
  return session;
}

const tokenMissing = "the feed is open to the network and needs its token";
/** The code of the protocol for an error of the server. */
const broken = 1011;
