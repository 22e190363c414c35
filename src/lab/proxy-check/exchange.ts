import { request as requestHttp } from "node:http";
import { gunzipSync, gzipSync } from "node:zlib";
import { systemCode } from "../../kernel/base/errors.ts";
import { clearTimeout, setTimeout } from "../../kernel/base/real-time.ts";
import type { Call } from "../../kernel/http/call.ts";
import { closedLookup } from "../../kernel/http/closed-hosts.ts";
import { preflight } from "../../kernel/http/cors.ts";
import { isControlPath } from "../../kernel/http/family.ts";
import { isLoopbackHost } from "../../kernel/http/host-rules.ts";
import type { Reply } from "../../kernel/http/reply.ts";
import { type Probe, type ProbeNonce, probeHeader } from "./probes.ts";

export interface ProxyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As sent, before any decompression. */
  readonly body: Buffer;
}

/** The answer, or why there is none. */
export type ProxyOutcome =
  | { readonly kind: "answer"; readonly answer: ProxyAnswer }
  /** It did not answer in time. */
  | { readonly kind: "silent" }
  /** The system's code, such as ECONNREFUSED. */
  | { readonly kind: "broken"; readonly cause: string };

/** An answer that does not end is cut off here. */
const mostAnswer = 10_000_000;

/** Sends one request over a connection of its own and follows no redirect. Certificates of this machine are trusted. */
export async function sendToProxy(
  url: URL,
  { method, headers, body, isChunked }: Pick<Probe, "headers" | "body" | "isChunked"> & { readonly method: string },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ProxyOutcome> {
  const isSecure = url.protocol === "https:";
  const open = isSecure ? (await import("node:https")).request : requestHttp;
  const length = body.length > 0 && !isChunked ? { "content-length": String(body.length) } : {};
  const trust = isSecure && isLoopbackHost(url.hostname) ? { rejectUnauthorized: false } : {};
  return new Promise((resolve) => {
    const request = open(url, {
      method,
      headers: { ...headers, ...length },
      agent: false,
      lookup: closedLookup(),
      ...trust,
    });
    const end = (outcome: ProxyOutcome) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
      resolve(outcome);
      request.destroy();
    };
    const timer = setTimeout(() => end({ kind: "silent" }), timeoutMs);
    const leave = () => end({ kind: "broken", cause: "the check was ended" });
    signal.addEventListener("abort", leave, { once: true });
    request.on("error", (error) => end({ kind: "broken", cause: systemCode(error) || error.message }));
    request.on("response", (message) => {
      const parts: Buffer[] = [];
      let size = 0;
      const answered = () =>
        end({
          kind: "answer",
          answer: {
            status: message.statusCode ?? 0,
            headers: message.headers as Record<string, string | undefined>,
            body: Buffer.concat(parts),
          },
        });
      message.on("data", (part: Buffer) => {
        parts.push(part);
        size += part.length;
        if (size > mostAnswer) answered();
      });
      message.on("end", answered);
      message.on("error", (error) => end({ kind: "broken", cause: systemCode(error) || error.message }));
    });
    if (isChunked) {
      const half = body.length >> 1;
      request.write(body.subarray(0, half));
      request.end(body.subarray(half));
    } else request.end(body);
  });
}

export interface ProbeArrival {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

const mostInflated = 20_000_000;

export const gunzipped = (bytes: Buffer): Buffer | undefined => {
  try {
    return gunzipSync(bytes, { maxOutputLength: mostInflated });
  } catch {
    return undefined;
  }
};

/** The forms in which a body may carry its id: as it is, decompressed, from base64. */
function* readings(body: Buffer): Generator<string> {
  const text = body.toString("latin1");
  yield text;
  const packed = gunzipped(body);
  if (packed) yield packed.toString("latin1");
  const encoded = /^(?:data=|")?([A-Za-z0-9+/=%]{16,})"?$/.exec(text.trim())?.[1];
  if (encoded === undefined) return;
  const decoded = Buffer.from(encoded.replaceAll("%3D", "=").replaceAll("%2B", "+").replaceAll("%2F", "/"), "base64");
  yield decoded.toString("latin1");
  const inner = gunzipped(decoded);
  if (inner) yield inner.toString("latin1");
}

/** Keeps what arrives for one check, and answers it. A probe is known by any of its marks: a proxy may lose the others. */
export function createReception(nonce: ProbeNonce) {
  const expected = new Map<string, Probe>();
  const arrived = new Map<string, ProbeArrival[]>();
  const mark = new RegExp(`${nonce}\\d{5}`);

  function probeIn(text: string | undefined): Probe | undefined {
    const id = text === undefined ? undefined : mark.exec(text)?.[0];
    return id === undefined ? undefined : expected.get(id);
  }

  function probeOf({ headers, target, body }: Call): Probe | undefined {
    const outside = probeIn(headers[probeHeader]) ?? probeIn(headers["user-agent"]) ?? probeIn(target);
    if (outside || body.length === 0) return outside;
    for (const text of readings(body)) {
      const found = probeIn(text);
      if (found) return found;
    }
    return undefined;
  }

  return {
    /** Must be called before a probe is sent. */
    expect: (probe: Probe) => void expected.set(probe.id, probe),
    arrivals: ({ id }: Probe) => arrived.get(id) ?? [],
    take(call: Call) {
      if (isControlPath(call.path)) return undefined;
      const probe = probeOf(call);
      if (!probe) return undefined;
      const { method, target, headers, body } = call;
      arrived.set(probe.id, [...(arrived.get(probe.id) ?? []), { method, target, headers, body }]);
      return answerTo(probe, call);
    },
  };
}

export type Reception = ReturnType<typeof createReception>;

/** Scripts and settings come compressed from the service where the request allows it. */
function answerTo({ method, answer }: Probe, call: Call): Reply {
  if (method === "OPTIONS") return preflight(call, "capture", ["GET", "POST", "OPTIONS"]);
  const { type, body } = answer;
  const headers = ["content-type", type];
  const isPacked = method === "GET" && /\bgzip\b/.test(call.headers["accept-encoding"] ?? "");
  return isPacked
    ? { status: 200, headers: [...headers, "content-encoding", "gzip"], body: gzipSync(body) }
    : { status: 200, headers, body };
}
