import type { Json } from "../../base/json.ts";
import type { EventSubject, Reading, RequestSubject } from "../filter/types.ts";
import type { EventRow, RequestRow } from "./feed-row.ts";

/** Kinds of rows: those that somebody needs are made. */
export interface Kinds {
  readonly events: boolean;
  readonly requests: boolean;
}

/** What one request adds to the feed; rows that nobody needs are missing. */
export interface Entry {
  readonly n: number;
  readonly project: number | null;
  readonly request: RequestRow | undefined;
  readonly events: readonly EventRow[] | undefined;
}

/** The journal as the feed needs it. */
export interface Journal {
  /** Number of the newest request. */
  readonly last: number;
  /** The rows of request n as they can be seen now; undefined when it is gone or hidden. */
  read(n: number): Entry | undefined;
  /** The properties of an event; none when its request is gone. */
  properties(row: EventRow): Readonly<Record<string, Json>>;
  /** Body and answer of a request as text; "" when it is gone. */
  text(n: number): string;
  /** Tells of each request once it is written, in order, with rows of these kinds; returns what ends it. */
  onEntry(kinds: Kinds, tell: (entry: Entry) => void): () => void;
  /** Tells when rows were hidden, or can be seen again; of one project or (null) of all. */
  onVeiled(tell: (project: number | null) => void): () => void;
}

/** How a filter's text is understood. */
export interface FilterReaders {
  events(text: string): Reading<EventSubject>;
  requests(text: string): Reading<RequestSubject>;
}

/** The connection of one client, as its door gives it. */
export interface Wire {
  /** Sends one frame of JSON text, in UTF-8; `sent` is called once the system has taken it. */
  send(frame: Buffer, sent: () => void): void;
  /** Bytes that the other side has not taken yet. */
  buffered(): number;
  close(code: number, reason: string): void;
}

/** What the door tells of a client. */
export interface Session {
  /** A message came; null: one that is not text. */
  receive(message: string | null): void;
  /** The connection is closed. */
  gone(): void;
}

/** The passing of time; another one is for tests. */
export interface Timer {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Runs once after `ms`; returns what prevents it. */
  after(ms: number, run: () => void): () => void;
  /** Runs once after what is going on now. */
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
