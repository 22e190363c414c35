import { signal } from "@preact/signals";
import { type ClientFrame, protocol, type SimFrame, type Stat } from "../../src/feed/frames.ts";
import type { FilterProblem } from "../../src/filter/types.ts";
import type { EventRow, RequestRow } from "../../src/model/row.ts";
import { isLockedOut, token } from "../api/call.ts";
import { delayBefore, type Ending, endingOf } from "./ending.ts";

/** How the page is connected. */
export type Connection = "connecting" | "live" | "lost";

export const connection = signal<Connection>("connecting");
/** Why it is not connected, where that is known. */
export const lostBecause = signal<string | null>(null);
/** How the sim is; undefined before the first word. */
export const stat = signal<Stat | undefined>(undefined);
/** Goes up each time the sim is there (again), or forgot something: what was asked before may be of another past. */
export const greetings = signal(0);

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
  /** Everything up to this request was seen. */
  cursor: number;
  /** The sim has said that it follows: rows that come before are of the subscription before. */
  isFollowed: boolean;
}

/** A page that nobody sees gives its place to others after so long, ms. */
const unseenFor = 600_000;

let socket: WebSocket | undefined;
let current: Subscription | undefined;
let nextId = 1;
let tried = 0;
let retry: ReturnType<typeof setTimeout> | undefined;

const say = (frame: ClientFrame): void => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
};

function ask(): void {
  if (!current) return;
  current.isFollowed = false;
  const { id, wanted, epoch, cursor } = current;
  const { events, requests, project } = wanted;
  say({ t: "subscribe", id, epoch, cursor, events, requests, ...(project !== undefined && { project }) });
}

/** Wants rows from now on; returns the function that ends it. */
export function subscribe(wanted: Wanted): () => void {
  const { epoch, cursor } = wanted;
  const mine: Subscription = { id: nextId++, wanted, epoch, cursor, isFollowed: false };
  current = mine;
  if (connection.value === "live") ask();
  return () => {
    if (current !== mine) return;
    current = undefined;
    if (connection.value === "live") say({ t: "subscribe", id: nextId++, events: null, requests: null });
  };
}

/** The subscription that what comes now belongs to. */
const followed = (): Subscription | undefined => (current?.isFollowed ? current : undefined);

/** What to do with each word of the sim. */
const heard: { readonly [T in SimFrame["t"]]: (frame: Extract<SimFrame, { t: T }>) => void } = {
  hello(frame) {
    tried = 0;
    connection.value = "live";
    lostBecause.value =
      frame.v === protocol ? null : "The sim is of another version than this page: reload the page.";
    stat.value = frame.stat;
    greetings.value++;
    ask();
  },
  subscribed(frame) {
    if (!current || frame.id !== current.id) return;
    current.epoch = frame.epoch;
    current.cursor = frame.cursor;
    current.isFollowed = true;
    if (frame.reset) current.wanted.onReset();
  },
  refused(frame) {
    if (current && frame.id === current.id) current.wanted.onRefused(frame.problems);
  },
  rows({ to, events, requests }) {
    const it = followed();
    if (!it) return;
    const { cursor } = it;
    if (to <= cursor) return;
    it.cursor = to;
    const isNew = (row: { readonly n: number }) => row.n > cursor;
    it.wanted.onRows(events.filter(isNew), requests.filter(isNew));
  },
  gap({ from, to, why }) {
    const it = followed();
    if (!it || to <= it.cursor) return;
    const first = Math.max(from, it.cursor + 1);
    it.cursor = to;
    it.wanted.onGap(first, to, why);
  },
  reset({ epoch, project }) {
    greetings.value++;
    if (!current) return;
    const { project: shown, onReset } = current.wanted;
    if (project === null || shown === undefined || project === shown) onReset();
    // what this list holds is not touched: it goes on where it is
    else current.epoch = epoch;
  },
  stat(frame) {
    stat.value = frame.stat;
  },
  bye({ code }) {
    lostBecause.value = endingOf(code).why;
  },
};

function hear(text: string): void {
  const frame: SimFrame = JSON.parse(text);
  if (Object.hasOwn(heard, frame.t)) (heard[frame.t] as (it: SimFrame) => void)(frame);
}

function ended({ why, again }: Ending): void {
  socket = undefined;
  connection.value = "lost";
  if (why !== null) lostBecause.value = why;
  if (again === "never") isLockedOut.value = true;
  else retry = setTimeout(connect, delayBefore(again, tried++, Math.random()));
}

/** Connects, and again whenever the connection is lost. */
export function connect(): void {
  clearTimeout(retry);
  if (socket) return;
  const address = new URL("/__sim/ws", location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const made = new WebSocket(address);
  socket = made;
  made.onopen = () => say({ t: "hello", v: protocol, ...(token !== null && { token }) });
  made.onmessage = (message) => hear(String(message.data));
  made.onclose = ({ code }) => {
    if (socket === made) ended(endingOf(code));
  };
}

/** Connects now instead of later. */
export function connectNow(): void {
  tried = 0;
  connect();
}

function rest(): void {
  const it = socket;
  socket = undefined;
  clearTimeout(retry);
  connection.value = "connecting";
  it?.close(1000);
}

/** A page that nobody looks at for long lets go of its connection, and continues from its cursor when it is seen. */
export function restWhenUnseen(): void {
  let due: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(due);
    if (document.hidden) due = setTimeout(rest, unseenFor);
    else connectNow();
  });
}
