import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { RawAnswer } from "../types.ts";
import type { Prepared } from "./types.ts";

/** Sends requests to one place over connections that stay open. Redirects are not followed. */
export interface Transport {
  /** The answer; its body only where it is to be kept. @throws the system's error, or one that says what was wrong */
  send(prepared: Prepared, keepBody: boolean): Promise<RawAnswer>;
  /** Cuts off what is under way. */
  close(): void;
}

/** An answer that takes longer than this is given up, ms. */
const defaultAnswerMs = 60_000;
/** Most bytes of an answer that are kept. */
const mostBytes = 32 * 1024 * 1024;

async function bodyOf(message: IncomingMessage, keep: boolean): Promise<RawAnswer["body"]> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message) {
    bytes += chunk.length;
    if (keep && bytes <= mostBytes) chunks.push(chunk);
  }
  if (!keep) return { omitted: "not_kept", bytes };
  return bytes > mostBytes ? { omitted: "too_large", bytes } : Buffer.concat(chunks);
}

/** The other side closed the connection while it lay idle: it heard nothing of the request. */
const wasStale = (error: unknown, outgoing: ClientRequest): boolean =>
  outgoing.reusedSocket &&
  error instanceof Error &&
  "code" in error &&
  /^(ECONNRESET|EPIPE)$/.test(String(error.code));

const headOf = (outgoing: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => outgoing.once("response", resolve).on("error", reject));

/** `answerMs`: how long a whole answer may take. */
export function createTransport(
  target: URL,
  connections: number,
  answerMs: number = defaultAnswerMs,
): Transport {
  const isTls = target.protocol === "https:";
  const settings = { keepAlive: true, maxSockets: connections };
  const agent = isTls ? new HttpsAgent(settings) : new HttpAgent(settings);
  const request = isTls ? httpsRequest : httpRequest;
  const hostname = target.hostname.replace(/^\[|\]$/g, "");
  const place = { agent, hostname, ...(target.port !== "" && { port: target.port }) };

  async function once({ method, target: path, headers, body }: Prepared, keep: boolean, isLast: boolean) {
    const begin = performance.now();
    const outgoing = request({ ...place, method, path, headers: [...headers] });
    const head = headOf(outgoing);
    outgoing.end(body);
    const late = new Error(`there was no whole answer within ${answerMs} ms`);
    let message: IncomingMessage | undefined;
    const timer = setTimeout(() => (message ?? outgoing).destroy(late), answerMs);
    try {
      message = await head;
      const ttfb = performance.now() - begin;
      const kept = await bodyOf(message, keep);
      return answerOf(message, kept, ttfb, performance.now() - begin);
    } catch (error) {
      if (message === undefined && !isLast && wasStale(error, outgoing)) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async send(prepared, keepBody) {
      const answer = (await once(prepared, keepBody, false)) ?? (await once(prepared, keepBody, true));
      if (answer) return answer;
      throw new Error("the connection was closed");
    },
    close: () => agent.destroy(),
  };
}

function answerOf(message: IncomingMessage, body: RawAnswer["body"], ttfb: number, total: number): RawAnswer {
  const { statusCode = 0, statusMessage = "", httpVersion, rawHeaders } = message;
  return {
    status: statusCode,
    reason: statusMessage,
    http: httpVersion,
    headers: rawHeaders,
    body,
    ttfb,
    total,
  };
}
