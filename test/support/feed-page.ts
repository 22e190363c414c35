import { once } from "node:events";
import { type ClientOptions, WebSocket } from "ws";
import type { ClientFrame, SimFrame } from "../../src/state/journal/feed/frames.ts";

type Kind = SimFrame["t"];
type FrameOf<T extends Kind> = Extract<SimFrame, { t: T }>;

/** A page's end of the feed. */
export interface FeedPage extends AsyncDisposable {
  readonly socket: WebSocket;
  /** All that was heard, in order. */
  readonly frames: SimFrame[];
  say(frame: ClientFrame | object): void;
  /** Resolves once a frame was heard that fits; a frame that was heard before counts. */
  heard<T extends Kind>(kind: T, fits?: (frame: FrameOf<T>) => boolean): Promise<FrameOf<T>>;
  /** Says hello and subscribes; resolves with the answer. */
  subscribe(more?: Partial<Extract<ClientFrame, { t: "subscribe" }>>): Promise<FrameOf<"subscribed">>;
  /** Seqs of the events that were heard. */
  seqs(): number[];
  /** Resolves with the code and the reason. */
  closed: Promise<[code: number, reason: string]>;
}

const wsUrl = (url: string): string => `${url.replace("http", "ws")}/__sim/ws`;

/** Opens a websocket to a sim and says hello. */
export async function openPage(
  url: string,
  { token, isSilent, ...options }: ClientOptions & { token?: string; isSilent?: boolean } = {},
): Promise<FeedPage> {
  const socket = new WebSocket(wsUrl(url), options);
  const frames: SimFrame[] = [];
  const waiting = new Set<() => void>();
  let nextId = 1;
  socket.on("message", (data) => {
    frames.push(JSON.parse(String(data)));
    for (const look of waiting) look();
  });
  const closed = new Promise<[number, string]>((resolve) => {
    socket.on("close", (code, reason) => resolve([code, reason.toString()]));
  });
  await once(socket, "open");
  const page: FeedPage = {
    socket,
    frames,
    closed,
    say: (frame) => socket.send(JSON.stringify(frame)),
    heard: <T extends Kind>(kind: T, fits: (frame: FrameOf<T>) => boolean = () => true) =>
      new Promise<FrameOf<T>>((resolve, reject) => {
        const look = () => {
          const found = frames.find((it): it is FrameOf<T> => it.t === kind && fits(it as FrameOf<T>));
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
        void closed.then(([code, reason]) => reject(new Error(`closed: ${code} ${reason}, no ${kind}`)));
      }),
    async subscribe(more = {}) {
      const id = nextId++;
      page.say({ t: "subscribe", id, events: "", requests: "", ...more });
      return page.heard("subscribed", (it) => it.id === id);
    },
    seqs: () => frames.flatMap((it) => (it.t === "rows" ? it.events.map(({ seq }) => seq) : [])),
    async [Symbol.asyncDispose]() {
      socket.terminate();
      await closed;
    },
  };
  if (!isSilent) {
    page.say({ t: "hello", v: 1, ...(token !== undefined && { token }) });
    await page.heard("hello");
  }
  return page;
}

/** The answer that a websocket's handshake gets in its place. */
export const refusalOf = (
  url: string,
  options: ClientOptions,
): Promise<{ status: number; type: string | undefined; body: unknown }> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(wsUrl(url), options);
    socket.on("open", () => reject(new Error("it was let in")));
    socket.on("error", () => {});
    socket.on("unexpected-response", (_, response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => {
        text += chunk;
      });
      response.on("end", () => {
        const type = response.headers["content-type"];
        resolve({ status: response.statusCode ?? 0, type, body: JSON.parse(text) });
      });
    });
  });
