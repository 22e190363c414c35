import { isLoopbackHost, plainHost } from "../../kernel/host-rules.ts";

/** Host and port as they stand in a request line, a Host header, or a CONNECT. */
export interface Authority {
  /** Lower case, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

const shape = /^(\[[\da-f:.%]+\]|[^\s:/?#@[\]\\]+)(?::(\d{1,5}))?$/i;

/** undefined: it is none. */
export function readAuthority(text: string, defaultPort: number): Authority | undefined {
  const [matched, host = "", digits] = shape.exec(text) ?? [];
  const port = digits === undefined ? defaultPort : Number(digits);
  if (matched === undefined || port < 1 || port > 65_535) return undefined;
  return { host: plainHost(host), port };
}

/** A request target with its own scheme and host, as proxies get it. */
export interface AbsoluteTarget {
  readonly authority: Authority;
  /** As written, for the Host header. */
  readonly host: string;
  /** Path and query, byte for byte. */
  readonly target: string;
}

const absolute = /^(?:http|ws):\/\/([^/?#\s]+)([^#\s]*)/i;

/** `http://host/path` → its parts; undefined for everything else. */
export function readAbsolute(target: string): AbsoluteTarget | undefined {
  const [, host = "", rest = ""] = absolute.exec(target) ?? [];
  const authority = readAuthority(host, 80);
  if (authority === undefined) return undefined;
  return { authority, host, target: rest.startsWith("/") ? rest : `/${rest}` };
}

/** Whether the sim answers for an authority: it is one of the hosts it stands for, or the sim by its own address. */
export const isSim = (
  { host, port }: Authority,
  ownPort: number,
  isService: (host: string) => boolean,
): boolean => isService(host) || (port === ownPort && isLoopbackHost(host));
