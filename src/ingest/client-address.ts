import type { TrafficLine } from "../model/traffic.ts";

/** The value of a header in a flat list, by its name in lower case. */
export function headerIn(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]?.toLowerCase() === name) return headers[i + 1];
  }
  return undefined;
}

/** Both spellings: the contract names the header as WSGI does. */
const forwardedNames = ["x-forwarded-for", "http_x_forwarded_for"];

/** The client's address: the first entry of X-Forwarded-For, else the sender's. Upstream v0_endpoint.rs. */
export function clientAddress(line: TrafficLine): string {
  for (const name of forwardedNames) {
    const first = headerIn(line.headers, name)?.split(",")[0]?.trim();
    if (first) return first;
  }
  return line.peer;
}
