import { request as requestPlain } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";

/** What came back, as text. */
export interface Answer {
  status: number;
  body: string;
}

/** A CONNECT through the proxy; the tunnel, or the refusal. */
export function tunnel(proxy: string, authority: string): Promise<{ socket: Socket; status: number; head: string }> {
  const { hostname, port } = new URL(proxy);
  return new Promise((resolve, reject) => {
    const asked = requestPlain({ host: hostname, port, method: "CONNECT", path: authority });
    asked.on("error", reject);
    asked.on("connect", (answer, socket, head) => {
      resolve({ socket, status: answer.statusCode ?? 0, head: head.toString() });
    });
    asked.end();
  });
}

export interface TlsOptions {
  ca: string;
  host: string;
  alpn?: string[];
}

/** TLS inside a connection. */
export const secured = (socket: Socket, { ca, host, alpn }: TlsOptions): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const inner = connectTls({ socket, ca, servername: host, ...(alpn && { ALPNProtocols: alpn }) }, () =>
      resolve(inner),
    );
    inner.on("error", reject);
  });

/** Writes bytes and reads until `until` has been seen, or the other side ends. */
export const talk = (socket: Socket, bytes: string | Buffer | readonly string[], until?: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = "";
    const done = () => {
      socket.destroy();
      resolve(text);
    };
    socket.on("data", (chunk) => {
      text += chunk;
      if (until !== undefined && text.includes(until)) done();
    });
    socket.on("end", done).on("close", done).on("error", reject);
    for (const part of Array.isArray(bytes) ? bytes : [bytes]) socket.write(part);
  });

/** A plain connection to where a URL leads. */
export function dial(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port) });
}

/** One request over HTTP/2 on a connection, or to a URL. */
export function ask2(session: ClientHttp2Session, path: string, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    session.on("error", reject);
    const method = body === undefined ? "GET" : "POST";
    const asked = session.request({ ":path": path, ":method": method, "content-type": "application/json" });
    let status = 0;
    let text = "";
    asked.setEncoding("utf8");
    asked.on("response", (headers) => {
      status = Number(headers[":status"]);
    });
    asked.on("data", (chunk: string) => {
      text += chunk;
    });
    asked.on("error", reject).on("end", () => {
      session.close();
      resolve({ status, body: text });
    });
    asked.end(body);
  });
}

export const http2Over = (socket: TLSSocket, host: string): ClientHttp2Session =>
  connectHttp2(`https://${host}`, { createConnection: () => socket });
