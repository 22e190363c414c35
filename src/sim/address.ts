import { isIP } from "node:net";
import { parseAddress } from "../kernel/base/network.ts";
import { isLoopbackHost } from "../kernel/http/host-rules.ts";

export interface SimAddress {
  readonly port: number;
  readonly url: string;
  readonly shownUrl: string;
}

const isWildcard = (host: string): boolean => parseAddress(host)?.every((byte) => byte === 0) ?? false;

export const isOpenAt = (host: string, publicUrl: string | undefined): boolean =>
  !isLoopbackHost(host) ||
  isWildcard(host) ||
  (publicUrl !== undefined && !isLoopbackHost(new URL(publicUrl).hostname));

function hostInUrl(host: string): string {
  if (isWildcard(host)) return "127.0.0.1";
  return isIP(host) === 6 ? `[${host}]` : host;
}

export function addressAt(host: string, port: number, publicUrl: string | undefined): SimAddress {
  const url = `http://${hostInUrl(host)}:${port}`;
  return { port, url, shownUrl: publicUrl ?? url };
}

/** The link carries a generated token in the part that browsers do not send; one that was given is not shown. */
export const inspectorLink = (url: string, token: string | null): string =>
  `${url}/__sim/${token === null ? "" : `#t=${token}`}`;
