import { BlockList } from "node:net";
import { describe, expect, test } from "vitest";
import { addressText, isInNetwork, parseAddress, parseNetwork } from "../../../src/kernel/base/network.ts";
import { fc } from "../../support/chance.ts";

describe("addresses", () => {
  test.each([
    ["192.0.2.1", "192.0.2.1"],
    ["0.0.0.0", "0.0.0.0"],
    ["255.255.255.255", "255.255.255.255"],
    ["::", "0:0:0:0:0:0:0:0"],
    ["::1", "0:0:0:0:0:0:0:1"],
    ["2001:DB8::", "2001:db8:0:0:0:0:0:0"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"],
    ["1::8", "1:0:0:0:0:0:0:8"],
    ["64:ff9b::192.0.2.1", "64:ff9b:0:0:0:0:c000:201"],
    ["1:2:3:4:5:6:192.0.2.1", "1:2:3:4:5:6:c000:201"],
    ["fe80::1%eth0", "fe80:0:0:0:0:0:0:1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:c000:201", "192.0.2.1"],
    ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
    ["::192.0.2.1", "0:0:0:0:0:0:c000:201"],
  ])("%s", (text, expected) => {
    const address = parseAddress(text);
    expect(address && addressText(address)).toBe(expected);
  });

  test.each(["", "unknown", "192.0.2", "192.0.2.256", "192.0.2.01", "192.0.2.1:80", "[::1]", ":::", "1::2::3"])(
    "%j is none",
    (text) => expect(parseAddress(text)).toBeUndefined(),
  );
});

describe("networks", () => {
  test.each([
    ["192.0.2.1", "192.0.2.1", true],
    ["192.0.2.1", "192.0.2.2", false],
    ["192.0.2.0/24", "192.0.2.255", true],
    ["192.0.2.0/24", "192.0.3.0", false],
    ["192.0.2.77/24", "192.0.2.1", true],
    ["192.0.2.128/25", "192.0.2.127", false],
    ["192.0.2.128/25", "192.0.2.128", true],
    ["172.16.0.0/12", "172.31.255.255", true],
    ["172.16.0.0/12", "172.32.0.0", false],
    ["192.0.2.6/31", "192.0.2.7", true],
    ["192.0.2.6/31", "192.0.2.8", false],
    ["192.0.2.6/32", "192.0.2.6", true],
    ["0.0.0.0/0", "203.0.113.9", true],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["192.0.2.0/24", "::ffff:192.0.2.9", true],
    ["::ffff:192.0.2.0/120", "192.0.2.9", true],
    ["::ffff:192.0.2.0/120", "192.0.3.9", false],
    ["::ffff:0:0/96", "8.8.8.8", true],
    ["::/0", "2001:db8::1", true],
    ["::/0", "192.0.2.1", false],
    ["2001:db8::/32", "2001:db8:ffff::1", true],
    ["2001:db8::/32", "2001:db9::", false],
    ["2001:db8::/33", "2001:db8:8000::", false],
    ["2001:db8::1", "2001:db8:0::1", true],
    ["2001:db8::1/128", "2001:db8::2", false],
  ])("%s has %s: %s", (network, address, expected) => {
    const [outer, inner] = [parseNetwork(network), parseAddress(address)];
    expect(outer && inner && isInNetwork(inner, outer)).toBe(expected);
  });

  test.each([
    "",
    "/8",
    "192.0.2.0/",
    "192.0.2.0/33",
    "192.0.2.0/-1",
    "192.0.2.0/08",
    "192.0.2.0/24/8",
    "192.0.2.0/255.255.255.0",
    "192.0.2.0 /24",
    "2001:db8::/129",
    "::ffff:192.0.2.0/24",
    "example.com/8",
  ])("%j is none", (text) => expect(parseNetwork(text)).toBeUndefined());
});

test("networks have the addresses that Node's own lists have", () => {
  const near = fc.tuple(
    fc.oneof(
      fc.record({ base: fc.ipV4(), bits: fc.constant(32) }),
      fc.record({ base: fc.ipV6(), bits: fc.constant(128) }),
    ),
    fc.nat(128),
    fc.array(fc.nat(128), { maxLength: 2 }),
  );
  let inside = 0;
  fc.assert(
    fc.property(near, ([{ base, bits }, cut, flips]) => {
      const length = Math.min(cut, bits);
      const [network, address] = [parseNetwork(`${base}/${length}`), parseAddress(base)];
      fc.pre(network !== undefined && address !== undefined && address.length * 8 === bits);
      const other = [...address];
      for (const flip of flips) other[(flip % bits) >> 3] = (other[(flip % bits) >> 3] ?? 0) ^ (0x80 >> (flip & 7));
      const family = bits === 32 ? "ipv4" : "ipv6";
      const list = new BlockList();
      list.addSubnet(base, length, family);
      const expected = list.check(addressText(other), family);
      if (expected) inside++;
      expect(isInNetwork(other, network)).toBe(expected);
    }),
    { numRuns: 2000, seed: 4 },
  );
  expect(inside).toBeGreaterThan(200);
});
