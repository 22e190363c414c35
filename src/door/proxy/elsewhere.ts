import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { sendLast } from "../last-answer.ts";
import type { Target } from "./targets.ts";

/** What concerns one connection only (RFC 9110, 7.6.1), or only the proxy. */
const ownOfConnection = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authorization",
  "proxy-authenticate",
  "te",
  "upgrade",
]);

/** name, value, name, value … without what is not passed on; order, case and duplicates stay. */
function passedOn(raw: readonly string[], connection: string | undefined): string[] {
  const named = new Set((connection ?? "").toLowerCase().split(/\s*,\s*/));
  return raw.filter((_, i) => {
    const name = (raw[i - (i % 2)] ?? "").toLowerCase();
    return !ownOfConnection.has(name) && !named.has(name);
  });
}

/** Sends a request on to a host that is not the service's, and its answer back, byte for byte. */
export function sendElsewhere(req: IncomingMessage, res: ServerResponse, to: Target, path: string): void {
  const upstream = request({
    host: to.address,
    port: to.port,
    method: req.method,
    path,
    headers: passedOn(req.rawHeaders, req.headers.connection) as never,
    setHost: false,
    agent: false,
  });
  upstream.on("response", (answer) => {
    res.sendDate = false;
    res.writeHead(
      answer.statusCode ?? 502,
      answer.statusMessage ?? "",
      passedOn(answer.rawHeaders, answer.headers.connection),
    );
    // whoever breaks off, the other one is told by its end
    pipeline(answer, res, () => {});
  });
  /** An answer may come before the request has ended: the rest of it is read. */
  const drain = () => {
    req.unpipe(upstream);
    req.resume();
  };
  upstream.on("error", (error) => {
    drain();
    refuseRequest(res, 502, `${to.address}:${to.port} did not answer: ${error.message}`);
  });
  res.once("close", () => {
    drain();
    upstream.destroy();
  });
  req.pipe(upstream);
}

/** A plain answer of the proxy's own. */
export function refuseRequest(res: ServerResponse, status: number, text: string): void {
  sendLast(
    res,
    status,
    ["content-type", "text/plain; charset=utf-8", "x-phx-source", "proxy"],
    `phx-sim: ${text}\n`,
  );
}
