import { signal } from "@preact/signals";
import type { ClientFrame, SimFrame, Stat } from "../../src/feed/frames.ts";
import type { FilterProblem } from "../../src/filter/types.ts";
import type { EventRow, RequestRow } from "../../src/model/row.ts";
import { token } from "../api/call.ts";

/** How the page is connected. */
export type Connection = "connecting" | "live" | "lost";

export const connection = signal<Connection>("connecting");
/** How the sim is; undefined before the first word. */
export const stat = signal<Stat | undefined>(undefined);

/** What a view wants to be told. The connection has one subscription: the one that was made last. */
export interface Wanted {
  /** A filter, "" for everything, null for none of this kind. */
  readonly events: string | null;
  readonly requests: string | null;
  readonly project: number | undefined;
  /** From where on: what the history's answer said. */
  readonly epoch: string;
  readonly cursor: number;
  onRows(events: readonly EventRow[], requests: readonly RequestRow[]): void;
  onGap(from: number, to: number, why: "slow" | "old"): void;
  /** What is held is of another past: it must be read again. */
  onReset(): void;
  onRefused(problems: readonly FilterProblem[]): void;
}

interface Subscription {
  readonly id: number;
  readonly wanted: Wanted;
  epoch: string;
  cursor: number;
}

const shortest = 250;
const longest = 5_000;

let socket: WebSocket | undefined;
let current: Subscription | undefined;
let nextId = 1;
let delay = shortest;

const say = (frame: ClientFrame): void => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
};

function ask(): void {
  if (!current) return;
  const { id, wanted, epoch, cursor } = current;
  const { events, requests, project } = wanted;
  say({ t: "subscribe", id, epoch, cursor, events, requests, ...(project !== undefined && { project }) });
}

/** Wants rows from now on; returns the function that ends it. */
export function subscribe(wanted: Wanted): () => void {
  const mine: Subscription = { id: nextId++, wanted, epoch: wanted.epoch, cursor: wanted.cursor };
  current = mine;
  ask();
  return () => {
    if (current !== mine) return;
    current = undefined;
    say({ t: "subscribe", id: nextId++, events: null, requests: null });
  };
}

/** What to do with each word of the sim. */
const heard: { readonly [T in SimFrame["t"]]: (frame: Extract<SimFrame, { t: T }>) => void } = {
  hello(frame) {
    connection.value = "live";
    stat.value = frame.stat;
    delay = shortest;
    ask();
  },
  subscribed(frame) {
    if (!current || frame.id !== current.id) return;
    current.epoch = frame.epoch;
    current.cursor = frame.cursor;
    if (frame.reset) current.wanted.onReset();
  },
  refused(frame) {
    if (current && frame.id === current.id) current.wanted.onRefused(frame.problems);
  },
  rows(frame) {
    if (!current) return;
    current.cursor = frame.to;
    current.wanted.onRows(frame.events, frame.requests);
  },
  gap(frame) {
    if (!current) return;
    current.cursor = frame.to;
    current.wanted.onGap(frame.from, frame.to, frame.why);
  },
  reset() {
    current?.wanted.onReset();
  },
  stat(frame) {
    stat.value = frame.stat;
  },
  bye() {},
};

function hear(text: string): void {
  const frame: SimFrame = JSON.parse(text);
  (heard[frame.t] as ((it: SimFrame) => void) | undefined)?.(frame);
}

/** Connects, and again whenever the connection is lost. */
export function connect(): void {
  const address = new URL("/__sim/ws", location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const made = new WebSocket(address);
  socket = made;
  made.onopen = () => say({ t: "hello", v: 1, ...(token !== null && { token }) });
  made.onmessage = (message) => hear(String(message.data));
  made.onclose = () => {
    if (socket !== made) return;
    connection.value = "lost";
    setTimeout(connect, delay * (0.75 + Math.random() / 2));
    delay = Math.min(delay * 2, longest);
  };
}
