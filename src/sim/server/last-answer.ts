import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clearTimeout, setTimeout } from "../../kernel/base/real-time.ts";
import type { Reply, TransportFault } from "../../kernel/http/reply.ts";

/**
 * A sender that writes its whole body before it reads gets an error (EPIPE, ECONNRESET) instead of an early answer if
 * the connection closes. So the rest of its body is read and discarded first, within these limits.
 */
const mostBytes = 256 * 1024 * 1024;
/** ms. */
export const mostLinger = 10_000;

/** Discards what arrives from `from` until `end` is called: at the end of the data, or at a limit. */
function discard(from: NodeJS.ReadableStream, ms: number, end: () => void): void {
  let left = mostBytes;
  const stop = () => {
    clearTimeout(timer);
    from.off("data", count);
    end();
  };
  const count = (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) stop();
  };
  const timer = setTimeout(stop, ms);
  from.on("data", count).once("end", stop).once("close", stop);
  from.resume();
}

/** Sends the last answer of a connection, while the body may still arrive. @param head Flat, without the length */
export function sendLast(
  res: ServerResponse,
  status: number,
  head: readonly string[],
  body: string | Buffer | null,
  ms = mostLinger,
): void {
  if (res.headersSent || res.destroyed) return;
  const bytes = Buffer.from(body ?? "");
  res.writeHead(status, [...head, "content-length", String(bytes.length), "connection", "close"]);
  if (res.req.complete) return void res.end(bytes);
  // The client has the whole answer now; node:http closes the connection at the end of the response.
  res.write(bytes);
  discard(res.req, ms, () => res.end());
}

/** The same for a connection that node:http has no response for. */
export function endWith(socket: Socket, answer: string | Buffer, ms = mostLinger): void {
  if (!socket.writable) return void socket.destroy();
  socket.end(answer);
  // A parser that has failed would report each further chunk.
  socket.removeAllListeners("data");
  discard(socket, ms, () => socket.destroySoon());
}

function hang(res: ServerResponse, socket: Socket, _: Reply, hung: Set<ServerResponse>): void {
  if (res.destroyed) return;
  const leave = () => res.destroy();
  hung.add(res);
  res.once("close", () => {
    socket.off("end", leave);
    hung.delete(res);
  });
  if (socket.readableEnded) leave();
  else socket.once("end", leave);
}

function reset(_: ServerResponse, socket: Socket): void {
  socket.resetAndDestroy();
}

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

function cut(res: ServerResponse, socket: Socket, { status, headers, body }: Reply): void {
  if (res.destroyed) return;
  const end = () => socket.destroySoon();
  res.writeHead(status, headers);
  if (body !== null && body.length > 0) return void res.write(body, end);
  res.flushHeaders();
  setImmediate(end);
}

export const mishaps: Readonly<
  Record<TransportFault, (res: ServerResponse, socket: Socket, reply: Reply, hung: Set<ServerResponse>) => void>
> = { hang, reset, truncate, cut };
