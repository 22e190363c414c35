import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A server that says exactly the bytes it is given, and keeps exactly those it is sent. */
export interface RawUpstream {
  readonly url: string;
  readonly port: number;
  /** What each connection sent. */
  received(): Buffer[];
  /** Resolves once `text` is in what came. */
  until(text: string): Promise<string>;
  close(): Promise<void>;
}

/** @param answer Called once a whole head has come, for each request without pipelining */
export async function rawUpstream(answer: (socket: Socket, head: string) => void): Promise<RawUpstream> {
  const received: Buffer[][] = [];
  const sockets = new Set<Socket>();
  const lookers = new Set<() => void>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    const chunks: Buffer[] = [];
    received.push(chunks);
    let answered = false;
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      const head = answered ? "" : Buffer.concat(chunks).toString("latin1");
      if (head.includes("\r\n\r\n")) {
        answered = true;
        answer(socket, head);
      }
      for (const look of lookers) look();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const all = () => Buffer.concat(received.flat()).toString("latin1");
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received: () => received.map((chunks) => Buffer.concat(chunks)),
    until: (text) =>
      new Promise((resolve) => {
        const look = () => {
          if (!all().includes(text)) return;
          lookers.delete(look);
          resolve(all());
        };
        lookers.add(look);
        look();
      }),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** A client that sends exactly these bytes; `all` resolves when the connection has ended. */
export function rawClient(url: string, bytes: string | Buffer) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  const lookers = new Set<() => void>();
  let isClosed = false;
  const text = () => Buffer.concat(chunks).toString("latin1");
  const all = new Promise<Buffer>((resolve) => {
    socket.on("close", () => {
      isClosed = true;
      for (const look of [...lookers]) look();
      resolve(Buffer.concat(chunks));
    });
  });
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    chunks.push(chunk);
    for (const look of [...lookers]) look();
  });
  socket.write(bytes);
  return {
    socket,
    all,
    /** What has come once it fits, or once the connection is over. */
    until: (pattern: RegExp) =>
      new Promise<string>((resolve) => {
        const look = () => {
          if (!pattern.test(text()) && !isClosed) return;
          lookers.delete(look);
          resolve(text());
        };
        lookers.add(look);
        look();
      }),
  };
}
