import { describe, expect, test } from "vitest";
import { reloadedWorld } from "../../../src/lab/scenario/reload.ts";
import { collections, emptyWorld, type World } from "../../../src/state/documents/world.ts";
import { aDashboard, aWorld } from "../../support/documents.ts";

/** `1 Sales`, and after a colon its description. */
const withDashboards = (text: string): World => ({
  ...aWorld(),
  dashboards: text.split(", ").flatMap((it) => {
    const [, id, name = "", description = ""] = /^(\d+) (\w+)(?:: (\w+))?$/.exec(it) ?? [];
    return id === undefined ? [] : [aDashboard({ id: Number(id), name, description })];
  }),
});
const textOf = (world: World): string =>
  world.dashboards
    .map(({ id, name, description }) => `${id} ${name}${description === "" ? "" : `: ${description}`}`)
    .join(", ");

describe("a world after an edit of its scenario", () => {
  test.each<[string, base: string, built: string, now: string, expected: string, kept: string]>([
    ["an edit is applied", "1 a: old", "1 a: new", "1 a: old", "1 a: new", ""],
    ["a change of the user stays", "1 a: old", "1 a: old", "1 a: mine", "1 a: mine", ""],
    ["also where the edit changes the same field", "1 a: old", "1 a: new", "1 a: mine", "1 a: mine", "changed"],
    ["a document of the user stays", "1 a", "1 a: new", "1 a, 2 mine", "1 a: new, 2 mine", ""],
    ["another name is another document", "1 a", "1 b", "1 a", "1 b", ""],
    ["a removed document goes", "1 a, 2 b", "1 a", "1 a, 2 b", "1 a", ""],
    ["a removed document that the user changed stays", "1 a", "", "1 a: mine", "1 a: mine", "changed"],
    ["an added document comes", "1 a", "1 a, 2 b", "1 a", "1 a, 2 b", ""],
    ["documents are matched by name", "1 a, 2 b", "1 new, 2 a: new, 3 b", "1 a, 2 b", "4 new, 1 a: new, 2 b", ""],
    ["a number of the user's document is not taken", "1 a", "1 a, 2 b", "1 a, 2 mine", "1 a, 3 b, 2 mine", ""],
    ["the user's document of the same name stays", "1 a", "1 a, 2 b: new", "1 a, 7 b: mine", "1 a, 7 b: mine", "made"],
    ["a document that the user removed stays away", "1 a", "1 a", "", "", ""],
    ["also where it is edited", "1 a: old", "1 a: new", "", "", "deleted"],
    ["of two with one name each is itself", "1 a, 2 a", "1 a, 2 a: new", "1 a, 2 a", "1 a, 2 a: new", ""],
    ["an unknown base adds what is missing", "", "1 a: new, 2 b", "1 a: mine", "1 a: mine, 2 b", "made"],
  ])("%s", (_, base, built, now, expected, kept) => {
    const merged = reloadedWorld({
      base: withDashboards(base),
      built: withDashboards(built),
      now: withDashboards(now),
    });
    expect(textOf(merged.world)).toBe(expected);
    expect(merged.kept.map(({ why }) => why).join()).toBe(kept);
  });

  test("lists without ids follow the scenario where it changed them", () => {
    const before = { ...emptyWorld(), geoip: [{ address: "10.0.0.1" }] };
    const after = { ...emptyWorld(), geoip: [{ address: "10.0.0.2" }] };
    const now = { ...before, product_tours: [{ project: 1, name: "made by hand" }] };
    expect(reloadedWorld({ base: before, built: after, now }).world).toMatchObject({
      geoip: [{ address: "10.0.0.2" }],
      product_tours: [{ project: 1, name: "made by hand" }],
    });
  });

  test("numbers are not given out again", () => {
    const now = { ...emptyWorld(), sequences: { dashboards: 9, tiles: 1 } };
    const after = { ...emptyWorld(), sequences: { dashboards: 2, tiles: 5, users: 1 } };
    expect(reloadedWorld({ base: emptyWorld(), built: after, now }).world.sequences).toEqual({
      dashboards: 9,
      tiles: 5,
      users: 1,
    });
  });

  test("every part of a world is there, and nothing that the arguments share is changed", () => {
    const world = aWorld();
    const text = JSON.stringify(world);
    const { world: merged } = reloadedWorld({ base: world, built: world, now: world });
    expect(merged).toEqual(world);
    expect(Object.keys(merged).sort()).toEqual(Object.keys(emptyWorld()).sort());
    expect(JSON.stringify(world)).toBe(text);
    expect(collections.length).toBeGreaterThan(10);
  });
});
