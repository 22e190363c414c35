import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { clearTimeout, performance, setTimeout } from "../../../kernel/base/real-time.ts";
import { headOf, type RawBody } from "../format/raw-exchange.ts";
import { createChunkTimes, createKeeper } from "./passing-body.ts";
import { type Agents, createAgents } from "./upstreams.ts";

export interface Prepared {
  method: string;
  /** Path and query. */
  target: string;
  /** name, value, name, value …, with `Host` and `Content-Length`. */
  headers: readonly string[];
  body: Buffer;
}

interface SendOptions {
  /** Largest body that is kept, in bytes; default 32 MB, 0: none is. */
  limit?: number;
  signal?: AbortSignal | undefined;
}

const defaultLimit = 32 * 1024 * 1024;

/** True if the other side closed an idle connection: it did not read the request. */
const wasStale = (error: unknown, outgoing: ClientRequest): boolean =>
  outgoing.reusedSocket && error instanceof Error && "code" in error && /^(ECONNRESET|EPIPE)$/.test(String(error.code));

const responseTo = (outgoing: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => outgoing.once("response", resolve).on("error", reject));

/** Connections stay open; redirects are not followed. @param answerMs How long a whole answer may take */
export function createTransport(agents: Agents = createAgents(), answerMs = 60_000) {
  async function once(base: URL, prepared: Prepared, { limit = defaultLimit, signal }: SendOptions) {
    const { method, target: path, headers, body } = prepared;
    const begin = performance.now();
    const request = base.protocol === "https:" ? httpsRequest : httpRequest;
    const options = { method, path, headers: [...headers], agent: agents.of(base.protocol) };
    const outgoing = request(base, { ...options, ...(signal && { signal }) });
    const head = responseTo(outgoing);
    outgoing.end(body);
    const late = Object.assign(new Error(`there was no complete response within ${answerMs} ms`), {
      code: "ETIMEDOUT",
    });
    let message: IncomingMessage | undefined;
    const timer = setTimeout(() => (message ?? outgoing).destroy(late), answerMs);
    try {
      message = await head;
      const ttfb = performance.now() - begin;
      const times = createChunkTimes(begin);
      const keeper = createKeeper(limit);
      for await (const chunk of message) {
        times.add(chunk);
        keeper.add(chunk);
      }
      const kept: RawBody = limit === 0 ? { omitted: "not_kept", bytes: keeper.bytes } : keeper.body();
      return { ...headOf(message), body: kept, ttfb, total: performance.now() - begin, chunks: times.list() };
    } catch (error) {
      if (message === undefined && wasStale(error, outgoing)) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    /** @param base Its scheme, host and port count @throws the system's error, or one with the reason */
    async send(base: URL, prepared: Prepared, options: SendOptions = {}) {
      const answer = (await once(base, prepared, options)) ?? (await once(base, prepared, options));
      if (answer) return answer;
      throw Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" });
    },
    close: agents.close,
  };
}

export type Transport = ReturnType<typeof createTransport>;
