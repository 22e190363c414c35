import { Feed } from "../../../../src/state/journal/feed/feed.ts";
import type { EventRow } from "../../../../src/state/journal/feed/feed-row.ts";
import type { SimFrame, Stat } from "../../../../src/state/journal/feed/frames.ts";
import type { FeedEntry, Kinds, Session, Timer } from "../../../../src/state/journal/feed/ports.ts";
import { readEventFilter, readRequestFilter } from "../../../../src/state/journal/filter/read.ts";
import { eventRow, requestRow } from "../../../support/rows.ts";

/** Time that passes only when a test advances it. */
function stageTimer(): Timer & { pass(ms: number): void } {
  let now = 0;
  let due: { at: number; run: () => void }[] = [];
  const after = (ms: number, run: () => void) => {
    const it = { at: now + ms, run };
    due.push(it);
    return () => {
      due = due.filter((other) => other !== it);
    };
  };
  return {
    now: () => now,
    after,
    soon: (run) => void after(0, run),
    pass(ms) {
      const until = now + ms;
      for (;;) {
        const [next] = due.filter((it) => it.at <= until).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        due = due.filter((it) => it !== next);
        now = Math.max(now, next.at);
        next.run();
      }
      now = until;
    },
  };
}

/** A client that takes what it gets, or does not. */
interface StagePage {
  readonly session: Session;
  readonly frames: SimFrame[];
  readonly closed: { code: number; reason: string }[];
  /** Bytes that it has not taken, at most. */
  readonly most: () => number;
  isStalled: boolean;
  /** Takes everything that waits. */
  drain(): void;
  say(frame: object): void;
  subscribe(more?: object): void;
  /** The numbers of the requests that it was notified of. */
  numbers(): number[];
}

const noStat: Omit<Stat, "pages"> = {
  at: 0,
  requests: 0,
  rejected: 0,
  events: 0,
  kept: 0,
  dropped: 0,
  warned: 0,
  persons: 0,
  in_flight: 0,
  clock: { now: 0, frozen: true, real: false },
  faults: [],
  tape: null,
  recording: null,
  scenario_problems: 0,
  scenario_edit: null,
  damage: 0,
  world: 0,
};

/** A feed over a journal that the test writes. */
export interface Stage {
  readonly feed: Feed;
  readonly timer: ReturnType<typeof stageTimer>;
  /** How often a line was asked for. */
  readonly asked: { read: number; properties: number; text: number };
  /** How many rows of requests that were just written were made. */
  readonly made: { events: number; requests: number };
  readonly notices: string[];
  stat: Omit<Stat, "pages">;
  /** Adds requests, each with one event. */
  write(count: number, more?: Partial<EventRow>): void;
  veil(project: number | null): void;
  /** Lines up to this number are gone. */
  forget(n: number): void;
  page(hello?: object): StagePage;
}

export function stage({ token = null }: { token?: string | null } = {}): Stage {
  const timer = stageTimer();
  const entries: FeedEntry[] = [];
  const tellers = new Set<{ kinds: Kinds; tell: (entry: FeedEntry) => void }>();
  const veils = new Set<(project: number | null) => void>();
  const asked = { read: 0, properties: 0, text: 0 };
  const made = { events: 0, requests: 0 };
  const notices: string[] = [];
  let forgotten = 0;
  let epochs = 0;
  const it: Omit<Stage, "feed"> = {
    timer,
    asked,
    made,
    notices,
    stat: noStat,
    write(count, more = {}) {
      for (let k = 0; k < count; k++) {
        const n = entries.length + 1;
        const { project = 1 } = more;
        const entry = { n, project, request: requestRow(n, { project }), events: [eventRow(n, more)] };
        entries.push(entry);
        for (const { kinds, tell } of tellers) {
          if (kinds.events) made.events++;
          if (kinds.requests) made.requests++;
          tell({
            ...entry,
            request: kinds.requests ? entry.request : undefined,
            events: kinds.events ? entry.events : undefined,
          });
        }
      }
    },
    veil(project) {
      for (const tell of veils) tell(project);
    },
    forget(n) {
      forgotten = n;
    },
    page(hello = { v: 1 }) {
      const made = openPage(feed);
      made.say({ t: "hello", ...hello });
      return made;
    },
  };
  const feed = new Feed({
    journal: {
      get last() {
        return entries.length;
      },
      read(n) {
        asked.read++;
        return n > forgotten ? entries[n - 1] : undefined;
      },
      properties({ n }) {
        asked.properties++;
        return { plan: n % 2 === 0 ? "pro" : "free" };
      },
      complete: (head) => ({ ...head, preview: [], path: "", lib: "", session: null }),
      text(n) {
        asked.text++;
        return `body ${n}`;
      },
      onEntry(kinds, tell) {
        const it = { kinds, tell };
        tellers.add(it);
        return () => tellers.delete(it);
      },
      onVeiled(tell) {
        veils.add(tell);
        return () => veils.delete(tell);
      },
    },
    read: { events: readEventFilter, requests: readRequestFilter },
    now: () => 0,
    stat: () => it.stat,
    token,
    makeEpoch: () => `past ${++epochs}`,
    notice: (text) => notices.push(text),
    timer,
  });
  return Object.assign(it, { feed });
}

function openPage(feed: Feed): StagePage {
  const frames: SimFrame[] = [];
  const closed: StagePage["closed"] = [];
  let waiting: { bytes: number; sent: () => void }[] = [];
  let most = 0;
  const state = { isStalled: false };
  const buffered = () => waiting.reduce((sum, it) => sum + it.bytes, 0);
  const session = feed.connect({
    send(frame, sent) {
      frames.push(JSON.parse(frame.toString()));
      if (!state.isStalled) return;
      waiting.push({ bytes: frame.length, sent });
      most = Math.max(most, buffered());
    },
    buffered,
    close: (code, reason) => closed.push({ code, reason }),
  });
  const page: StagePage = {
    session,
    frames,
    closed,
    most: () => most,
    get isStalled() {
      return state.isStalled;
    },
    set isStalled(is) {
      state.isStalled = is;
    },
    drain() {
      const taken = waiting;
      waiting = [];
      for (const { sent } of taken) sent();
    },
    say: (frame) => session.receive(JSON.stringify(frame)),
    subscribe: (more = {}) => page.say({ t: "subscribe", id: 1, events: "", requests: "", ...more }),
    numbers: () => frames.flatMap((it) => (it.t === "rows" ? it.requests.map(({ n }) => n) : [])),
  };
  return page;
}
