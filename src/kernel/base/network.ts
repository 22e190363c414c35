import { isIP } from "node:net";

/** An IP address: 4 bytes, or 16. An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) has 4. */
export type IpAddress = readonly number[];

/** The addresses that share the first `length` bits with `address`. */
export interface Network {
  readonly address: IpAddress;
  /** In bits: 32 (IPv4) or 128 (IPv6) for a single address. */
  readonly length: number;
}

const v4Bytes = (text: string): number[] => text.split(".").map(Number);

/** `1:2` → 0, 1, 0, 2; a dotted tail (`::ffff:192.0.2.1`) is four bytes as it stands. */
const groupBytes = (text: string): number[] =>
  text === ""
    ? []
    : text.split(":").flatMap((group) => {
        if (group.includes(".")) return v4Bytes(group);
        const value = Number.parseInt(group, 16);
        return [value >> 8, value & 0xff];
      });

function v6Bytes(text: string): number[] {
  const [head = "", tail] = text.replace(/%.*$/, "").split("::");
  const [front, back] = [groupBytes(head), groupBytes(tail ?? "")];
  return [...front, ...new Array<number>(16 - front.length - back.length).fill(0), ...back];
}

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
const mappedLength = mappedPrefix.length * 8;
const isMapped = (bytes: IpAddress): boolean => mappedPrefix.every((byte, i) => bytes[i] === byte);

/** Reads an IPv4 or IPv6 address; a zone (`fe80::1%eth0`) is left out. undefined when it is none. */
export function parseAddress(text: string): IpAddress | undefined {
  const family = isIP(text);
  if (family === 0) return undefined;
  if (family === 4) return v4Bytes(text);
  const bytes = v6Bytes(text);
  return isMapped(bytes) ? bytes.slice(mappedPrefix.length) : bytes;
}

/** Reads an address or a range (`203.0.113.0/24`, `2001:db8::/32`), whose bits beyond the length do not count; else undefined. */
export function parseNetwork(text: string): Network | undefined {
  const [, base = "", digits] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const address = parseAddress(base);
  if (address === undefined) return undefined;
  const bits = address.length * 8;
  if (digits === undefined) return { address, length: bits };
  // The length of a range that is written as IPv6 counts from the front of the written form.
  const length = Number(digits) - (bits === 32 && base.includes(":") ? mappedLength : 0);
  return length >= 0 && length <= bits ? { address, length } : undefined;
}

/** Is the address in the network? Never, when they are of different families. */
export function isInNetwork(address: IpAddress, network: Network): boolean {
  if (address.length !== network.address.length) return false;
  const whole = network.length >> 3;
  for (let i = 0; i < whole; i++) if (address[i] !== network.address[i]) return false;
  const rest = 8 - (network.length & 7);
  return rest === 8 || (address[whole] ?? 0) >> rest === (network.address[whole] ?? 0) >> rest;
}

/** The usual text of an address; IPv6 with all its groups. */
export function addressText(address: IpAddress): string {
  if (address.length === 4) return address.join(".");
  const groups = Array.from({ length: 8 }, (_, i) => ((address[2 * i] ?? 0) << 8) | (address[2 * i + 1] ?? 0));
  return groups.map((group) => group.toString(16)).join(":");
}
