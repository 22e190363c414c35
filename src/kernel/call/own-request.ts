import { ClientRequest, OutgoingMessage } from "node:http";
import { Socket } from "node:net";
import { plainHost } from "../http/host-rules.ts";

/** `ClientRequest` of Node: test tools that replace it (nock, MSW) extend or wrap it. */
function ownClass(): typeof ClientRequest {
  let { prototype } = ClientRequest as { prototype: object };
  for (;;) {
    const above = Object.getPrototypeOf(prototype);
    if (above === OutgoingMessage.prototype || above === null) return prototype.constructor as never;
    prototype = above;
  }
}

const place = Symbol.for("phx-sim.connect");
const holder: { [place]?: Socket["connect"] } = Socket as never;
/** Kept for the whole process: jest loads this once for each file, after tools that the file before has left active. */
const connect = holder[place] ?? Socket.prototype.connect;
holder[place] = connect;

const open = (options: { host: string; port: number }): Socket => Reflect.apply(connect, new Socket(), [options]);

/** A request over a connection of its own, which test tools that were activated after this was loaded do not see. */
export function ownRequest(url: URL, options: { method: string; headers: Record<string, string> }): ClientRequest {
  const isSecure = url.protocol === "https:";
  const host = plainHost(url.hostname);
  const defaultPort = isSecure ? 443 : 80;
  const port = Number(url.port || defaultPort);
  // not imported: a sim in this process also has a client, and needs no TLS
  const secured = isSecure ? process.getBuiltinModule("node:tls").connect : undefined;
  return new (ownClass())({
    ...options,
    host,
    port,
    defaultPort,
    path: url.pathname + url.search,
    createConnection: () => {
      const socket = open({ host, port });
      return secured ? secured({ socket, servername: /^[\d.]+$|:/.test(host) ? "" : host }) : socket;
    },
  });
}
