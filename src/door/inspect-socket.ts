import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import type { Connect } from "./inspect-port.ts";

/** The websockets that are open. */
export interface PageSockets {
  accept(req: IncomingMessage, socket: Socket, head: Buffer, connect: Connect): void;
  /** Ends all of them and waits for none. */
  close(): void;
}

/** Largest message that a page may send, in bytes. */
const largestMessage = 64 * 1024;
/** How long the other side has to answer a close, ms. */
const closeTimeout = 1_000;
const pingEvery = 20_000;
/** Pings that may stay without an answer. */
const mostMissed = 2;
const goingAway = 1001;

/** @param refuse Answers a handshake that cannot be understood. */
export function createPageSockets(refuse: (socket: Socket, why: string) => void): PageSockets {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: largestMessage,
  });
  /** With the pings that each has left without an answer. */
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
    accept(req, socket, head, connect) {
      server.handleUpgrade(req, socket, head, (page) => add(page, socket, connect));
    },
    close() {
      clearInterval(pinging);
      for (const [page, { socket }] of open) {
        page.close(goingAway, "the sim is closing");
        if (page.bufferedAmount === 0) socket.destroySoon();
        else page.terminate();
      }
    },
  };
}

/** Messages come in one piece: the type of the binary ones is left as it is. */
const textOf = (data: RawData): string => (Buffer.isBuffer(data) ? data.toString("utf8") : String(data));
