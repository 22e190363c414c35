import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

export interface Forwarded {
  readonly status: number;
  /** Lower-case names; cookies a line each. */
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

export interface ToForward {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  readonly signal: AbortSignal;
}

/** What belongs to a connection, or is made anew for ours. */
const ownHeaders = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

const passedOn = (headers: Iterable<[string, string]>): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => !ownHeaders.has(name) && !name.startsWith(":")));

function answerHeaders({ headers }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    Array.isArray(value) ? value.join("\n") : (value ?? ""),
  ]);
  return passedOn(entries);
}

/**
 * Sends a request byte for byte, follows no redirects, and asks for an answer that is not packed.
 * @throws Error of the socket, with its `code`; AbortError
 */
export function forward({ url, method, headers, body, signal }: ToForward): Promise<Forwarded> {
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  const length = body === null ? {} : { "content-length": String(body.length) };
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method,
      headers: { ...passedOn(Object.entries(headers)), ...length, "accept-encoding": "identity" },
      signal,
    });
    request.on("error", reject);
    request.on("response", (answer) => {
      answer.toArray().then(
        (chunks) =>
          resolve({
            status: answer.statusCode ?? 502,
            headers: answerHeaders(answer),
            body: Buffer.concat(chunks),
          }),
        reject,
      );
    });
    request.end(body ?? undefined);
  });
}
