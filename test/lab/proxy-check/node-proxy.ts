import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request on its way to the upstream. */
interface Passed {
  method: string;
  /** Path and query, without the prefix. */
  target: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** An answer on its way back. */
interface Returned {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** What one proxy does otherwise than it should. */
export interface Mistake {
  /** Answers in place of the proxy, below /ingest; true if it did. */
  before?(req: IncomingMessage, res: ServerResponse): boolean;
  passes?(request: Passed): void;
  /** Answers in place of the upstream. */
  instead?(request: Passed): Returned | undefined;
  returns?(answer: Returned, request: Passed): void;
  /** Number of times each request is sent. */
  times?: number;
}

export interface RunningProxy {
  readonly url: string;
  readonly origin: string;
  close(): Promise<void>;
}

const bytesOf = async (stream: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

function forward(upstream: string, { method, target, headers, body }: Passed): Promise<Returned> {
  return new Promise((resolve, reject) => {
    const sent = request(upstream + target, { method, headers, agent: false }, (answer) => {
      bytesOf(answer).then((bytes) => {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: bytes });
      }, reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const prefix = "/ingest";

/** A reverse proxy at /ingest, sound but for its mistake. */
export async function nodeProxy(upstream: string, mistake: Mistake = {}): Promise<RunningProxy> {
  async function pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = req.url ?? "/";
    if (!url.startsWith(`${prefix}/`))
      return void res.writeHead(404, { "content-type": "text/html" }).end("<html>not here</html>");
    if (mistake.before?.(req, res)) return;
    const body = await bytesOf(req);
    const { "transfer-encoding": _, connection: __, ...headers } = req.headers;
    const passed: Passed = {
      method: req.method ?? "GET",
      target: url.slice(prefix.length),
      headers: { ...headers, host: new URL(upstream).host, "x-forwarded-for": req.socket.remoteAddress },
      body,
    };
    mistake.passes?.(passed);
    if (passed.body.length > 0 || passed.headers["content-length"] !== undefined)
      passed.headers["content-length"] = String(passed.body.length);
    let answer = mistake.instead?.(passed) ?? (await forward(upstream, passed));
    for (let i = 1; i < (mistake.times ?? 1); i++) answer = await forward(upstream, passed);
    const { connection: ___, "transfer-encoding": ____, "content-length": _____, ...back } = answer.headers;
    const returned = { ...answer, headers: back };
    mistake.returns?.(returned, passed);
    res.writeHead(returned.status, returned.headers).end(returned.body);
  }
  const server = createServer((req, res) => {
    pass(req, res).catch(() => res.headersSent || res.writeHead(502).end("Bad Gateway"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: origin + prefix,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
