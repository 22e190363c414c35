import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { decideMerge } from "../../../src/service/capture/merge.ts";
import { isIllegalForMerge, isPlaceholder } from "../../../src/service/capture/person-ids.ts";
import type { Dialect } from "../../../src/state/documents/dialect.ts";
import type { Person } from "../../../src/state/persons/person.ts";
import { personUuid } from "../../../src/state/persons/person.ts";
import { type Edge, now, openEdge } from "./edge.ts";

interface Known {
  identified?: boolean;
  created?: number;
  version?: number;
  properties?: JsonObject;
}

const hour = 3_600_000;

function person(id: string, { identified = false, created = -hour, version = 3, properties = {} }: Known): Person {
  return {
    project: 1,
    uuid: personUuid(1, id),
    created_at: now + created,
    is_identified: identified,
    version,
    properties,
  };
}

const store = (edge: Edge, id: string, known: Known): Person => {
  const made = person(id, known);
  edge.people.create(made, [id]);
  return made;
};

const idsOf = (edge: Edge, id: string): string[] => {
  const owner = edge.people.personOf(1, id);
  return owner ? edge.people.distinctIds(owner).sort() : [];
};

describe("the decision table", () => {
  const a = person("a", {});
  const b = person("b", {});
  const known = person("a", { identified: true });
  test.each([
    ["neither exists", undefined, undefined, false, "create"],
    ["only other", a, undefined, false, "attach_into"],
    ["only into", undefined, b, false, "attach_other"],
    ["one person already", a, a, false, "keep"],
    ["two, other is not identified", a, b, false, "merge"],
    ["two, other is identified", known, b, false, "refuse"],
    ["two, other is identified, forced", known, b, true, "merge"],
    ["neither exists, forced", undefined, undefined, true, "create"],
  ])("%s", (_, other, into, forced, action) => {
    expect(decideMerge(other, into, forced).action).toBe(action);
  });
});

/** Events that merge: how each names the two ids, given `other` and `into`. */
const triggers: [string, Dialect, (other: string, into: string) => [string, string, JsonObject]][] = [
  ["$identify", "documented", (other, into) => ["$identify", into, { $anon_distinct_id: other }]],
  ["$identify", "production", (other, into) => ["$identify", into, { $anon_distinct_id: other }]],
  ["$merge_dangerously", "documented", (other, into) => ["$merge_dangerously", into, { alias: other }]],
  ["$merge_dangerously", "production", (other, into) => ["$merge_dangerously", into, { alias: other }]],
  ["$create_alias, alias goes into the id", "production", (other, into) => ["$create_alias", into, { alias: other }]],
  ["$create_alias, the id goes into alias", "documented", (other, into) => ["$create_alias", other, { alias: into }]],
];

describe.each(triggers)("%s (%s)", (name, dialect, write) => {
  const send = (edge: Edge, properties: JsonObject = {}) => {
    const [event, id, own] = write("other", "into");
    return edge.capture(event, id, { ...own, ...properties });
  };

  test("neither exists: one person, its uuid from the id that stays", async () => {
    const edge = openEdge(dialect);
    const { person_id, warnings } = await send(edge, { $set: { a: 1 }, $set_once: { a: 0, b: 2 } });
    expect([person_id, warnings]).toEqual([personUuid(1, "into"), []]);
    expect(idsOf(edge, "other")).toEqual(["into", "other"]);
    expect(edge.people.personOf(1, "into")).toMatchObject({
      is_identified: true,
      version: 0,
      properties: { a: 1, b: 2 },
      created_at: now,
    });
  });

  test("only other exists: it gets the second id", async () => {
    const edge = openEdge(dialect);
    const other = store(edge, "other", { properties: { plan: "free" } });
    const { person_id } = await send(edge, { $set: { name: "n" } });
    expect([person_id, idsOf(edge, "into")]).toEqual([other.uuid, ["into", "other"]]);
    expect(edge.people.personOf(1, "into")).toMatchObject({
      is_identified: true,
      version: 4,
      properties: { plan: "free", name: "n" },
    });
  });

  test("only into exists: it gets the second id", async () => {
    const edge = openEdge(dialect);
    const into = store(edge, "into", {});
    const { person_id } = await send(edge);
    expect([person_id, idsOf(edge, "other")]).toEqual([into.uuid, ["into", "other"]]);
    expect(edge.people.personOf(1, "other")).toMatchObject({ is_identified: true, version: 4 });
  });

  test("the same person already: it is identified now", async () => {
    const edge = openEdge(dialect);
    const one = store(edge, "into", {});
    edge.people.attach(one, "other");
    const { person_id } = await send(edge);
    expect([person_id, idsOf(edge, "into")]).toEqual([one.uuid, ["into", "other"]]);
    expect(edge.people.personOf(1, "into")).toMatchObject({ is_identified: true, version: 4 });
  });

  test("the same person, identified already: nothing is written, unless a property changes", async () => {
    const edge = openEdge(dialect);
    const one = store(edge, "into", { identified: true, properties: { a: 1 } });
    edge.people.attach(one, "other");
    const before = edge.writes();
    await send(edge, { $set: { a: 1 } });
    expect([edge.writes() - before, edge.people.personOf(1, "into")?.version]).toEqual([0, 3]);
    await send(edge, { $set: { a: 2 } });
    expect(edge.people.personOf(1, "into")).toMatchObject({ version: 4, properties: { a: 2 } });
  });

  test("two persons: other goes into into, whose properties win", async () => {
    const edge = openEdge(dialect);
    store(edge, "other", { created: -2 * hour, version: 7, properties: { a: "other", b: "other", c: "other" } });
    const into = store(edge, "into", { created: -hour, version: 3, properties: { b: "into", c: "into" } });
    const { person_id } = await send(edge, { $set: { c: "event" }, $set_once: { a: "event", d: "event" } });
    expect([person_id, idsOf(edge, "other")]).toEqual([into.uuid, ["into", "other"]]);
    expect(edge.people.personOf(1, "other")).toEqual({
      project: 1,
      uuid: into.uuid,
      created_at: now - 2 * hour,
      is_identified: true,
      version: 8,
      properties: { a: "other", b: "into", c: "event", d: "event" },
    });
  });

  test("two persons: the earlier time and the higher version count, whichever person has them", async () => {
    const edge = openEdge(dialect);
    store(edge, "other", { created: -hour, version: 3 });
    store(edge, "into", { created: -2 * hour, version: 7 });
    await send(edge);
    expect(edge.people.personOf(1, "other")).toMatchObject({ created_at: now - 2 * hour, version: 8 });
  });

  test("two persons, other is identified: refused, unless forced", async () => {
    const edge = openEdge(dialect);
    store(edge, "other", { identified: true });
    store(edge, "into", {});
    const [, subject] = write("other", "into");
    const stored = await send(edge, { $set: { seen: true } });
    const forced = name === "$merge_dangerously";
    expect(idsOf(edge, "other")).toEqual(forced ? ["into", "other"] : ["other"]);
    expect(stored.warnings).toEqual(forced ? [] : ["cannot_merge_already_identified"]);
    expect(stored.detail).toBe(forced ? null : "other into into");
    expect(stored.outcome).toBe("kept");
    // The event stays with its own id's person, which gets its $set; into is identified either way.
    const own = edge.people.personOf(1, subject);
    expect([stored.person_id, own?.properties]).toEqual([own?.uuid, { seen: true }]);
    expect(edge.people.personOf(1, "into")?.is_identified).toBe(true);
    // One write for each person that changed, so one version.
    const versions = ["other", "into"].map((id) => edge.people.personOf(1, id)?.version);
    expect(versions).toEqual(forced ? [4, 4] : subject === "other" ? [4, 4] : [3, 4]);
  });

  test("two persons, other is identified, and nothing to change: nothing is written, unless forced", async () => {
    const edge = openEdge(dialect);
    const [, subject] = write("other", "into");
    store(edge, "other", { identified: true, properties: { a: 1 } });
    store(edge, "into", { identified: true, properties: { a: 1 } });
    const before = edge.writes();
    const stored = await send(edge, { $set: { a: 1 } });
    expect(stored.person_id).toBe(personUuid(1, subject));
    const forced = name === "$merge_dangerously";
    const written = [edge.writes() - before, edge.people.personOf(1, subject)?.version];
    expect(written).toEqual(forced ? [1, 4] : [0, 3]);
  });

  test("an illegal id: no merge, a warning, the event is kept on its own id", async () => {
    for (const [other, into] of [
      ["anonymous", "into"],
      ["other", "guest"],
    ] as const) {
      const edge = openEdge(dialect);
      const [event, id, own] = write(other, into);
      const stored = await edge.capture(event, id, { ...own, $set: { a: 1 } });
      expect([stored.outcome, stored.warnings]).toEqual(["kept", ["cannot_merge_with_illegal_distinct_id"]]);
      expect(stored.detail).toBe(`${other} into ${into}`);
      expect(idsOf(edge, id)).toEqual([id]);
      expect(edge.people.personOf(1, id)).toMatchObject({ is_identified: false, properties: { a: 1 } });
    }
  });

  test("an id with itself: nothing to merge, no one identified", async () => {
    const edge = openEdge(dialect);
    const [event, id, own] = write("same", "same");
    const stored = await edge.capture(event, id, own);
    expect([stored.outcome, stored.warnings]).toEqual(["kept", []]);
    expect(edge.people.personOf(1, "same")?.is_identified).toBe(false);
  });
});

describe("what is no merge", () => {
  test.each([
    ["$identify without $anon_distinct_id", "$identify", {}],
    ["$identify with null", "$identify", { $anon_distinct_id: null }],
    ["$create_alias without alias", "$create_alias", {}],
    ["$create_alias with null", "$create_alias", { alias: null }],
    ["$create_alias with an empty alias", "$create_alias", { alias: "" }],
    ["$merge_dangerously without alias", "$merge_dangerously", {}],
    ["another event with alias", "signed_up", { alias: "other", $anon_distinct_id: "other" }],
  ])("%s", async (_, event, properties) => {
    const edge = openEdge();
    const stored = await edge.capture(event, "u", properties);
    expect([stored.outcome, stored.warnings, idsOf(edge, "u")]).toEqual(["kept", [], ["u"]]);
    expect(edge.people.personOf(1, "u")?.is_identified).toBe(false);
  });

  test.each([
    ["$identify", { $anon_distinct_id: 5 }, "invalid_anon_distinct_id"],
    ["$identify", { $anon_distinct_id: {} }, "invalid_anon_distinct_id"],
    ["$identify", { $anon_distinct_id: false }, "invalid_anon_distinct_id"],
    ["$create_alias", { alias: 0 }, "invalid_alias"],
    ["$create_alias", { alias: ["other"] }, "invalid_alias"],
    ["$merge_dangerously", { alias: { id: "other" } }, "invalid_alias"],
  ])("%s with %j is dropped", async (event, properties, reason) => {
    const edge = openEdge();
    const stored = await edge.capture(event, "u", properties);
    expect([stored.outcome, stored.reason]).toEqual(["dropped", reason]);
    expect(edge.people.personOf(1, "u")).toBeUndefined();
  });

  test("an empty $anon_distinct_id is an illegal id", async () => {
    const { warnings } = await openEdge().capture("$identify", "u", { $anon_distinct_id: "" });
    expect(warnings).toEqual(["cannot_merge_with_illegal_distinct_id"]);
  });
});

describe("illegal ids", () => {
  const anyCase = "anonymous guest distinctid distinct_id id not_authenticated email undefined true false".split(" ");
  test.each([
    ...anyCase.flatMap((id) => [id, id.toUpperCase(), `'${id}'`]),
    ...["[object Object]", "NaN", "None", "none", "null", "0"],
    ...["", " ", "'anonymous'", '"null"', "' '", "''", '""'],
  ])("%j is illegal", (id) => {
    expect(isIllegalForMerge(id)).toBe(true);
  });

  test.each([
    ...anyCase.map((id) => `${id}2`),
    ..."nan NONE NULL NIL 00 user backend system anonymous-user".split(" "),
    ...[
      "[Object Object]",
      "'anonymous",
      "'anonymousx",
      "anonymous'",
      "a'b'",
      "'",
      "xanonymousx",
      "`guest`",
      "''guest''",
    ],
  ])("%j is legal", (id) => {
    expect(isIllegalForMerge(id)).toBe(false);
  });

  const personless = [
    ..."0 anonymous anonymous-user backend distinct_id distinctid email false guest id nan none".split(" "),
    ..."not_authenticated null system true undefined user".split(" "),
    "00000000-0000-0000-0000-000000000000",
    "[object object]",
  ];
  test.each([
    ...personless.flatMap((id) => [
      [id, true],
      [id.toUpperCase(), true],
      [`${id}2`, false],
    ]),
    ["u1", false],
    ["'anonymous'", false],
  ] as [string, boolean][])("capture v1 makes no person for %j: %s", (id, expected) => {
    expect(isPlaceholder(id)).toBe(expected);
  });
});
