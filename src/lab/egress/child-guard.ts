import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { builtFile } from "../../kernel/base/built-file.ts";
import { headersWithout, hopHeaders } from "../../kernel/http/reply.ts";
import { aimOf, type Place } from "./attempt.ts";
import {
  type BlockedCall,
  blockedError,
  callsKept,
  type GuardOptions,
  logVariable,
  readCalls,
  rulesVariable,
} from "./blocked-call.ts";
import { placeTest } from "./guard.ts";

export interface ChildGuardOptions extends GuardOptions {
  url: string;
  /** The environment that the child would get. Default: this process's. */
  env?: Readonly<Record<string, string | undefined>>;
}

export interface ChildGuard extends AsyncDisposable {
  readonly env: Record<string, string>;
  /** Sentences about what is not guarded, for people. */
  readonly notes: readonly string[];
  calls(): Promise<BlockedCall[]>;
  /** Ends the proxy and removes the log. Can be called twice. */
  close(): Promise<void>;
}

/** `--require` runs first in every process and worker thread, also with eval; `--import` does not. */
export function nodeOptions(before: string | undefined, preload = builtFile("lab/egress/preload.cjs")): string {
  const ours = `--require "${preload.replace(/["\\]/g, "\\$&")}"`;
  return before?.trim() ? `${before} ${ours}` : ours;
}

export const proxyNames = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
export const bothCases = (name: string): string[] => [name, name.toLowerCase()];
const direct = ["127.0.0.1", "localhost", "::1"];

export function proxyVariables(env: ChildGuardOptions["env"] = {}, url: string): Record<string, string> {
  const before = (env.NO_PROXY || env.no_proxy || "").split(",").map((it) => it.trim());
  const exempt = [...new Set([...before, ...direct])].filter(Boolean).join(",");
  return Object.fromEntries([
    ...proxyNames.flatMap(bothCases).map((name) => [name, url]),
    ...bothCases("NO_PROXY").map((name) => [name, exempt]),
  ]);
}

/**
 * Guards child processes: Node ones (and theirs) by a preload, others by a proxy, if none is set yet.
 * Not guarded: programs that ignore `HTTP_PROXY`, paths of https. @throws TypeError when a host cannot be read
 */
export async function openGuard({
  url,
  hosts = [],
  allow = [],
  env = process.env,
}: ChildGuardOptions): Promise<ChildGuard> {
  const refuses = placeTest({ hosts, allow });
  const options = nodeOptions(env.NODE_OPTIONS);
  const taken = proxyNames.flatMap(bothCases).filter((name) => env[name]);
  const folder = await mkdtemp(join(tmpdir(), "phx-sim-egress-"));
  const log = join(folder, "calls.ndjson");
  const atProxy: BlockedCall[] = [];
  const keep = (call: BlockedCall) => {
    if (atProxy.length < callsKept) atProxy.push(call);
  };
  const proxy = taken.length > 0 ? undefined : await openProxy({ simUrl: url, refuses, onBlocked: keep });
  let inChildren: BlockedCall[] = [];
  let closing: Promise<void> | undefined;
  const close = async () => {
    inChildren = readCalls(log);
    await Promise.all([proxy?.close(), rm(folder, { recursive: true, force: true })]);
  };
  return {
    env: {
      NODE_OPTIONS: options,
      [logVariable]: log,
      [rulesVariable]: JSON.stringify({ url, hosts, allow }),
      ...(proxy && proxyVariables(env, proxy.url)),
    },
    notes: proxy
      ? []
      : [`${taken.join(", ")} is set and left as it is: only Node processes are guarded, other programs are not.`],
    calls: async () => [...(closing ? inChildren : readCalls(log)), ...atProxy].sort((a, b) => (a.at < b.at ? -1 : 1)),
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}

interface ProxyOptions {
  simUrl: string;
  refuses(place: Place): boolean;
  onBlocked(call: BlockedCall): void;
}

const passedOn = (raw: readonly string[]): string[] => headersWithout(raw, (name) => hopHeaders.has(name));

function refusal(options: ProxyOptions, { method = "", url = "", headers }: IncomingMessage): string | undefined {
  const aim = aimOf(method, "", url, { agent: headers["user-agent"] });
  if (aim === undefined || !options.refuses(aim.place)) return undefined;
  const call = { method, url: aim.url, host: aim.place.host, at: new Date().toISOString(), stack: "" };
  options.onBlocked(call);
  return `${blockedError(call, options.simUrl).message}\n`;
}

const plain = { "content-type": "text/plain; charset=utf-8" };

function forward(request: IncomingMessage, response: ServerResponse): void {
  const { url = "", method } = request;
  if (!/^http:\/\//i.test(url) || !URL.canParse(url)) {
    response.writeHead(400, plain).end("phx-sim guard: this is a proxy; it takes http://host/path or CONNECT\n");
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
    else response.writeHead(502, plain).end(`phx-sim guard: ${hostname} cannot be reached: ${error.message}\n`);
  });
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

const end = (socket: Duplex, status: string, text: string): void =>
  void socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );

const hostAndPort = /^(?:\[([\da-f:.]+)\]|([^:/]+)):(\d{1,5})$/i;

/** Joins two sockets; each may end its half while the other still sends. */
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

async function openProxy(options: ProxyOptions) {
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
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
