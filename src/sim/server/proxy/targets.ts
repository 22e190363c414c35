import { lookup } from "node:dns/promises";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { networkInterfaces } from "node:os";
import { pipeline } from "node:stream";
import { type IpAddress, isInNetwork, type Network, parseAddress, parseNetwork } from "../../../kernel/base/network.ts";
import { credentialNetworks } from "../../../kernel/http/closed-hosts.ts";
import { type HostRule, hostRuleFor, plainHost } from "../../../kernel/http/host-rules.ts";
import { headersWithout } from "../../../kernel/http/reply.ts";
import { sendLast } from "../last-answer.ts";

/** Why a target is not reached through the proxy: 403 not allowed, 502 not reachable. */
export class TargetError extends Error {
  readonly status: 403 | 502;

  constructor(status: 403 | 502, message: string) {
    super(message);
    this.name = "TargetError";
    this.status = status;
  }
}

/** Refused unless allowed: a client could use the proxy to reach what it cannot or must not reach itself. */
const closedNetworks: readonly (readonly [network: string, what: string])[] = [
  ["127.0.0.0/8", "this machine"],
  ["::1", "this machine"],
  ["0.0.0.0/8", "this machine"],
  ["::", "this machine"],
  ...credentialNetworks,
  ["10.0.0.0/8", "a private network"],
  ["172.16.0.0/12", "a private network"],
  ["192.168.0.0/16", "a private network"],
  ["100.64.0.0/10", "a private network"],
  ["198.18.0.0/15", "a private network"],
  ["192.0.0.0/24", "a private network"],
  ["fc00::/7", "a private network"],
  ["fec0::/10", "a private network"],
  ["224.0.0.0/4", "a multicast address"],
  ["ff00::/8", "a multicast address"],
  ["240.0.0.0/4", "a reserved address"],
  // IPv4 inside of IPv6: the inner address may be any of the above
  ["::/96", "an IPv4 address written as IPv6"],
  ["64:ff9b::/96", "an IPv4 address written as IPv6"],
  ["64:ff9b:1::/48", "an IPv4 address written as IPv6"],
  ["2002::/16", "an IPv4 address written as IPv6"],
  ["2001::/32", "an IPv4 address written as IPv6"],
];

const closed: readonly (readonly [Network, string])[] = closedNetworks.flatMap(([text, what]) => {
  const network = parseNetwork(text);
  return network === undefined ? [] : [[network, what] as const];
});

const closedPlace = (address: IpAddress): string | undefined =>
  closed.find(([network]) => isInNetwork(address, network))?.[1];

/** An address to connect to: looked up once, so that what was checked is what is reached. */
interface Target {
  readonly address: string;
  readonly port: number;
}

interface TargetRules {
  readonly allow: readonly HostRule[];
  /** The sim's own port, which is never reached through its proxy. */
  readonly ownPort: number;
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  readonly own?: () => readonly string[];
}

const systemResolve = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address);

async function addressesOf(host: string, { resolve = systemResolve }: TargetRules): Promise<readonly string[]> {
  if (parseAddress(host) !== undefined) return [host];
  try {
    return await resolve(host);
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new TargetError(502, `the host ${host} was not found (${why})`);
  }
}

/** A name is refused if any of its addresses is: else the result depends on their order. @throws TargetError */
export async function findTarget(given: string, port: number, rules: TargetRules): Promise<Target> {
  const host = plainHost(given);
  const addresses = await addressesOf(host, rules);
  const [address] = addresses;
  if (address === undefined) throw new TargetError(502, `the host ${host} has no address`);
  for (const it of addresses) check(host, it, port, rules);
  return { address, port };
}

function check(host: string, text: string, port: number, { allow, ownPort, own = systemAddresses }: TargetRules): void {
  const address = parseAddress(text);
  const isOwn = address !== undefined && own().some((it) => isSame(parseAddress(it), address));
  const place = address === undefined ? "not an address" : isOwn ? "this machine" : closedPlace(address);
  if (port === ownPort && place === "this machine") {
    throw new TargetError(403, `${host}:${port} is phx-sim itself: call it directly, without the proxy`);
  }
  if (place === undefined) return;
  const places = [host, text].map((it) => ({ host: it, port: String(port) }));
  if (places.some((it) => hostRuleFor(allow, it) !== undefined)) return;
  throw new TargetError(
    403,
    `the proxy does not forward to ${host}:${port}, which is ${place}; allow it with --proxy-allow ${host}:${port}, or exempt it in NO_PROXY`,
  );
}

const systemAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((cards) => cards?.map(({ address }) => address) ?? []);

const isSame = (one: IpAddress | undefined, two: IpAddress): boolean =>
  one?.length === two.length && one.every((byte, i) => byte === two[i]);

/** Headers of one connection only (RFC 9110, 7.6.1), or of the proxy. */
const ownOfConnection = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authorization",
  "proxy-authenticate",
  "te",
  "upgrade",
]);

function passedOn(raw: readonly string[], connection: string | undefined): string[] {
  const named = new Set((connection ?? "").toLowerCase().split(/\s*,\s*/));
  return headersWithout(raw, (name) => ownOfConnection.has(name) || named.has(name));
}

/** Sends a request on to a host that is not the service's, and its answer back, byte for byte. */
export function sendElsewhere(req: IncomingMessage, res: ServerResponse, to: Target, path: string): void {
  const upstream = request({
    host: to.address,
    port: to.port,
    method: req.method,
    path,
    headers: passedOn(req.rawHeaders, req.headers.connection) as never,
    setHost: false,
    agent: false,
  });
  upstream.on("response", (answer) => {
    res.sendDate = false;
    res.writeHead(
      answer.statusCode ?? 502,
      answer.statusMessage ?? "",
      passedOn(answer.rawHeaders, answer.headers.connection),
    );
    // if one side breaks off, `pipeline` ends the other one
    pipeline(answer, res, () => {});
  });
  /** An answer may come before the request has ended: the rest of it is read. */
  const drain = () => {
    req.unpipe(upstream);
    req.resume();
  };
  upstream.on("error", (error) => {
    drain();
    refuseRequest(res, 502, `${to.address}:${to.port} did not answer: ${error.message}`);
  });
  res.once("close", () => {
    drain();
    upstream.destroy();
  });
  req.pipe(upstream);
}

export function refuseRequest(res: ServerResponse, status: number, text: string): void {
  sendLast(res, status, ["content-type", "text/plain; charset=utf-8", "x-phx-source", "proxy"], `phx-sim: ${text}\n`);
}
