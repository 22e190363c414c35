import { beforeAll, describe, expect, test } from "vitest";
import { control } from "../../support/control.ts";
import { openSim } from "../../support/sim.ts";

const { sim, capture } = await openSim();
beforeAll(async () => {
  await capture([
    { event: "a", distinct_id: "u", properties: { plan: "pro", n: 1 } },
    { event: "b", distinct_id: "v", properties: { plan: "free", n: 20 } },
    { distinct_id: "nameless" },
    { event: "a", distinct_id: "v", properties: { "@at": 1 } },
  ]);
});

const rows: [body: unknown, names: string[]][] = [
  [{}, ["a", "b", "", "a"]],
  [{ match: "a" }, ["a", "a"]],
  [{ match: { event: { "@in": ["b", "c"] } } }, ["b"]],
  [{ match: { properties: { n: { "@gte": 10 } } } }, ["b"]],
  [{ match: { "@any": [{ event: "b" }, { distinct_id: "u" }] } }, ["a", "b"]],
  [{ match: { "@all": [{ event: "a" }, { distinct_id: "v" }] } }, ["a"]],
  [{ match: { properties: { "@@at": 1 } } }, ["a"]],
  [{ match: { event: { "@regex": "^[ab]$" } }, order: "desc" }, ["a", "b", "a"]],
  [{ outcome: "dropped" }, [""]],
  [{ outcome: "kept", since: 1 }, ["b", "a"]],
  [{ until: 2 }, ["a", "b"]],
  [{ project: 1, limit: 2 }, ["a", "b"]],
  [{ project: 2 }, []],
  [{ match: null, project: null, outcome: null }, ["a", "b", "", "a"]],
];
test.each(rows)("%j", async (body, names) => {
  const { status, answer } = await control(sim, "POST", "events/search", body);
  expect(status).toBe(200);
  expect(answer.events.map((it) => it.event)).toEqual(names);
});

test("a page of POST /__sim/events/search ends with the cursor of the next one", async () => {
  const first = (await control(sim, "POST", "events/search", { limit: 3 })).answer;
  expect([first.events.length, first.cursor, first.more]).toEqual([3, 3, true]);
  const second = (await control(sim, "POST", "events/search", { limit: 3, since: first.cursor })).answer;
  expect([second.events.length, second.cursor, second.more]).toEqual([1, 4, false]);
});

describe("bodies that are wrong", () => {
  const bad: [body: unknown, pointer: string | null][] = [
    [{ match: 1 }, "/match"],
    [{ match: [] }, "/match"],
    [{ match: { properties: { n: { "@gtx": 1 } } } }, "/match/properties/n/@gtx"],
    [{ match: { "@gte": 1, event: "a" } }, "/match"],
    [{ where: {} }, "/where"],
    [{ outcome: "lost" }, "/outcome"],
    [{ order: "up" }, "/order"],
    [{ limit: 0 }, "/limit"],
    [{ limit: 10_001 }, "/limit"],
    [{ since: -1 }, "/since"],
    [{ project: "one" }, "/project"],
    ["{", null],
  ];
  test.each(bad)("%j", async (body, pointer) => {
    const { status, answer } = await control(sim, "POST", "events/search", body);
    expect([status, answer.pointer]).toEqual([400, pointer]);
  });
});
