import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { onFirstUse } from "../../../kernel/base/on-first-use.ts";
import { splice } from "../../../kernel/base/splice.ts";
import type { HostRule } from "../../../kernel/http/host-rules.ts";
import { endWith } from "../last-answer.ts";
import { distrustText, replacedText } from "./certificate-authority.ts";
import { openDecryptor } from "./decryptor.ts";
import { type AbsoluteTarget, type Authority, peek, readAuthority } from "./first-bytes.ts";
import { findTarget, refuseRequest, sendElsewhere, TargetError } from "./targets.ts";

export interface ProxyOptions {
  /** Requests for hosts that are not the service's: `tunnel` (default) passes their bytes on unread, `refuse` answers 403. */
  others?: "tunnel" | "refuse";
  /**
   * Exceptions for addresses of this machine and of private networks, which are refused otherwise: `localhost:3000`,
   * `10.1.2.3`, `*.corp.example`. The sim's own port is never reached through its proxy.
   */
  allow?: readonly string[];
  /** Folder of the certificate authority. Default: `PHX_SIM_CA_DIR`, else `~/.phx-sim/ca`. */
  caFolder?: string;
}

interface ProxyParts {
  others: "tunnel" | "refuse";
  allow: readonly HostRule[];
  caFolder: string | undefined;
  ownPort: number;
  isOurs: (authority: Authority) => boolean;
  admit: (socket: Socket, scheme: "http" | "https") => void;
  keep: (socket: Socket) => void;
  notice: (text: string) => void;
  /** A tunnel to the sim in which nothing is sent is closed after this time, ms. */
  silence: number;
}

const othersRefused = "this proxy only takes hosts of the service (--proxy-others tunnel passes others on)";

export function createProxy(parts: ProxyParts) {
  const { keep, notice } = parts;
  const decryptor = onFirstUse(() =>
    openDecryptor({
      caFolder: parts.caFolder,
      admit: parts.admit,
      onDistrusted: noticeOnce(notice),
      onReplaced: (end, certFile) => notice(replacedText(end, certFile)),
    }),
  );

  async function decrypt(socket: Socket): Promise<void> {
    keep(socket);
    socket.on("error", () => {});
    try {
      const { port } = await decryptor();
      if (socket.destroyed) return;
      // Bound first, its port is unique: mockttp takes a port that one of its own connections has for a loop.
      const own = { host: "127.0.0.1", localAddress: "127.0.0.1" };
      const inner = connect({ ...own, port, noDelay: true, allowHalfOpen: true });
      keep(inner);
      splice(socket, inner);
    } catch (error) {
      socket.destroy();
      notice(`the proxy cannot take TLS or HTTP/2: ${error instanceof Error ? error.message : String(error)}`);
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
    const failed = (error: Error) => refuseTunnel(socket, 502, `${host}:${port} was not reached: ${error.message}`);
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
    tunnel(req: IncomingMessage, socket: Socket, head: Buffer) {
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
    decrypt: (socket: Socket) => void decrypt(socket),
    send(req: IncomingMessage, res: ServerResponse, { authority: { host, port }, target }: AbsoluteTarget) {
      if (parts.others === "refuse") return refuseRequest(res, 403, othersRefused);
      findTarget(host, port, { allow: parts.allow, ownPort: parts.ownPort }).then(
        (to) => sendElsewhere(req, res, to, target),
        (error) => refuseRequest(res, ...whyNot(error)),
      );
    },
    close: async () =>
      decryptor.started?.then(
        (it) => it.close(),
        () => {},
      ),
  };
}

export type ForwardProxy = ReturnType<typeof createProxy>;

const whyNot = (error: unknown): [status: number, text: string] =>
  error instanceof TargetError ? [error.status, error.message] : [502, String(error)];

const reasons: Readonly<Record<number, string>> = { 400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway" };

function refuseTunnel(socket: Socket, status: number, text: string): void {
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

function noticeOnce(notice: ProxyParts["notice"]) {
  const reported = new Set<string>();
  return (host: string, ca: { certFile: string; spki: string }) => {
    if (reported.has(host) || reported.size > 100) return;
    reported.add(host);
    notice(distrustText(host, ca));
  };
}
