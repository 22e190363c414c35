import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { hostRuleFor, isLoopbackHost, placeOf, readHostRule, serviceHosts } from "../../http/host-rules.ts";
import type { RawAnswer } from "../format/raw-exchange.ts";
import type { Prepared } from "./plan.ts";

/** Where requests are sent, and how careful that must be. */
export interface SendTarget {
  url: URL;
  /** `loopback`: this machine; `production`: the real service; `other`: any other host. */
  kind: "loopback" | "production" | "other";
}

const production = serviceHosts.map(readHostRule);

/** Reads an address; its path goes before each request's. @throws TypeError when it is not one of http or https */
export function readTarget(text: string): SendTarget {
  const full = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "")
    throw new TypeError("it must be an http address such as http://127.0.0.1:7490");
  if (url.username !== "" || url.password !== "") throw new TypeError("it must not have a login in it");
  if (url.search !== "" || url.hash !== "") throw new TypeError("it must end with its path: no ? and no #");
  if (isLoopbackHost(url.hostname)) return { url, kind: "loopback" };
  return { url, kind: hostRuleFor(production, placeOf(url)) ? "production" : "other" };
}

interface Permits {
  yes: boolean;
  production: boolean;
  /** Hosts that may be sent to: `staging.example`, `*.staging.example`, `staging.example:8443`. */
  hosts: readonly string[];
}

/** `dry`: nothing may be sent; `refused`: it was asked for, and something is missing. */
export type Leave = { may: "send" | "dry" } | { may: "refused"; why: string };

/**
 * Whether requests may be sent there. This machine: always. Other hosts need a yes and the host's name; the real
 * service needs a further option. @throws TypeError for a host that is none
 */
export function leaveFor({ url, kind }: SendTarget, { yes, production: knows, hosts }: Permits): Leave {
  const rules = hosts.map((text) => {
    const rule = readHostRule(text);
    if (rule.host === "") throw new TypeError(`${JSON.stringify(text)} names no host`);
    return rule;
  });
  if (kind === "loopback") return { may: "send" };
  if (!yes) return { may: "dry" };
  if (!hostRuleFor(rules, placeOf(url)))
    return { may: "refused", why: `${url.host} is not this machine: add --allow-host ${url.hostname}` };
  if (kind === "production" && !knows)
    return { may: "refused", why: `${url.host} is the real service: add --i-know-this-is-production` };
  return { may: "send" };
}

/** Sends requests to one place over connections that stay open. Redirects are not followed. */
export interface Transport {
  /** The answer; its body only where it is to be kept. @throws the system's error, or one with the reason */
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
