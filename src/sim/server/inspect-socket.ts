import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "../../kernel/base/real-time.ts";
import type { Call } from "../../kernel/http/call.ts";

interface PageWire {
  /** Sends one message of UTF-8 text; `sent` is called once the system has accepted it. */
  send(frame: Buffer, sent: () => void): void;
  buffered(): number;
  close(code: number, reason: string): void;
}

interface PageSession {
  receive(message: string | null): void;
  gone(): void;
}

type Connect = (wire: PageWire) => PageSession;

/** Admits a call to the live feed. @throws SimError if the caller is not authorized */
export type Admit = (call: Call) => Promise<Connect>;

export type PageSockets = ReturnType<typeof createPageSockets>;

const largestMessage = 64 * 1024;
/** How long the other side has to answer a close, ms. */
const closeTimeout = 1_000;
const pingEvery = 20_000;
const mostMissed = 2;
const goingAway = 1001;

/** @param refuse Answers an invalid handshake. */
export function createPageSockets(refuse: (socket: Socket, why: string) => void) {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: largestMessage,
  });
  const open = new Map<WebSocket, { socket: Socket; missed: number }>();
  let pinging: NodeJS.Timeout | undefined;

  server.on("wsClientError", (error, socket) => refuse(socket as Socket, error.message));

  function ping(): void {
    for (const [page, state] of open) {
      if (state.missed >= mostMissed) page.terminate();
      else page.ping();
      state.missed++;
    }
  }

  function add(page: WebSocket, socket: Socket, connect: Connect): void {
    const state = { socket, missed: 0 };
    let closing: NodeJS.Timeout | undefined;
    open.set(page, state);
    pinging ??= setInterval(ping, pingEvery).unref();
    const session = connect({
      send(frame, sent) {
        page.send(frame, { binary: false }, (error) => {
          if (!error) sent();
        });
      },
      buffered: () => page.bufferedAmount,
      close(code, reason) {
        page.close(code, reason);
        closing = setTimeout(() => page.terminate(), closeTimeout).unref();
      },
    });
    page.on("message", (data, isBinary) => session.receive(isBinary ? null : textOf(data)));
    page.on("pong", () => {
      state.missed = 0;
    });
    // it closes by itself
    page.on("error", () => {});
    page.on("close", () => {
      clearTimeout(closing);
      open.delete(page);
      if (open.size === 0) {
        clearInterval(pinging);
        pinging = undefined;
      }
      session.gone();
    });
  }

  return {
    accept(req: IncomingMessage, socket: Socket, head: Buffer, connect: Connect): void {
      server.handleUpgrade(req, socket, head, (page) => add(page, socket, connect));
    },
    close(): void {
      clearInterval(pinging);
      for (const [page, { socket }] of open) {
        page.close(goingAway, "the sim is closing");
        if (page.bufferedAmount === 0) socket.destroySoon();
        else page.terminate();
      }
    },
  };
}

/** `ws` delivers each message in one piece: the other forms of `RawData` do not occur. */
const textOf = (data: RawData): string => (Buffer.isBuffer(data) ? data.toString("utf8") : String(data));
