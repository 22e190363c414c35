import { Agent, request } from "node:http";
import { performance } from "node:perf_hooks";
import type { Server } from "./server.ts";

/** An answer and the time it took, in milliseconds. */
interface Answer {
  status: number;
  body: string;
  ms: number;
  /** When its last byte was read, on the clock of `performance.now()`. */
  at: number;
}

/** One keep-alive connection to a server, for calls that are timed one by one. */
export interface Client {
  call(method: string, path: string, body?: Buffer | string): Promise<Answer>;
  /** The same, its body parsed. @throws Error when the status is not 200. */
  json<T>(method: string, path: string, body?: Buffer | string): Promise<T>;
  close(): void;
}

/** A server that says nothing for that long has hung. */
const patience = 30_000;

export function connect(server: Server): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = (method: string, path: string, body?: Buffer | string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const headers = body === undefined ? {} : { "content-type": "application/json" };
      const sent = request(`${server.url}${path}`, { method, agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const at = performance.now();
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, body: text, ms: at - startedAt, at });
        });
      });
      sent.on("error", reject);
      sent.setTimeout(patience, () => sent.destroy(new Error(`${method} ${path}: no answer in ${patience} ms`)));
      sent.end(body);
    });
  return {
    call,
    async json<T>(method: string, path: string, body?: Buffer | string) {
      const answer = await call(method, path, body);
      if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 300)}`);
      return JSON.parse(answer.body) as T;
    },
    close: () => agent.destroy(),
  };
}
