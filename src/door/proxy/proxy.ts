import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { HostRule } from "../../kernel/host-rules.ts";
import { endWith } from "../last-answer.ts";
import { type AbsoluteTarget, type Authority, readAuthority } from "./authority.ts";
import { type Decryptor, openDecryptor } from "./decryptor.ts";
import { refuseRequest, sendElsewhere } from "./elsewhere.ts";
import { peek } from "./peek.ts";
import { splice } from "./splice.ts";
import { findTarget, TargetError } from "./targets.ts";
import { distrustText } from "./trust-text.ts";

export interface ProxyParts {
  others: "tunnel" | "refuse";
  allow: readonly HostRule[];
  caFolder: string | undefined;
  ownPort: number;
  /** Does the sim answer for it? */
  isOurs: (authority: Authority) => boolean;
  /** Hands a connection with HTTP/1.1 in clear to the sim, as one that came through the proxy. */
  admit: (socket: Socket, scheme: "http" | "https") => void;
  /** Has the connection closed with the sim. */
  keep: (socket: Socket) => void;
  notice: (text: string) => void;
  /** A tunnel to the sim in which nothing is said is given up after this long, ms. */
  silence: number;
}

/** What a forward proxy does, besides being one port with the sim. */
export interface ForwardProxy {
  /** A CONNECT, with the bytes that came after it. */
  tunnel(req: IncomingMessage, socket: Socket, head: Buffer): void;
  /** TLS, or HTTP/2 in clear, of which nothing was read yet. */
  decrypt(socket: Socket): void;
  /** A request in absolute form for a host that is not ours. */
  send(req: IncomingMessage, res: ServerResponse, to: AbsoluteTarget): void;
  close(): Promise<void>;
}

const othersRefused = "this proxy only takes hosts of the service (--proxy-others tunnel passes others on)";

export function createProxy(parts: ProxyParts): ForwardProxy {
  const { keep, notice } = parts;
  const decryptor = loadedOnce(() =>
    openDecryptor({
      caFolder: parts.caFolder,
      admit: parts.admit,
      onDistrusted: tellOnce(notice),
    }),
  );

  async function decrypt(socket: Socket): Promise<void> {
    keep(socket);
    socket.on("error", () => {});
    try {
      const { port } = await decryptor.get();
      if (socket.destroyed) return;
      // Bound first, its port is nobody else's: mockttp takes one that a connection of its own has, too, for a loop.
      const own = { host: "127.0.0.1", localAddress: "127.0.0.1" };
      const inner = connect({ ...own, port, noDelay: true, allowHalfOpen: true });
      keep(inner);
      splice(socket, inner);
    } catch (error) {
      socket.destroy();
      notice(
        `the proxy cannot take TLS or HTTP/2: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  function open(socket: Socket): void {
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    const giveUp = () => socket.destroy();
    socket.setTimeout(parts.silence, giveUp);
    peek(socket, (speech) => {
      socket.setTimeout(0, giveUp);
      if (speech === "http") parts.admit(socket, "http");
      else void decrypt(socket);
    });
  }

  async function pass(socket: Socket, head: Buffer, { host, port }: Authority): Promise<void> {
    const target = await findTarget(host, port, { allow: parts.allow, ownPort: parts.ownPort });
    const outer = connect({ host: target.address, port, noDelay: true, allowHalfOpen: true });
    keep(outer);
    const failed = (error: Error) =>
      refuseTunnel(socket, 502, `${host}:${port} was not reached: ${error.message}`);
    const leave = () => outer.destroy();
    socket.once("close", leave);
    outer.once("error", failed).once("connect", () => {
      outer.off("error", failed);
      socket.off("close", leave);
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      if (head.length > 0) outer.write(head);
      splice(socket, outer);
    });
  }

  return {
    tunnel(req, socket, head) {
      keep(socket);
      socket.on("error", () => {});
      socket.setTimeout(0);
      const authority = readAuthority(req.url ?? "", 443);
      if (authority === undefined) return refuseTunnel(socket, 400, "CONNECT needs host:port");
      if (parts.isOurs(authority)) {
        if (head.length > 0) socket.unshift(head);
        return open(socket);
      }
      if (parts.others === "refuse") return refuseTunnel(socket, 403, othersRefused);
      pass(socket, head, authority).catch((error) => refuseTunnel(socket, ...whyNot(error)));
    },
    decrypt: (socket) => void decrypt(socket),
    send(req, res, { authority: { host, port }, target }) {
      if (parts.others === "refuse") return refuseRequest(res, 403, othersRefused);
      findTarget(host, port, { allow: parts.allow, ownPort: parts.ownPort }).then(
        (to) => sendElsewhere(req, res, to, target),
        (error) => refuseRequest(res, ...whyNot(error)),
      );
    },
    close: () => decryptor.close(),
  };
}

const whyNot = (error: unknown): [status: number, text: string] =>
  error instanceof TargetError ? [error.status, error.message] : [502, String(error)];

const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  502: "Bad Gateway",
};

/** Answers a CONNECT that leads nowhere. */
export function refuseTunnel(socket: Socket, status: number, text: string): void {
  const body = `phx-sim: ${text}\n`;
  const head = [
    `HTTP/1.1 ${status} ${reasons[status] ?? "Error"}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "X-Phx-Source: proxy",
    "Connection: close",
  ];
  endWith(socket, `${head.join("\r\n")}\r\n\r\n${body}`);
}

/** The same client tries again and again; once for each host is enough. */
function tellOnce(notice: ProxyParts["notice"]) {
  const told = new Set<string>();
  return (host: string, ca: { certFile: string; spki: string }) => {
    if (told.has(host) || told.size > 100) return;
    told.add(host);
    notice(distrustText(host, ca));
  };
}

/** Opens it on first need; what failed is tried anew the next time. */
function loadedOnce(open: () => Promise<Decryptor>) {
  let opening: Promise<Decryptor> | undefined;
  return {
    get(): Promise<Decryptor> {
      opening ??= open().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    close: async () =>
      opening?.then(
        (it) => it.close(),
        () => {},
      ),
  };
}
