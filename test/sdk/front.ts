import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** What the front does to a request before or instead of passing it on. */
type Mishap =
  | "refused" /* 503 at once: the sim never sees it */
  | "lost answer"; /* the sim has it, but the sender gets 503 */

/** A server in front of the sim on which things go wrong. */
interface Front extends AsyncDisposable {
  url: string;
  /** Paths asked for, in order, with what happened. */
  asked: string[];
}

async function pass(request: IncomingMessage, body: Buffer, target: string): Promise<Response> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === "string" && !hopByHop.has(name)) headers.set(name, value);
  }
  const init: RequestInit = { method: request.method ?? "GET", headers };
  return fetch(target + (request.url ?? "/"), body.length > 0 ? { ...init, body: new Uint8Array(body) } : init);
}

const hopByHop = new Set(["connection", "content-length", "host", "transfer-encoding", "expect"]);

async function answer(response: ServerResponse, from: Response): Promise<void> {
  const type = from.headers.get("content-type");
  response.writeHead(from.status, type ? { "content-type": type } : {});
  response.end(Buffer.from(await from.arrayBuffer()));
}

/** Passes everything on to `target`, except that the first requests meet these mishaps, one each. */
export async function openFront(target: string, mishaps: readonly Mishap[]): Promise<Front> {
  const left = [...mishaps];
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const mishap = left.shift();
    asked.push(`${request.method} ${request.url}${mishap ? ` (${mishap})` : ""}`);
    const passed = mishap === "refused" ? undefined : await pass(request, body, target);
    if (mishap || !passed) {
      response.writeHead(503, { "content-type": "text/plain" }).end("try again");
    } else {
      await answer(response, passed);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
