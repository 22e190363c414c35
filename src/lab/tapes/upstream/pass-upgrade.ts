import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { performance } from "../../../kernel/base/real-time.ts";
import { splice } from "../../../kernel/base/splice.ts";
import { headOf } from "../format/raw-exchange.ts";
import { type ForwardedExchange, openUpstream, pathIn } from "./forward.ts";
import { toClient } from "./rewriting.ts";
import { failureBody, failureOf, type UpstreamFailure } from "./upstreams.ts";

interface UpgradeOptions extends Pick<Parameters<typeof openUpstream>[1], "base" | "agents" | "ownPort"> {
  /** Arrival, ms since the epoch. */
  at: number;
}

const nothing = Buffer.alloc(0);
const handshake = ["Connection", "Upgrade", "Upgrade", "websocket"];

function headBytes(status: number, reason: string, headers: readonly string[]): Buffer {
  const lines = headers.flatMap((it, i) => (i % 2 === 0 ? [] : `${headers[i - 1]}: ${it}\r\n`));
  return Buffer.from(`HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n`, "latin1");
}

function headOfRefusal(answer: IncomingMessage): Buffer {
  const { status, reason, headers: given } = headOf(answer);
  const headers = toClient(given, { staysOpen: false, takesChunks: false });
  const isNamed = headers.some((it, i) => i % 2 === 0 && it.toLowerCase() === "connection");
  return headBytes(status, reason, isNamed ? headers : [...headers, "Connection", "close"]);
}

function refuse(socket: Socket, failure: UpstreamFailure): void {
  const body = failureBody(failure);
  const length = String(Buffer.byteLength(body));
  const headers = ["content-type", "application/json", "content-length", length, "connection", "close"];
  socket.end(
    Buffer.concat([headBytes(502, "Bad Gateway", [...headers, "x-phx-source", "upstream"]), Buffer.from(body)]),
  );
}

/**
 * The bytes after the handshake are not kept. Resolves with the handshake; never rejects.
 * @param head What came after it
 */
export function passUpgrade(
  req: IncomingMessage,
  socket: Socket,
  head: Buffer,
  options: UpgradeOptions,
): Promise<ForwardedExchange> {
  const { base, at } = options;
  const started = performance.now();
  return new Promise((resolve) => {
    const over = (answer: IncomingMessage | undefined, failure?: UpstreamFailure) => {
      const ms = performance.now() - started;
      const given = answer ? { ...headOf(answer), body: nothing, ttfb: ms, total: ms } : null;
      const { method = "GET", httpVersion: http, rawHeaders: headers } = req;
      const url = base.origin + pathIn(req.url ?? "/");
      const exchange = { at, method, url, http, headers, body: nothing, answer: given };
      resolve({ exchange, failure });
    };
    socket.on("error", () => {});
    socket.setTimeout(0);
    try {
      const upstream = openUpstream(req, options, handshake);
      let isAnswered = false;
      socket.once("close", () => upstream.destroy());
      upstream.once("upgrade", (answer, far: Socket, farHead) => {
        isAnswered = true;
        far.setTimeout(0);
        const taken = headBytes(101, answer.statusMessage ?? "", answer.rawHeaders);
        socket.write(Buffer.concat([taken, farHead]));
        if (head.length > 0) far.write(head);
        splice(socket, far);
        over(answer);
      });
      upstream.once("response", (answer) => {
        isAnswered = true;
        socket.write(headOfRefusal(answer));
        pipeline(answer, socket, () => {});
        over(answer);
      });
      upstream.on("error", (error) => {
        if (isAnswered) return;
        const failure = failureOf(error, base.origin);
        refuse(socket, failure);
        over(undefined, failure);
      });
      upstream.end();
    } catch (error) {
      const failure = failureOf(error, base.origin);
      refuse(socket, failure);
      over(undefined, failure);
    }
  });
}
