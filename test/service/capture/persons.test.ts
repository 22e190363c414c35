import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/kernel/base/json.ts";
import { copiedProperties as copied } from "../../../src/state/journal/copied-properties.ts";
import { personUuid } from "../../../src/state/persons/person.ts";
import { type Edge, key, now, openEdge } from "./edge.ts";

/** Without the property that each person has of the event that created it. */
function propertiesOf(edge: Edge, id = "u"): JsonObject | undefined {
  const person = edge.people.personOf(1, id);
  const { $creator_event_uuid: _, ...properties } = person?.properties ?? {};
  return person && properties;
}

const hour = 3_600_000;
const at = (shift: number) => new Date(now + shift).toISOString();

describe("persons come into being", () => {
  test("with a uuid made from project and id", async () => {
    const edge = openEdge();
    const stored = await edge.capture("e", "u", {}, { timestamp: at(-hour) });
    expect(stored).toMatchObject({ person_id: personUuid(1, "u"), person_mode: "full" });
    expect(edge.people.personOf(1, "u")).toEqual({
      project: 1,
      uuid: personUuid(1, "u"),
      created_at: now - hour,
      is_identified: false,
      version: 0,
      properties: { $creator_event_uuid: stored.uuid },
    });
  });

  test("the uuid is the service's", () => {
    // Reference value: RFC 9562 v5 of "1:distinct-id" in the service's namespace, computed with Python's uuid.
    expect(personUuid(1, "distinct-id")).toBe("c36e4f94-0a46-5573-86c2-38fdd475fdda");
  });

  test("with the event that created them, whatever they set", async () => {
    const edge = openEdge();
    const stored = await edge.capture("e", "u", { $set: { $creator_event_uuid: "mine" } });
    await edge.capture("e", "u", { $set: { a: 1 } });
    expect(edge.people.personOf(1, "u")?.properties).toEqual({ $creator_event_uuid: stored.uuid, a: 1 });
  });

  test("a first value replaces a stored null", async () => {
    const edge = openEdge();
    await edge.capture("e", "u", { $set: { first: null, other: null } });
    await edge.capture("e", "u", { $set_once: { first: "a", other: null } });
    expect(propertiesOf(edge)).toEqual({ first: "a", other: null });
  });

  test.each([
    ["the one that was personless", ["anon"], "anon"],
    ["the identified one, if both were", ["anon", "u"], "u"],
    ["the identified one, if none was", [], "u"],
  ])("a person of two new ids has the uuid of one: %s", async (_, before, expected) => {
    const edge = openEdge();
    for (const id of before) await edge.capture("e", id, { $process_person_profile: false });
    const stored = await edge.capture("$identify", "u", { $anon_distinct_id: "anon" });
    expect(stored.person_id).toBe(personUuid(1, expected));
    expect(edge.people.personOf(1, "anon")?.uuid).toBe(personUuid(1, expected));
  });

  test("one for each project", async () => {
    const edge = openEdge();
    await edge.capture("e", "u");
    expect(edge.people.personOf(2, "u")).toBeUndefined();
  });
});

describe("property updates", () => {
  const start = { a: "old", b: "old", "": "empty" };
  const rows: [string, string, object, object, object][] = [
    ["$set overwrites", "e", { $set: { a: 1, c: 2 } }, {}, { ...start, a: 1, c: 2 }],
    ["$set_once only adds", "e", { $set_once: { a: 1, c: 2 } }, {}, { ...start, c: 2 }],
    ["$set wins over $set_once", "e", { $set: { c: 1 }, $set_once: { c: 2 } }, {}, { ...start, c: 1 }],
    ["$unset with a list", "e", { $unset: ["a", "x", 5] }, {}, { b: "old", "": "empty" }],
    ["$unset with an object", "e", { $unset: { a: 0, b: 0 } }, {}, { "": "empty" }],
    ["$unset comes last", "e", { $set: { c: 1 }, $unset: ["c"] }, {}, start],
    ["top-level $set wins", "e", { $set: { a: 1, c: 1 } }, { $set: { c: 2 } }, { ...start, a: 1, c: 2 }],
    ["top-level $set_once wins", "e", { $set_once: { c: 1 } }, { $set_once: { c: 2 } }, { ...start, c: 2 }],
    ["top-level only", "e", {}, { $set: { c: 1 }, $set_once: { d: 2 } }, { ...start, c: 1, d: 2 }],
    ["the event $set", "$set", { $set: { a: 1 } }, {}, { ...start, a: 1 }],
    ["a $set that is no object", "e", { $set: "text", $set_once: [1] }, {}, start],
    ["a null is absent for $set_once", "e", { $set: { c: null }, $set_once: { a: 1 } }, {}, { ...start, c: null }],
    [
      "NUL cannot be stored",
      "e",
      { $set: { a: "x\0y", d: { "k\0": ["\0"] } } },
      {},
      { ...start, a: "x\ufffdy", d: { "k\ufffd": ["\ufffd"] } },
    ],
    ["null is a value", "e", { $set: { a: null } }, {}, { ...start, a: null }],
    ["an object is replaced whole", "e", { $set: { a: { x: 1 } } }, {}, { ...start, a: { x: 1 } }],
    ["$exception changes nothing", "$exception", { $set: { a: 1 } }, {}, start],
    ["$$heatmap changes nothing", "$$heatmap", { $set: { a: 1 }, $browser: "B" }, {}, start],
    ["plain properties are not the person's", "e", { plan: "pro" }, {}, start],
  ];
  test.each(rows)("%s", async (_, event, properties, more, expected) => {
    const edge = openEdge();
    await edge.capture("first", "u", { $set: start });
    await edge.capture(event, "u", properties, more);
    expect(propertiesOf(edge)).toEqual(expected);
  });

  test("names like built-ins are ordinary names", async () => {
    const edge = openEdge();
    const set = '{"__proto__":{"polluted":true},"constructor":"c","hasOwnProperty":1}';
    const body = `{"api_key":"${key}","event":"e","distinct_id":"__proto__","properties":{"$set":${set}}}`;
    await edge.send({ body });
    await edge.send({ body });
    const properties = propertiesOf(edge, "__proto__");
    expect(JSON.stringify(properties)).toBe(set);
    expect(Object.hasOwn({}, "polluted") || "polluted" in {}).toBe(false);
    await edge.capture("e", "__proto__", { $unset: ["__proto__", "constructor"] });
    expect(propertiesOf(edge, "__proto__")).toEqual({ hasOwnProperty: 1 });
  });

  test("each change is a version; what changes nothing is not written", async () => {
    const edge = openEdge();
    await edge.capture("e", "u", { $set: { a: 1, list: [1, { x: 2 }] } });
    await edge.capture("e", "u", { $set: { a: 2 } });
    expect(edge.people.personOf(1, "u")?.version).toBe(1);
    const before = edge.writes();
    await edge.capture("e", "u", { $set: { a: 2, list: [1, { x: 2 }] }, $set_once: { a: 5 }, $unset: ["zzz"] });
    await edge.capture("e", "u", { plan: "pro" });
    expect([edge.writes() - before, edge.people.personOf(1, "u")?.version]).toEqual([0, 1]);
  });
});

describe("copied properties", () => {
  test("the table has all names of the service", () => {
    expect(copied.size).toBe(43);
    expect([copied.get("$browser"), copied.get("utm_source"), copied.get("_kx")]).toEqual([
      "$initial_browser",
      "$initial_utm_source",
      "$initial__kx",
    ]);
  });

  test("the latest value, and the first under $initial_…", async () => {
    const edge = openEdge();
    await edge.capture("$pageview", "u", { $current_url: "/a", utm_source: "mail", plan: "pro" });
    await edge.capture("$pageview", "u", { $current_url: "/b", $set: { plan: "pro" } });
    expect(propertiesOf(edge)).toEqual({
      $current_url: "/b",
      plan: "pro",
      $initial_current_url: "/a",
      utm_source: "mail",
      $initial_utm_source: "mail",
    });
  });

  const often: [what: string, event: string, properties: JsonObject, isUpdated: boolean][] = [
    ["$browser", "custom", { $set: { $browser: "B" } }, false],
    ["$current_url", "$pageview", { $current_url: "/b" }, false],
    ["a campaign", "custom", { utm_source: "ads" }, false],
    ["parts of a place", "custom", { $set: { $geoip_latitude: 1, $geoip_subdivision_1_name: "x" } }, false],
    ["a country", "custom", { $set: { $geoip_country_name: "x" } }, true],
    ["a new name", "custom", { $set: { $os_name: "x" } }, true],
    ["another property beside it", "custom", { $set: { $browser: "B", plan: "pro" } }, true],
    ["a removal beside it", "custom", { $set: { $browser: "B" }, $unset: ["old"] }, true],
    ["$identify", "$identify", { $set: { $browser: "B" } }, true],
    ["the event $set", "$set", { $set: { $browser: "B" } }, true],
  ];
  // upstream person-update.test.ts
  test.each(often)("a person is not updated for what changes often alone: %s", async (...row) => {
    const [, event, properties, isUpdated] = row;
    const edge = openEdge();
    const first = {
      $browser: "A",
      $current_url: "/a",
      utm_source: "mail",
      $geoip_latitude: 0,
      $geoip_subdivision_1_name: "y",
      $geoip_country_name: "y",
      old: 1,
    };
    await edge.capture("e", "u", { ...first, $set: first });
    const before = [propertiesOf(edge), edge.people.personOf(1, "u")?.version];
    const stored = await edge.capture(event, "u", properties);
    const after = [propertiesOf(edge), edge.people.personOf(1, "u")?.version];
    if (isUpdated) expect(after[0]).not.toEqual(before[0]);
    else expect(after).toEqual(before);
    // the event has it in any case
    expect(Object.keys(stored.properties.$set as object).length).toBeGreaterThan(0);
  });

  test("an explicit $set wins", async () => {
    const edge = openEdge();
    const stored = await edge.capture("e", "u", { $browser: "Chrome", $set: { $browser: "mine" } });
    expect(propertiesOf(edge)).toEqual({ $browser: "mine", $initial_browser: "Chrome" });
    expect(stored.properties).toMatchObject({
      $browser: "Chrome",
      $set: { $browser: "mine" },
      $set_once: { $initial_browser: "Chrome" },
    });
  });

  test("a server's system is not the person's", async () => {
    const edge = openEdge();
    await edge.capture("e", "u", { $is_server: true, $os: "Linux", $os_version: "6", $app_name: "shop" });
    expect(propertiesOf(edge)).toEqual({ $app_name: "shop", $initial_app_name: "shop" });
  });
});

describe("$process_person_profile", () => {
  test("true is the usual case and not kept", async () => {
    const edge = openEdge();
    const stored = await edge.capture("e", "u", { $process_person_profile: true, $set: { a: 1 } });
    expect([stored.person_mode, stored.warnings, propertiesOf(edge)]).toEqual(["full", [], { a: 1 }]);
    expect(stored.properties).not.toHaveProperty("$process_person_profile");
  });

  test.each([
    ["text", "false"],
    ["a number", 0],
    ["null", null],
  ])("%s is read as true, with a warning", async (_, value) => {
    const edge = openEdge();
    const stored = await edge.capture("e", "u", { $process_person_profile: value, $set: { a: 1 } });
    expect([stored.person_mode, stored.warnings]).toEqual(["full", ["invalid_process_person_profile"]]);
    expect(propertiesOf(edge)).toEqual({ a: 1 });
  });

  test.each(["$identify", "$create_alias", "$merge_dangerously", "$groupidentify"])(
    "false on %s: dropped",
    async (event) => {
      const edge = openEdge();
      const properties = {
        $process_person_profile: false,
        alias: "a",
        $anon_distinct_id: "a",
        $group_type: "t",
        $group_key: "k",
      };
      const stored = await edge.capture(event, "u", properties);
      expect(stored.reason).toBe("invalid_event_when_process_person_profile_is_false");
      expect([propertiesOf(edge), edge.people.groupTypes(1)]).toEqual([undefined, []]);
    },
  );

  const personless = {
    $process_person_profile: false,
    $set: { a: 1 },
    $set_once: { b: 1 },
    $unset: ["c"],
    $browser: "B",
  };

  test("false: no person, a made-up uuid, nothing kept for a person", async () => {
    const edge = openEdge();
    const stored = await edge.capture("e", "u", personless, { $set: { d: 1 } });
    expect([stored.outcome, stored.person_mode, stored.person_id]).toEqual([
      "kept",
      "propertyless",
      personUuid(1, "u"),
    ]);
    expect(stored.properties).toEqual({ $process_person_profile: false, $browser: "B", $ip: "127.0.0.1" });
    expect([propertiesOf(edge), edge.people.isPersonless(1, "u")]).toEqual([undefined, true]);
  });

  test("false: what would be copied to a person is not, either", async () => {
    const properties = { $process_person_profile: false, $browser: "B" };
    const stored = await openEdge().capture("e", "u", properties);
    expect(stored.properties).toEqual({ ...properties, $ip: "127.0.0.1" });
  });

  test.each<[string, JsonObject, string[] | undefined]>([
    ["nothing", {}, undefined],
    ["one", { $set: { a: 1 } }, ["$set"]],
    ["all", { $set: { a: 1 }, $set_once: { b: 1 }, $unset: ["c"] }, ["$set", "$set_once", "$unset"]],
  ])("false: the line notes what is left out for the person: %s", async (_, fields, strips) => {
    const edge = openEdge();
    await edge.capture("e", "u", { $process_person_profile: false, ...fields });
    expect(edge.lines[0]?.events?.[0]?.strips).toEqual(strips);
  });

  test("false, with a person of another id: the event names that person, and nothing is remembered", async () => {
    const edge = openEdge();
    await edge.capture("$identify", "u", { $anon_distinct_id: "v" });
    const stored = await edge.capture("e", "v", personless);
    expect([stored.person_id, stored.person_mode]).toEqual([personUuid(1, "u"), "propertyless"]);
    expect(edge.people.isPersonless(1, "v")).toBe(false);
  });

  test("false, twice: the id is remembered once", async () => {
    const edge = openEdge();
    let remembered = 0;
    const { rememberPersonless } = edge.people;
    edge.people.rememberPersonless = (...it) => {
      remembered++;
      rememberPersonless(...it);
    };
    for (const event of ["e", "f"]) await edge.capture(event, "u", personless);
    expect(remembered).toBe(1);
  });

  test.each([
    ["soon after the person was made", 60_000, "propertyless"],
    ["later than a minute", 60_001, "full"],
  ])("false, with a person, %s", async (_, later, mode) => {
    const edge = openEdge();
    await edge.capture("e", "u", { $set: { a: "old" } }, { timestamp: at(-hour) });
    const stored = await edge.capture("e", "u", personless, { timestamp: at(-hour + later) });
    expect([stored.person_mode, stored.person_id]).toEqual([mode, personUuid(1, "u")]);
    expect([propertiesOf(edge), edge.people.isPersonless(1, "u")]).toEqual([{ a: "old" }, false]);
    expect(stored.properties).not.toHaveProperty("$set");
  });

  test("a personless id keeps its uuid when its person is made", async () => {
    const edge = openEdge();
    const before = await edge.capture("e", "u", personless);
    const after = await edge.capture("e", "u");
    expect([after.person_mode, after.person_id]).toEqual(["full", before.person_id]);
  });
});

describe("groups", () => {
  test("$groupidentify makes a group and lays $group_set over it", async () => {
    const edge = openEdge();
    const identify = (set: object) =>
      edge.capture("$groupidentify", "$company_acme", { $group_type: "company", $group_key: "acme", $group_set: set });
    const stored = await identify({ name: "Acme", tier: "gold" });
    await identify({ tier: "silver" });
    expect(stored.warnings).toEqual([]);
    expect(edge.people.groupTypes(1)).toEqual(["company"]);
    expect(edge.people.group(1, 0, "acme")).toEqual({
      project: 1,
      type: 0,
      key: "acme",
      created_at: now,
      properties: { name: "Acme", tier: "silver" },
    });
  });

  test("$groupidentify changes no person", async () => {
    const edge = openEdge();
    const properties = {
      $group_type: "company",
      $group_key: "acme",
      $set: { a: 1 },
      $set_once: { b: 1 },
      $browser: "B",
    };
    const stored = await edge.capture("$groupidentify", "u", properties);
    expect(propertiesOf(edge)).toEqual({});
    expect(Object.keys(stored.properties).sort()).toEqual(["$browser", "$group_key", "$group_type", "$ip"]);
  });

  test.each([
    ["no type", { $group_key: "acme" }],
    ["no key", { $group_type: "company" }],
    ["an empty key", { $group_type: "company", $group_key: "" }],
    ["a type that is no text", { $group_type: 5, $group_key: "acme" }],
  ])("$groupidentify with %s changes no group", async (_, properties) => {
    const edge = openEdge();
    const stored = await edge.capture("$groupidentify", "u", properties);
    expect([stored.outcome, stored.warnings]).toEqual(["kept", ["missing_group_identity"]]);
    expect(edge.people.groupTypes(1)).toEqual([]);
  });

  test.each([
    [400, "kept", null],
    [401, "dropped", "group_key_too_long"],
  ])("$groupidentify with a key of %i characters is %s", async (length, outcome, reason) => {
    const properties = { $group_type: "company", $group_key: "🦔".repeat(length) };
    const stored = await openEdge().capture("$groupidentify", "u", properties);
    expect([stored.outcome, stored.reason]).toEqual([outcome, reason]);
  });

  test("$groups names the groups of an event and makes none", async () => {
    const edge = openEdge();
    const stored = await edge.capture("e", "u", { $groups: { company: "acme", team: 23, none: null, empty: "" } });
    expect(stored.properties).toMatchObject({ $group_0: "acme", $group_1: "23" });
    expect(edge.people.groupTypes(1)).toEqual(["company", "team"]);
    expect(edge.people.group(1, 0, "acme")).toBeUndefined();
  });

  test("types count in order of first sight; a sixth is left out", async () => {
    const edge = openEdge();
    const stored = await edge.capture("e", "u", { $groups: { a: "1", b: "2", c: "3", d: "4", e: "5", f: "6" } });
    expect(stored.warnings).toEqual(["group_type_limit_reached"]);
    expect(Object.keys(stored.properties).filter((name) => name.startsWith("$group_"))).toEqual([
      "$group_0",
      "$group_1",
      "$group_2",
      "$group_3",
      "$group_4",
    ]);
    const sixth = await edge.capture("$groupidentify", "u", { $group_type: "f", $group_key: "6" });
    const third = await edge.capture("e", "u", { $groups: { c: "3" } });
    expect([sixth.warnings, third.properties.$group_2]).toEqual([["group_type_limit_reached"], "3"]);
  });

  test.each<[string, Json, string[]]>([
    ["a list", [], ["malformed_groups"]],
    ["text", "acme", ["malformed_groups"]],
    ["null", null, []],
  ])("$groups that is %s is ignored", async (_, $groups, warnings) => {
    const edge = openEdge();
    const stored = await edge.capture("e", "u", { $groups });
    expect([stored.outcome, stored.warnings, edge.people.groupTypes(1)]).toEqual(["kept", warnings, []]);
  });
});
