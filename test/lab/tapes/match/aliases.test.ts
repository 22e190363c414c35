import { describe, expect, test } from "vitest";
import { createAliases } from "../../../../src/lab/tapes/match/catalog.ts";

/** Ids with an `x` may stand for others. */
const opened = () => createAliases((recorded) => recorded.includes("x"));

describe("recorded ids may be live ones", () => {
  const rows: [why: string, recorded: string[], live: string[], fits: boolean][] = [
    ["none at all", [], [], true],
    ["the same", ["u:1"], ["u:1"], true],
    ["another one for a free one", ["u:x1"], ["u:2"], true],
    ["another one for one that is not free", ["u:1"], ["u:2"], false],
    ["another kind", ["u:x1"], ["s:2"], false],
    ["one more", ["u:x1"], ["u:2", "u:3"], false],
    ["one less", ["u:x1", "u:x2"], ["u:2"], false],
    ["the same for the same", ["u:x1", "u:x1"], ["u:2", "u:2"], true],
    ["two for one", ["u:x1", "u:x1"], ["u:2", "u:3"], false],
    ["one for two", ["u:x1", "u:x2"], ["u:2", "u:2"], false],
    ["two that change places", ["u:x1", "u:x2"], ["u:x2", "u:x1"], true],
    ["one of several that is not free", ["u:x1", "u:1"], ["u:2", "u:2"], false],
  ];
  test.each(rows)("%s", (_, recorded, live, fits) => {
    const aliases = opened();
    expect(aliases.fits(recorded, live)).toBe(fits);
    // To ask binds nothing.
    expect(aliases.fits(["u:x1"], ["u:9"])).toBe(true);
  });

  test("bound pairs stay together", () => {
    const aliases = opened();
    aliases.bind(["u:x1"], ["u:2"]);
    expect(aliases.fits(["u:x1"], ["u:2"])).toBe(true);
    expect(aliases.fits(["u:x1"], ["u:3"])).toBe(false);
    expect(aliases.fits(["u:x3"], ["u:2"])).toBe(false);
    expect(aliases.fits(["u:x3"], ["u:3"])).toBe(true);
    expect([aliases.liveOf("u:x1"), aliases.recordedOf("u:2")]).toEqual(["u:2", "u:x1"]);
    expect([aliases.liveOf("u:2"), aliases.recordedOf("u:x1")]).toEqual([undefined, undefined]);
  });

  test("pairs that contradict bound ones are left out, and so is what has no other", () => {
    const aliases = opened();
    aliases.bind(["u:x1", "u:x2", "u:x3"], ["u:a", "u:b"]);
    aliases.bind(["u:x1", "u:x4"], ["u:c", "u:b"]);
    expect(["u:x1", "u:x2", "u:x3", "u:x4"].map(aliases.liveOf)).toEqual(["u:a", "u:b", undefined, undefined]);
    expect(["u:a", "u:b", "u:c"].map(aliases.recordedOf)).toEqual(["u:x1", "u:x2", undefined]);
  });

  test("they differ once one does", () => {
    const aliases = opened();
    expect(aliases.differs).toBe(false);
    aliases.bind(["u:1"], ["u:1"]);
    expect(aliases.differs).toBe(false);
    aliases.bind(["u:x1"], ["u:2"]);
    expect(aliases.differs).toBe(true);
  });
});
