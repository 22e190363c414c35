import { type Network, parseNetwork } from "../../../../src/kernel/base/network.ts";

/**
 * Writes files in MaxMind's format, version 2: a binary search tree over the bits of an address, the records
 * it leads to, and the file's description at its end.
 */

type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value };

export interface MmdbOptions {
  /** Network → its record; networks must not overlap. */
  records: Readonly<Record<string, Value>>;
  type?: string;
  ipVersion?: 4 | 6;
  /** Bits of half a node. */
  recordSize?: 24 | 28 | 32;
  /** Replaces entries of the description. */
  metadata?: Readonly<Record<string, Value>>;
}

const kinds = { text: 2, double: 3, uint32: 6, map: 7, array: 11, boolean: 14 } as const;

/** The bytes that say of which kind and how long a value is. */
function head(kind: number, size: number): Buffer {
  const [field, extra] =
    size < 29 ? [size, []] : size < 285 ? [29, [size - 29]] : [30, [(size - 285) >> 8, (size - 285) & 0xff]];
  return Buffer.from(kind > 7 ? [field, kind - 7, ...extra] : [(kind << 5) | field, ...extra]);
}

function numberBytes(value: number): Buffer {
  const isUint = Number.isInteger(value) && value >= 0;
  const bytes = Buffer.alloc(isUint ? 4 : 8);
  if (isUint) bytes.writeUInt32BE(value);
  else bytes.writeDoubleBE(value);
  return Buffer.concat([head(isUint ? kinds.uint32 : kinds.double, bytes.length), bytes]);
}

function encode(value: Value): Buffer {
  if (typeof value === "string") {
    const bytes = Buffer.from(value);
    return Buffer.concat([head(kinds.text, bytes.length), bytes]);
  }
  if (typeof value === "number") return numberBytes(value);
  if (typeof value === "boolean") return head(kinds.boolean, value ? 1 : 0);
  if (Array.isArray(value)) return Buffer.concat([head(kinds.array, value.length), ...value.map(encode)]);
  const entries = Object.entries(value);
  return Buffer.concat([head(kinds.map, entries.length), ...entries.flatMap(([key, it]) => [encode(key), encode(it)])]);
}

/** Half a node: another node, a place in the data, or nothing. */
type Half = Node | number | undefined;
type Node = [Half, Half];

/** The network's bits, from the root; IPv4 lies below 96 zeros in a tree for IPv6. */
function bitsOf({ address, length }: Network, ipVersion: 4 | 6): number[] {
  const bits = address.flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((bit) => (byte >> bit) & 1));
  const above = ipVersion === 6 && address.length === 4 ? new Array<number>(96).fill(0) : [];
  return [...above, ...bits.slice(0, length)];
}

function insert(root: Node, bits: readonly number[], offset: number): void {
  let node = root;
  for (const [i, bit] of bits.entries()) {
    if (i === bits.length - 1) {
      node[bit ? 1 : 0] = offset;
      return;
    }
    const next = node[bit ? 1 : 0];
    if (typeof next === "number") throw new Error("networks overlap");
    const child: Node = next ?? [undefined, undefined];
    node[bit ? 1 : 0] = child;
    node = child;
  }
}

/** All nodes, the root first. */
function nodesOf(root: Node): Node[] {
  const nodes = [root];
  for (const node of nodes) for (const half of node) if (Array.isArray(half)) nodes.push(half);
  return nodes;
}

function nodeBytes(left: number, right: number, recordSize: number): Buffer {
  const bytes = Buffer.alloc(recordSize / 4);
  if (recordSize === 32) {
    bytes.writeUInt32BE(left, 0);
    bytes.writeUInt32BE(right, 4);
    return bytes;
  }
  bytes.writeUIntBE(left & 0xffffff, 0, 3);
  bytes.writeUIntBE(right & 0xffffff, bytes.length - 3, 3);
  // In between stand the high bits of both.
  if (recordSize === 28) bytes[3] = ((left >>> 24) << 4) | (right >>> 24);
  return bytes;
}

const separator = Buffer.alloc(16);
const marker = Buffer.from("\xab\xcd\xefMaxMind.com", "latin1");

/** The bytes of a database. */
export function mmdb(options: MmdbOptions): Buffer {
  const { records, type = "GeoLite2-City", ipVersion = 6, recordSize = 28 } = options;
  const root: Node = [undefined, undefined];
  const data: Buffer[] = [];
  let offset = 0;
  for (const [text, record] of Object.entries(records)) {
    const network = parseNetwork(text);
    if (network === undefined) throw new Error(`${text} is no network`);
    insert(root, bitsOf(network, ipVersion), offset);
    const bytes = encode(record);
    data.push(bytes);
    offset += bytes.length;
  }
  const nodes = nodesOf(root);
  const numbers = new Map(nodes.map((node, i) => [node, i]));
  const halfValue = (half: Half): number => {
    if (half === undefined) return nodes.length;
    return typeof half === "number" ? nodes.length + separator.length + half : (numbers.get(half) ?? 0);
  };
  const tree = nodes.map(([left, right]) => nodeBytes(halfValue(left), halfValue(right), recordSize));
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: type,
    description: { en: "Made by a test" },
    ip_version: ipVersion,
    languages: ["en"],
    node_count: nodes.length,
    record_size: recordSize,
    ...options.metadata,
  };
  return Buffer.concat([...tree, separator, ...data, marker, encode(metadata)]);
}

const names = (en: string) => ({ names: { de: `${en} (de)`, en } });

/** A record with all that a city database can tell. */
export const linkoping = {
  city: { geoname_id: 1, confidence: 60, ...names("Linköping") },
  continent: { code: "EU", geoname_id: 2, ...names("Europe") },
  country: { geoname_id: 3, is_in_european_union: true, iso_code: "SE", ...names("Sweden") },
  location: { accuracy_radius: 76, latitude: 58.4167, longitude: 15.6167, time_zone: "Europe/Stockholm" },
  postal: { code: "582 22" },
  subdivisions: [
    { iso_code: "E", ...names("Östergötland County") },
    { iso_code: "E2", ...names("Second") },
    { iso_code: "E3", ...names("Third") },
  ],
};
