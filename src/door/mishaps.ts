import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Reply, Transport } from "../http/reply.ts";

/** Leaves the request open; who closes the server ends it. */
function hang(res: ServerResponse, _: Socket, __: Reply, hung: Set<ServerResponse>): void {
  if (res.destroyed) return;
  hung.add(res);
  res.once("close", () => hung.delete(res));
}

/** RST instead of an answer. */
function reset(_: ServerResponse, socket: Socket): void {
  socket.resetAndDestroy();
}

/** Promises the whole body, sends the first half, and goes. */
function truncate(res: ServerResponse, socket: Socket, { status, headers, body }: Reply): void {
  if (res.destroyed) return;
  if (body === null || body.length === 0) {
    socket.resetAndDestroy();
    return;
  }
  const bytes = Buffer.from(body);
  res.writeHead(status, [...headers, "content-length", String(bytes.length)]);
  res.write(bytes.subarray(0, bytes.length >> 1), () => socket.destroySoon());
}

/** How answers fail to arrive over a socket. */
export const mishaps: Readonly<
  Record<Transport, (res: ServerResponse, socket: Socket, reply: Reply, hung: Set<ServerResponse>) => void>
> = { hang, reset, truncate };
