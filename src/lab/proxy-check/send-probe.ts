import { request as requestHttp } from "node:http";
import { systemCode } from "../../kernel/base/errors.ts";
import { clearTimeout, setTimeout } from "../../kernel/base/real-time.ts";
import { closedLookup } from "../../kernel/http/closed-hosts.ts";
import { isLoopbackHost } from "../../kernel/http/host-rules.ts";

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

export interface ProxyRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly isChunked: boolean;
}

/** An answer that does not end is cut off here. */
const mostAnswer = 10_000_000;

/** Sends one request over a connection of its own and follows no redirect. Certificates of this machine are trusted. */
export async function sendToProxy(
  url: URL,
  { method, headers, body, isChunked }: ProxyRequest,
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
