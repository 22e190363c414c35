import { BlockList, isIP } from "node:net";
import type { Call } from "../http/call.ts";

/** Networks that no geographic database knows. */
const privateNetworks = [
  ["0.0.0.0", 8, "ipv4"],
  ["10.0.0.0", 8, "ipv4"],
  ["100.64.0.0", 10, "ipv4"],
  ["127.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["::", 127, "ipv6"],
  ["fc00::", 7, "ipv6"],
  ["fe80::", 10, "ipv6"],
] as const;

const privateList = new BlockList();
for (const [network, prefix, family] of privateNetworks) privateList.addSubnet(network, prefix, family);

/** The first entry of a forwarding header, without a port. */
const firstAddress = (header: string | undefined): string | undefined =>
  header
    ?.split(",", 1)[0]
    ?.trim()
    .replace(/^\[(.+)\](?::\d+)?$/, "$1")
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");

/**
 * The caller's address: `HTTP_X_FORWARDED_FOR` (the contract's spelling), else `X-Forwarded-For`, else the
 * peer; what is no address is skipped.
 */
export function addressOf(call: Call): string {
  const named = [call.headers.http_x_forwarded_for, call.headers["x-forwarded-for"]].map(firstAddress);
  return named.find((address) => address !== undefined && isIP(address) !== 0) ?? call.peer;
}

/** Might the service derive a place from this address? Loopback and private ones have none. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !privateList.check(address, family === 4 ? "ipv4" : "ipv6");
}
