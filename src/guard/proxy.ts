import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { hopHeaders } from "../kernel/hop-headers.ts";
import type { Place } from "../kernel/host-rules.ts";
import { aimOf } from "./attempt.ts";
import { blockedError } from "./errors.ts";
import type { BlockedCall } from "./types.ts";

export interface GuardProxy {
  readonly url: string;
  /** Ends it and every connection through it. */
  close(): Promise<void>;
}

export interface ProxyOptions {
  /** The sim's address, for the advice. */
  simUrl: string;
  refuses(place: Place): boolean;
  onBlocked(call: BlockedCall): void;
}

/** Name, value, name, value, as they came; without those of the connection. */
const passedOn = (raw: readonly string[]): string[] =>
  raw.filter((_, i) => !hopHeaders.has((raw[i - (i % 2)] ?? "").toLowerCase()));

/** The sentence with which a call is refused; undefined when it may pass. */
function refusal(options: ProxyOptions, { method = "", url = "" }: IncomingMessage): string | undefined {
  const aim = aimOf(method, "", url);
  if (aim === undefined || !options.refuses(aim.place)) return undefined;
  const call = { method, url: aim.url, host: aim.place.host, at: new Date().toISOString(), stack: "" };
  options.onBlocked(call);
  return `${blockedError(call, options.simUrl).message}\n`;
}

const plain = { "content-type": "text/plain; charset=utf-8" };

function forward(request: IncomingMessage, response: ServerResponse): void {
  const { url = "", method } = request;
  if (!/^http:\/\//i.test(url) || !URL.canParse(url)) {
    response
      .writeHead(400, plain)
      .end("phx-sim guard: this is a proxy; it takes http://host/path or CONNECT\n");
    return;
  }
  const { hostname, port, pathname, search } = new URL(url);
  const onward = send({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port || 80,
    path: pathname + search,
    method,
    headers: passedOn(request.rawHeaders),
    agent: false,
  });
  onward.on("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedOn(answer.rawHeaders));
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  });
  onward.on("error", (error) => {
    if (response.headersSent) response.destroy();
    else
      response.writeHead(502, plain).end(`phx-sim guard: ${hostname} cannot be reached: ${error.message}\n`);
  });
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

const end = (socket: Duplex, status: string, text: string): void =>
  void socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );

const hostAndPort = /^(?:\[([\da-f:.]+)\]|([^:/]+)):(\d{1,5})$/i;

/** Joins two sockets; each may end its half while the other still talks. */
function tunnel(target: string, client: Duplex, head: Buffer, track: (socket: Socket) => void): void {
  const [, v6, name, port] = hostAndPort.exec(target) ?? [];
  const host = v6 ?? name;
  if (host === undefined || Number(port) > 65_535) {
    end(client, "400 Bad Request", "phx-sim guard: CONNECT takes host:port\n");
    return;
  }
  const server = connect({ host, port: Number(port), allowHalfOpen: true });
  track(server);
  let isOpen = false;
  server.once("connect", () => {
    isOpen = true;
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    if (head.length > 0) server.write(head);
    server.pipe(client);
    client.pipe(server);
  });
  server.on("error", (error) => {
    if (isOpen) client.destroy();
    else end(client, "502 Bad Gateway", `phx-sim guard: ${target} cannot be reached: ${error.message}\n`);
  });
  client.on("error", () => server.destroy());
  client.on("close", () => server.destroy());
}

/** A forward proxy on this machine that refuses guarded hosts with 403 and passes everything else through. */
export async function openProxy(options: ProxyOptions): Promise<GuardProxy> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };
  const server = createServer((request, response) => {
    const sentence = refusal(options, request);
    if (sentence === undefined) forward(request, response);
    else response.writeHead(403, plain).end(sentence);
  });
  server.on("connection", track);
  server.on("connect", (request: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on("error", () => client.destroy());
    const sentence = refusal(options, request);
    if (sentence === undefined) tunnel(request.url ?? "", client, head, track);
    else end(client, "403 Forbidden", sentence);
  });
  server.on("clientError", (_error, socket) => void socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
