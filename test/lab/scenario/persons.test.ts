import { describe, expect, test } from "vitest";
import { scenarioPersonsOf, storePersons } from "../../../src/lab/scenario/scenario.ts";
import { personUuid } from "../../../src/state/persons/person.ts";
import { openPersonStore } from "../../../src/state/persons/person-store.ts";
import { fullExample } from "./full-example.ts";

const stored = (project?: number) => {
  const people = openPersonStore({ onNotice: () => {} });
  storePersons(people, scenarioPersonsOf(fullExample()), project);
  return people;
};

describe("the persons of a scenario", () => {
  test("are found by each of their ids", () => {
    const people = stored();
    const ann = people.personOf(1, "ann");
    expect(ann).toEqual({
      project: 1,
      uuid: personUuid(1, "ann"),
      created_at: Date.UTC(2025, 1, 1),
      is_identified: true,
      version: 0,
      properties: { plan: "pro" },
    });
    expect(people.personOf(1, "ann@home.test")).toEqual(ann);
    expect(ann && people.distinctIds(ann)).toEqual(["ann", "ann@home.test"]);
  });

  test("have the service's defaults, and the uuid that they are given", () => {
    expect(stored().personOf(1, "anonymous")).toEqual({
      project: 1,
      uuid: "0195a000-0000-7000-8000-0000000000c1",
      created_at: Date.UTC(2025, 0, 1),
      is_identified: false,
      version: 0,
      properties: {},
    });
  });

  test("belong to their project, and may be stored for one alone", () => {
    expect(stored().personOf(3, "ann")).toBeUndefined();
    expect(stored(1).counts()).toEqual({ persons: 2, ids: 3, personless: 0, groups: 3 });
    expect(stored(3).counts()).toEqual({ persons: 0, ids: 0, personless: 0, groups: 0 });
  });
});

describe("the groups of a scenario", () => {
  test("have the types' indexes: first those that are listed, then those that come with a group", () => {
    const people = stored();
    expect(people.groupTypes(1)).toEqual(["company", "office", "team"]);
    expect(people.group(1, 1, "berlin")).toEqual({
      project: 1,
      type: 1,
      key: "berlin",
      created_at: Date.UTC(2025, 0, 1),
      properties: { floors: 3 },
    });
    expect(people.group(1, 0, "acme")?.created_at).toBe(Date.UTC(2024, 0, 1));
    expect(people.group(1, 2, "red")?.properties).toEqual({});
  });
});

test("the same scenario has the same people, and they share nothing with the next ones", () => {
  const [one, two] = [scenarioPersonsOf(fullExample()), scenarioPersonsOf(fullExample())];
  expect(one).toEqual(two);
  expect(one.persons[0]?.person).not.toBe(two.persons[0]?.person);
});
