import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { clearTimeout, performance, setTimeout } from "../../../kernel/base/real-time.ts";
import type { RawAnswer } from "../format/raw-exchange.ts";
import { createChunkTimes } from "./chunk-times.ts";
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

async function bodyOf(
  message: IncomingMessage,
  limit: number,
  times: ReturnType<typeof createChunkTimes>,
): Promise<RawAnswer["body"]> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message) {
    bytes += chunk.length;
    times.add(chunk);
    if (bytes <= limit) chunks.push(chunk);
  }
  if (limit === 0) return { omitted: "not_kept", bytes };
  return bytes > limit ? { omitted: "too_large", bytes } : Buffer.concat(chunks);
}

/** True if the other side closed an idle connection: it did not read the request. */
const wasStale = (error: unknown, outgoing: ClientRequest): boolean =>
  outgoing.reusedSocket && error instanceof Error && "code" in error && /^(ECONNRESET|EPIPE)$/.test(String(error.code));

const headOf = (outgoing: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => outgoing.once("response", resolve).on("error", reject));

/** @param answerMs How long a whole answer may take */
export function createTransport(agents: Agents = createAgents(), answerMs = 60_000) {
  async function once(base: URL, prepared: Prepared, { limit = defaultLimit, signal }: SendOptions) {
    const { method, target: path, headers, body } = prepared;
    const begin = performance.now();
    const request = base.protocol === "https:" ? httpsRequest : httpRequest;
    const options = { method, path, headers: [...headers], agent: agents.of(base.protocol) };
    const outgoing = request(base, { ...options, ...(signal && { signal }) });
    const head = headOf(outgoing);
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
      const kept = await bodyOf(message, limit, times);
      const chunks = times.list();
      const total = performance.now() - begin;
      return { ...answerOf(message, kept), ttfb, total, ...(chunks && { chunks }) };
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
    /** Cuts off what is in flight. */
    close: agents.close,
  };
}

/** Sends requests over connections that stay open. Redirects are not followed. */
export type Transport = ReturnType<typeof createTransport>;

function answerOf(message: IncomingMessage, body: RawAnswer["body"]): Omit<RawAnswer, "ttfb" | "total"> {
  const { statusCode = 502, statusMessage = "", httpVersion, rawHeaders } = message;
  return { status: statusCode, reason: statusMessage, http: httpVersion, headers: rawHeaders, body };
}
