import { isIP } from "node:net";

/** The value of a header in a flat list, by its name in lower case. */
export function headerIn(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]?.toLowerCase() === name) return headers[i + 1];
  }
  return undefined;
}

const withPort = /^\[(.+)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/;

/** The address in an entry of a forwarding header, without its port; undefined when it is none. */
export function forwardedAddress(entry: string): string | undefined {
  const text = entry.trim();
  const found = withPort.exec(text);
  const address = found?.[1] ?? found?.[2] ?? text;
  return isIP(address) === 0 ? undefined : address;
}

/** Both spellings: the contract names the header as WSGI does. */
const forwardedNames = ["x-forwarded-for", "http_x_forwarded_for"];

/** The first address in X-Forwarded-For, else the sender's (`peer`). Upstream capture, v0_endpoint.rs. */
export function clientAddress(header: (name: string) => string | undefined, peer: string): string {
  for (const name of forwardedNames) {
    for (const entry of header(name)?.split(",") ?? []) {
      const address = forwardedAddress(entry);
      if (address !== undefined) return address;
    }
  }
  return peer;
}
