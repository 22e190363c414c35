import type { Json } from "../../../kernel/base/json.ts";
import { clearTimeout, performance, setImmediate, setTimeout } from "../../../kernel/base/real-time.ts";
import type { EventSubject, FilterReading, RequestSubject } from "../filter/types.ts";
import type { EventHead, EventRow, RequestRow } from "./feed-row.ts";

export const limits = {
  pages: 32,
  /** Time in which a page must send hello, ms. */
  hello: 5_000,
  /** Messages of one page in a second. */
  messages: 20,
  /** Resets that are sent to a page in a second: after each it reads everything again. */
  resets: 4,
  /** Unsent bytes of a page, above which nothing more is sent to it. */
  buffered: 512 * 1024,
  /** A page that receives nothing for this time is disconnected, ms. */
  stalled: 30_000,
  /** Requests, events and characters of a frame; one request is never split. */
  batch: { requests: 200, events: 2_000, characters: 128 * 1024 },
  /** From one round of frames to the next, ms. */
  round: 30,
  /** Work for one page before other work gets a turn, ms. */
  turn: 4,
  ring: { events: 100_000, bytes: 32 * 1024 * 1024 },
  /** Requests older than the ring that are read again for a page that reconnects. */
  readBack: 10_000,
  /** From one check of the stat and of stalled pages to the next, ms. */
  tick: 1_000,
} as const;

export interface Kinds {
  readonly events: boolean;
  readonly requests: boolean;
}

export interface FeedEntry {
  readonly n: number;
  readonly project: number | null;
  readonly request: RequestRow | undefined;
  readonly events: readonly EventHead[] | undefined;
}

export interface Journal {
  readonly last: number;
  read(n: number): FeedEntry | undefined;
  properties(row: EventHead): Readonly<Record<string, Json>>;
  /** The row of an event; without a preview if its request is evicted. */
  complete(head: EventHead, columns: readonly string[]): EventRow;
  text(n: number): string;
  /** Calls the listener with each request once it is written, in order; returns a function that stops it. */
  onEntry(kinds: Kinds, listener: (entry: FeedEntry) => void): () => void;
  /** Calls the listener when rows of one project or (null) of all were hidden or became visible again. */
  onVeiled(listener: (project: number | null) => void): () => void;
}

export interface FilterReaders {
  events(text: string): FilterReading<EventSubject>;
  requests(text: string): FilterReading<RequestSubject>;
}

export interface FeedConnection {
  /** Sends one frame of JSON text, in UTF-8; `sent` is called once the system has taken it. */
  send(frame: Buffer, sent: () => void): void;
  buffered(): number;
  close(code: number, reason: string): void;
}

export interface Session {
  receive(message: string | null): void;
  gone(): void;
}

export interface Timer {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Runs once after `ms`; returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
  soon(run: () => void): void;
}

/** None of its timers keeps a process alive. */
export const machineTimer: Timer = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
  soon: (run) => void setImmediate(run),
};
