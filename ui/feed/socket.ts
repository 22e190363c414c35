import { signal } from "@preact/signals";
import type { EventRow, RequestRow } from "../../src/state/journal/feed/feed-row.ts";
import { type ClientFrame, protocol, type SimFrame, type Stat } from "../../src/state/journal/feed/frames.ts";
import type { FilterProblem } from "../../src/state/journal/filter/types.ts";
import { isLockedOut, token } from "../api/call.ts";
import { delayBefore, type Ending, endingOf } from "./reconnect.ts";

type Connection = "connecting" | "live" | "lost";

export const connection = signal<Connection>("connecting");
/** Why it is not connected, if known. */
export const lostBecause = signal<string | null>(null);
/** The sim's last report; undefined before the first one. */
export const stat = signal<Stat | undefined>(undefined);
/** Increases with each connection and each reset: data loaded before may be obsolete. */
export const greetings = signal(0);

/** A subscription's filters and handlers. The connection serves the last subscription only. */
interface FeedSubscriber {
  /** A filter; "" for all events, null for none. */
  readonly events: string | null;
  readonly requests: string | null;
  readonly project: number | undefined;
  /** Properties of which rows of events have values. */
  readonly columns: readonly string[];
  /** Start position, from the history's response. */
  readonly epoch: string;
  readonly cursor: number;
  onRows(events: readonly EventRow[], requests: readonly RequestRow[]): void;
  onGap(from: number, to: number, why: "slow" | "old"): void;
  /** The loaded rows are obsolete. */
  onReset(): void;
  onRefused(problems: readonly FilterProblem[]): void;
}

interface Subscription {
  readonly id: number;
  readonly subscriber: FeedSubscriber;
  epoch: string;
  /** The last received request. */
  cursor: number;
  /** True once the sim confirmed; earlier rows belong to the previous subscription. */
  isFollowed: boolean;
}

/** A hidden page disconnects after this time, ms. */
const hiddenFor = 600_000;

let socket: WebSocket | undefined;
let current: Subscription | undefined;
let nextId = 1;
let attempts = 0;
let retry: ReturnType<typeof setTimeout> | undefined;

const send = (frame: ClientFrame): void => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
};

function requestRows(): void {
  if (!current) return;
  current.isFollowed = false;
  const { id, subscriber, epoch, cursor } = current;
  const { events, requests, project, columns } = subscriber;
  send({
    ...{ t: "subscribe", id, epoch, cursor, events, requests },
    ...(project !== undefined && { project }),
    ...(columns.length > 0 && { columns }),
  });
}

/** Subscribes to rows; returns a function that unsubscribes. */
export function subscribe(subscriber: FeedSubscriber): () => void {
  const { epoch, cursor } = subscriber;
  const mine: Subscription = { id: nextId++, subscriber, epoch, cursor, isFollowed: false };
  current = mine;
  if (connection.value === "live") requestRows();
  return () => {
    if (current !== mine) return;
    current = undefined;
    if (connection.value === "live") send({ t: "subscribe", id: nextId++, events: null, requests: null });
  };
}

const followed = (): Subscription | undefined => (current?.isFollowed ? current : undefined);

const handlers: { readonly [T in SimFrame["t"]]: (frame: Extract<SimFrame, { t: T }>) => void } = {
  hello(frame) {
    attempts = 0;
    connection.value = "live";
    lostBecause.value = frame.v === protocol ? null : "The sim and this page have different versions: reload the page.";
    stat.value = frame.stat;
    greetings.value++;
    requestRows();
  },
  subscribed(frame) {
    if (!current || frame.id !== current.id) return;
    current.epoch = frame.epoch;
    current.cursor = frame.cursor;
    current.isFollowed = true;
    if (frame.reset) current.subscriber.onReset();
  },
  refused(frame) {
    if (current && frame.id === current.id) current.subscriber.onRefused(frame.problems);
  },
  rows({ to, events, requests }) {
    const it = followed();
    if (!it) return;
    const { cursor } = it;
    if (to <= cursor) return;
    it.cursor = to;
    const isNew = (row: { readonly n: number }) => row.n > cursor;
    it.subscriber.onRows(events.filter(isNew), requests.filter(isNew));
  },
  gap({ from, to, why }) {
    const it = followed();
    if (!it || to <= it.cursor) return;
    const first = Math.max(from, it.cursor + 1);
    it.cursor = to;
    it.subscriber.onGap(first, to, why);
  },
  reset({ epoch, project }) {
    greetings.value++;
    if (!current) return;
    const { project: shown, onReset } = current.subscriber;
    if (project === null || shown === undefined || project === shown) onReset();
    // the rows of this list are not affected
    else current.epoch = epoch;
  },
  stat(frame) {
    stat.value = frame.stat;
  },
  bye({ code }) {
    lostBecause.value = endingOf(code).why;
  },
};

function receive(text: string): void {
  const frame: SimFrame = JSON.parse(text);
  if (Object.hasOwn(handlers, frame.t)) (handlers[frame.t] as (it: SimFrame) => void)(frame);
}

function onClosed({ why, again }: Ending): void {
  socket = undefined;
  connection.value = "lost";
  if (why !== null) lostBecause.value = why;
  if (again === "never") isLockedOut.value = true;
  else retry = setTimeout(connect, delayBefore(again, attempts++, Math.random()));
}

/** Connects, and reconnects whenever the connection is lost. */
export function connect(): void {
  clearTimeout(retry);
  if (socket) return;
  const address = new URL("/__sim/ws", location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const made = new WebSocket(address);
  socket = made;
  made.onopen = () => send({ t: "hello", v: protocol, ...(token !== null && { token }) });
  made.onmessage = (message) => receive(String(message.data));
  made.onclose = ({ code }) => {
    if (socket === made) onClosed(endingOf(code));
  };
}

export function connectNow(): void {
  attempts = 0;
  connect();
}

function disconnect(): void {
  const it = socket;
  socket = undefined;
  clearTimeout(retry);
  connection.value = "connecting";
  it?.close(1000);
}

/** Disconnects while the page is hidden for long, and resumes from the cursor when it is visible again. */
export function disconnectWhenHidden(): void {
  let due: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(due);
    if (document.hidden) due = setTimeout(disconnect, hiddenFor);
    else connectNow();
  });
}
