import type { Server } from "node:http";
import type { Socket } from "node:net";
import { peek, type Speech } from "./proxy/peek.ts";

/** Where connections of a server begin. */
export interface Entrance {
  /** Gives a connection to the server. */
  take(socket: Socket): void;
  /** Does the client believe that it speaks TLS, though it comes in clear? So it is with `--reroute`. */
  isSecure(socket: Socket): boolean;
  /** Breaks off connections that did not say anything yet. */
  close(): void;
}

/**
 * A connection begins for the server once its first bytes have been looked at: `hand` says who takes it.
 * @param silence One that says nothing is given up after this long, ms.
 */
export function openEntrance(
  server: Server,
  silence: number,
  hand: (socket: Socket, speech: Speech) => void,
): Entrance {
  /** Connections that have said nothing yet, since when: one timer for all, as they are many and short. */
  const waiting = new Map<Socket, number>();
  const sweep = (before: number) => {
    for (const [socket, since] of waiting) {
      if (since > before && !socket.destroyed) continue;
      waiting.delete(socket);
      socket.destroy();
    }
  };
  const secure = new WeakSet<Socket>();
  let sweeping: NodeJS.Timeout | undefined;
  server.once("listening", () => {
    sweeping = setInterval(() => sweep(performance.now() - silence), Math.min(silence, 5_000)).unref();
  });

  const takers = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    waiting.set(socket, performance.now());
    peek(socket, (speech, isSecure) => {
      waiting.delete(socket);
      if (isSecure) secure.add(socket);
      hand(socket, speech);
    });
  });
  return {
    take(socket) {
      for (const taker of takers) Reflect.apply(taker, server, [socket]);
    },
    isSecure: (socket) => secure.has(socket),
    close() {
      clearInterval(sweeping);
      sweep(Number.POSITIVE_INFINITY);
    },
  };
}
