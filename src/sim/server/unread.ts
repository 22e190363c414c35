import type { ServerResponse } from "node:http";

/** Responses up to this size are not watched: their clients hold no more than a request does. */
const smallBytes = 64 * 1024;
const mostBytes = 256 * 1024 * 1024;
/** Time in which a client must take something, ms. */
export const mostSilence = 30_000;

/** Calls `stalled` when the client of a response has taken nothing for `ms`, although there is something to take. */
export function onStall(res: ServerResponse, ms: number, stalled: () => void): void {
  res.setTimeout(ms, () => {
    if (res.writableLength > 0 || (res.socket?.writableLength ?? 0) > 0) stalled();
  });
  // The next response of the connection may take long without sending anything.
  res.prependOnceListener("finish", () => res.socket?.setTimeout(0));
}

/** Bounds what is held for clients that ask for large responses and do not read them: their connections are closed. */
export function createUnread(ms: number): (res: ServerResponse, bytes: number) => void {
  const unread = new Map<ServerResponse, number>();
  let total = 0;
  return (res, bytes) => {
    if (bytes <= smallBytes || res.destroyed) return;
    onStall(res, ms, () => res.destroy());
    for (const [oldest, size] of unread) {
      if (total + bytes <= mostBytes) break;
      unread.delete(oldest);
      total -= size;
      oldest.destroy();
    }
    unread.set(res, bytes);
    total += bytes;
    res.once("close", () => {
      if (unread.delete(res)) total -= bytes;
    });
  };
}
