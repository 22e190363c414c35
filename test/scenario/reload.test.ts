import { describe, expect, test } from "vitest";
import { reloadedWorld } from "../../src/scenario/reload.ts";
import { collections, emptyWorld, type World } from "../../src/world/world.ts";
import { aDashboard, aWorld } from "../support/documents.ts";

const withDashboards = (...names: [id: number, name: string][]): World => ({
  ...aWorld(),
  dashboards: names.map(([id, name]) => aDashboard({ id, name })),
});
const namesOf = (world: World): unknown[] => world.dashboards.map(({ id, name }) => [id, name]);

describe("a world after an edit of its scenario", () => {
  test.each<[string, [number, string][], [number, string][], [number, string][], [number, string][]]>([
    ["what the scenario changed", [[1, "a"]], [[1, "b"]], [[1, "a"]], [[1, "b"]]],
    ["also where it was changed at run time", [[1, "a"]], [[1, "b"]], [[1, "mine"]], [[1, "b"]]],
    ["what was changed at run time stays, otherwise", [[1, "a"]], [[1, "a"]], [[1, "mine"]], [[1, "mine"]]],
    [
      "what was made at run time stays",
      [[1, "a"]],
      [[1, "b"]],
      [
        [1, "a"],
        [2, "new"],
      ],
      [
        [1, "b"],
        [2, "new"],
      ],
    ],
    [
      "what the scenario dropped goes",
      [
        [1, "a"],
        [2, "b"],
      ],
      [[1, "a"]],
      [
        [1, "a"],
        [2, "b"],
      ],
      [[1, "a"]],
    ],
    [
      "what it added comes",
      [[1, "a"]],
      [
        [1, "a"],
        [2, "b"],
      ],
      [[1, "a"]],
      [
        [1, "a"],
        [2, "b"],
      ],
    ],
    ["what was removed at run time stays away", [[1, "a"]], [[1, "a"]], [], []],
    ["until the scenario says something new of it", [[1, "a"]], [[1, "b"]], [], [[1, "b"]]],
  ])("%s", (_, before, after, now, expected) => {
    const merged = reloadedWorld(withDashboards(...before), withDashboards(...after), withDashboards(...now));
    expect(merged.taken).toEqual([]);
    expect(namesOf(merged.world)).toEqual(expected);
  });

  test("a number that was given out at run time is not taken away", () => {
    const { world, taken } = reloadedWorld(
      withDashboards([1, "a"]),
      withDashboards([1, "a"], [2, "theirs"]),
      withDashboards([1, "a"], [2, "mine"]),
    );
    expect(namesOf(world)).toEqual([
      [1, "a"],
      [2, "mine"],
    ]);
    expect(taken).toEqual([{ collection: "dashboards", id: 2 }]);
  });

  test("lists without ids follow the scenario where it changed them", () => {
    const before = { ...emptyWorld(), geoip: [{ address: "10.0.0.1" }] };
    const after = { ...emptyWorld(), geoip: [{ address: "10.0.0.2" }] };
    const now = { ...before, product_tours: [{ project: 1, name: "made by hand" }] };
    expect(reloadedWorld(before, after, now).world).toMatchObject({
      geoip: [{ address: "10.0.0.2" }],
      product_tours: [{ project: 1, name: "made by hand" }],
    });
  });

  test("numbers are not given out again", () => {
    const now = { ...emptyWorld(), sequences: { dashboards: 9, tiles: 1 } };
    const after = { ...emptyWorld(), sequences: { dashboards: 2, tiles: 5, users: 1 } };
    expect(reloadedWorld(emptyWorld(), after, now).world.sequences).toEqual({
      dashboards: 9,
      tiles: 5,
      users: 1,
    });
  });

  test("every part of a world is there, and nothing that the arguments share is changed", () => {
    const world = aWorld();
    const text = JSON.stringify(world);
    const { world: merged } = reloadedWorld(world, world, world);
    expect(merged).toEqual(world);
    expect(Object.keys(merged).sort()).toEqual(Object.keys(emptyWorld()).sort());
    expect(JSON.stringify(world)).toBe(text);
    expect(collections.length).toBeGreaterThan(10);
  });
});
