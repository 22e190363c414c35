import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { isInNetwork, parseAddress, parseNetwork } from "../base/network.ts";
import { plainHost } from "./host-rules.ts";

/** Where machines of a cloud find their credentials: nothing is sent there, whatever the request. */
export const credentialNetworks: readonly (readonly [network: string, what: string])[] = [
  ["169.254.0.0/16", "a link-local address, where clouds keep their credentials"],
  ["fe80::/10", "a link-local address"],
  ["168.63.129.16", "a cloud's metadata"],
  ["100.100.100.200", "a cloud's metadata"],
  ["fd00:ec2::/32", "a cloud's metadata"],
  // the same IPv4 addresses inside of IPv6
  ["::a9fe:0/112", "a link-local address"],
  ["64:ff9b::a9fe:0/112", "a link-local address"],
  ["2002:a9fe::/32", "a link-local address"],
];

const networks = credentialNetworks.flatMap(([text, what]) => {
  const network = parseNetwork(text);
  return network === undefined ? [] : [{ network, what }];
});

/** What an address is that must not be reached; undefined for any other, and for names. */
export function credentialPlace(host: string): string | undefined {
  const address = parseAddress(plainHost(host));
  return address && networks.find(({ network }) => isInNetwork(address, network))?.what;
}

/** A look-up of names that fails for a name that leads to such an address. @param find Default: the system's */
export const closedLookup =
  (find: LookupFunction = lookup): LookupFunction =>
  (host, options, done) =>
    find(host, options, (error, found, family) => {
      const addresses = typeof found === "string" ? [found] : (found ?? []).map(({ address }) => address);
      const place = addresses.map(credentialPlace).find((it) => it !== undefined);
      if (error || place === undefined) return done(error, found, family);
      done(Object.assign(new Error(`${host} is ${place}`), { code: closedCode }), "", 0);
    });

export const closedCode = "ERR_CLOSED_ADDRESS";
