import { describe, expect, test } from "vitest";
import { compareVersions, versionOf } from "../../../../src/service/flags/engine/versions.ts";

/** Each is smaller than the next. */
const ascending = [
  "0",
  "0.0.1-alpha",
  "0.0.1",
  "0.1",
  "1.0.0-0",
  "1.0.0-1",
  "1.0.0-9",
  "1.0.0-10",
  "1.0.0-10.a",
  "1.0.0-alpha",
  "1.0.0-alpha.1",
  "1.0.0-alpha.beta",
  "1.0.0-beta",
  "1.0.0-beta.2",
  "1.0.0-beta.11",
  "1.0.0-rc.1",
  "1.0.0",
  "1.0.0+1",
  "1.0.0+01",
  "1.0.0+2",
  "1.0.0+2.a",
  "1.0.0+a",
  "1.0.1",
  "1.9",
  "v1.10",
  "2",
  "10",
  "9007199254740993",
  "9007199254740994",
];

describe("versions", () => {
  test.each(ascending.map((text, i) => [text, i] as const))("%s stands where it belongs", (text, i) => {
    const order = ascending.map((other) => {
      const [a, b] = [versionOf(text), versionOf(other)];
      return a && b ? Math.sign(compareVersions(a, b)) : Number.NaN;
    });
    expect(order).toEqual(ascending.map((_, j) => Math.sign(i - j)));
  });

  test.each(["", ".", "1.", "1.2.3.4", "1.2.x", "-1", "1.2.3-", "1.2.3+", "1.2.3-a..b", "one", "1,2"])(
    "%j is no version",
    (text) => {
      expect(versionOf(text)).toBeUndefined();
    },
  );
});
