import { setTimeout as sleep } from "node:timers/promises";
import { isObject, type Json, type JsonObject, objectsIn, own, parsedJson } from "../../kernel/base/json.ts";
import { version } from "../../kernel/base/version.ts";
import { headerIn } from "../../kernel/http/client-address.ts";
import { isLoopbackHost } from "../../kernel/http/host-rules.ts";
import { createTransport, type Transport } from "../../lab/tapes/upstream/transport.ts";
import { createAgents, failureOf, type Upstreams } from "../../lab/tapes/upstream/upstreams.ts";

/** Why a live project cannot be read: `order`: the key, the project or the address is wrong; `service`: its answers are. */
export class ServiceError extends Error {
  readonly kind: "order" | "service";

  constructor(kind: ServiceError["kind"], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ServiceError";
    this.kind = kind;
  }
}

export interface ServiceOptions {
  readonly upstreams: Upstreams;
  /** A personal API key; it goes to the app's host only. */
  readonly key: string;
  /** Certificates (PEM) to trust in addition. */
  readonly ca?: string | undefined;
  /** Time for one request, ms. */
  readonly answerMs?: number;
  /** Longest wait of all that a service may ask for with 429, ms. */
  readonly mostWaitMs?: number;
  /** Called before each request, with its path. */
  onRequest?(path: string): void;
  /** Called before a wait that the service asks for. */
  onWait?(ms: number): void;
}

const defaultAnswerMs = 30_000;
const defaultMostWaitMs = 120_000;
const mostRetries = 5;
/** Pages of one list; a page has 100 items. */
const mostPages = 500;

/** `Retry-After`: seconds, or a time. */
function waitOf(header: string | undefined): number {
  if (header === undefined || header.trim() === "") return 1000;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1000;
  return Number.isNaN(ms) ? 1000 : Math.max(0, ms);
}

const detailOf = (body: Json | undefined): string => {
  const detail = isObject(body) ? own(body, "detail") : undefined;
  return typeof detail === "string" ? `: ${detail}` : "";
};

/** Reads a service with GET, and in no other way. @throws ServiceError when the key would travel in plain text */
export function openService(options: ServiceOptions) {
  const { upstreams, key, ca, answerMs = defaultAnswerMs, mostWaitMs = defaultMostWaitMs } = options;
  for (const origin of upstreams.origins) {
    const { protocol, hostname } = new URL(origin);
    if (protocol === "http:" && !isLoopbackHost(hostname))
      throw new ServiceError("order", `the key would travel unencrypted to ${origin}; give its https address`);
  }
  const transport = createTransport(createAgents(ca, 2), answerMs);
  const asking = { ...options, transport, leftMs: mostWaitMs };
  /** @param isPublic The key is not sent. @returns undefined for 404. @throws ServiceError */
  async function read(path: string, isPublic = false): Promise<Json | undefined> {
    const base = upstreams.baseOf(path);
    return ask(asking, base, base.pathname.replace(/\/$/, "") + path, isPublic ? undefined : key);
  }
  return {
    read,
    /** All items of a list, over its pages. @returns undefined for 404. @throws ServiceError */
    async list(path: string): Promise<JsonObject[] | undefined> {
      const base = upstreams.baseOf(path);
      const start = base.pathname.replace(/\/$/, "") + path;
      const items: JsonObject[] = [];
      const seen = new Set<string>();
      for (let target = start; ; ) {
        if (seen.has(target) || seen.size === mostPages)
          throw new ServiceError("service", `${base.origin} has no last page of ${path}`);
        seen.add(target);
        const page = await ask(asking, base, target, key);
        if (page === undefined) {
          if (target === start) return undefined;
          throw new ServiceError("service", `${base.origin}${target} is a page that does not exist (404)`);
        }
        const results = Array.isArray(page) ? page : isObject(page) ? own(page, "results") : undefined;
        if (!Array.isArray(results))
          throw new ServiceError("service", `${base.origin}${target} did not answer with a list`);
        items.push(...objectsIn(results));
        const next = isObject(page) ? own(page, "next") : undefined;
        if (typeof next !== "string") return items;
        target = nextTarget(next, base, start);
      }
    },
    close: transport.close,
  };
}

export type Service = ReturnType<typeof openService>;

/** The path and query of the next page: of the same list, on the same host. @throws ServiceError */
function nextTarget(next: string, { origin }: URL, start: string): string {
  const url = URL.canParse(next, origin) ? new URL(next, origin) : undefined;
  const path = start.replace(/[?#].*$/, "");
  if (url?.origin !== origin || url.pathname !== path)
    throw new ServiceError("service", `${origin}${path} names a next page elsewhere; it is not followed`);
  return url.pathname + url.search;
}

interface Asking extends ServiceOptions {
  readonly transport: Transport;
  /** What is left of the waits, ms. */
  leftMs: number;
}

/** @returns undefined for 404. @throws ServiceError */
async function ask(asking: Asking, base: URL, target: string, key: string | undefined): Promise<Json | undefined> {
  const headers = ["Host", base.host, "Accept", "application/json", "User-Agent", `phx-sim/${version}`];
  if (key !== undefined) headers.push("Authorization", `Bearer ${key}`);
  const { transport, onRequest, onWait } = asking;
  for (let tries = 0; ; tries++) {
    onRequest?.(target);
    const answer = await transport
      .send(base, { method: "GET", target, headers, body: Buffer.alloc(0) })
      .catch((error: unknown) => {
        throw new ServiceError("service", failureOf(error, base.origin).detail, error);
      });
    const { status } = answer;
    const where = `${base.origin}${target.replace(/\?.*$/, "")}`;
    if (status === 429 && tries < mostRetries) {
      const ms = waitOf(headerIn(answer.headers, "retry-after"));
      asking.leftMs -= ms;
      if (asking.leftMs < 0)
        throw new ServiceError("service", `${where} limits the rate (429) for too long; try again later`);
      onWait?.(ms);
      await sleep(ms);
      continue;
    }
    if (!Buffer.isBuffer(answer.body)) throw new ServiceError("service", `${where} answered with more than 32 MB`);
    const body = parsedJson(answer.body.toString("utf8"));
    if (status === 404) return undefined;
    if (status === 401 || status === 403)
      throw new ServiceError("order", `${where} refuses the key (${status})${detailOf(body)}`);
    if (status !== 200) throw new ServiceError("service", `${where} answered with status ${status}${detailOf(body)}`);
    if (body === undefined) throw new ServiceError("service", `${where} did not answer with JSON`);
    return body;
  }
}
